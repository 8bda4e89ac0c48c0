//! What runs learn from each other: which acquires could come in between two others, and which of these pairs the next runs
//! look for.
//!
//! Beside these pairs there are orders: if one thread acquires a lock only ever after another has, a run is made to turn that round, for
//! a notification may get lost that way, or a lock be kept by somebody who waits.
//!
//! Runs go in rounds. What a round learned counts from the next one on, so that what a run looks for depends on the runs of
//! earlier rounds only, however many go on at the same time.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{
    finding::{Finding, Kind, Site, Status},
    goal::{AcquireGoal, Goal},
    record::Run,
};

use super::run::Outcome;

/// How many runs there are in a round. The first ones are shorter, for there is most to learn from them.
pub(crate) const ROUND: u64 = 16;
const FIRST_ROUNDS: [u64; 6] = [4, 4, 4, 4, 8, 8];
/// After so many runs that looked for an acquire in vain, others come first.
const PATIENCE: u64 = 8;
/// How often an order of two acquires is looked for that nothing came of.
const ORDER_PATIENCE: u64 = 2;
/// How many ways to a thread that waits are kept, each of which is tried.
const WAYS: usize = 3;
/// So many rounds have a turn at something else each.
pub(crate) const TURNS: u64 = 8;
/// Beginnings of schedules that are longer than this, as text, are not kept.
const LONGEST_BEGINNING: usize = 4_000;

/// How many runs are in the round that begins after so many.
pub(crate) fn round(after: u64) -> u64 {
    let mut begins = 0;
    for runs in FIRST_ROUNDS {
        if after <= begins {
            return runs;
        }
        begins += runs;
    }
    ROUND
}

/// What is known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcquireGoals {
    /// How many runs there were.
    runs: u64,
    /// The pairs, with what became of the runs that looked for them.
    pairs: BTreeMap<AcquireGoal, Attempts>,
    /// Orders of acquires that were never seen, and acquires before threads that were woken, in the same way.
    orders: BTreeMap<AcquireGoal, Attempts>,
    /// Orders that were seen.
    seen: BTreeSet<AcquireGoal>,
    /// The acquires inside of blocks that others did come in before, with a beginning of a run that leads there.
    confirmed: BTreeMap<String, Option<String>>,
    /// Beginnings of runs that lead to a thread that waits, by the place where it does.
    waits: BTreeMap<String, Vec<String>>,
    /// What became of runs that began so.
    begun: BTreeMap<AcquireGoal, Attempts>,
}

/// What became of the runs that looked for something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Attempts {
    tried: u64,
    /// Those that made it happen, or in which something went wrong that otherwise does not.
    hits: u64,
}

impl Attempts {
    fn add(&mut self, is_hit: bool) {
        self.tried += 1;
        self.hits += u64::from(is_hit);
    }

    /// The share of hits, in a thousand.
    fn share(self) -> u64 {
        self.hits * 1_000 / self.tried.max(1)
    }

    /// Whether looking for it nearly always made it happen, so that this was not by chance.
    fn is_reliable(self) -> bool {
        self.hits > 0 && 4 * self.hits >= 3 * self.tried
    }
}

impl AcquireGoals {
    /// Takes note of what a run saw to be possible, and of what it made happen. In a bad run something went wrong that does not
    /// without interference.
    pub(crate) fn learn(&mut self, outcome: &Outcome, is_bad: bool) {
        self.runs += 1;
        for run in outcome.accounts() {
            for pair in &run.pairs {
                self.pairs.entry(pair.clone()).or_default();
            }
            for order in &run.orders {
                if order.is_order {
                    self.seen.insert(order.clone());
                    let (again, between) = (order.remote.clone(), order.local.clone());
                    self.orders
                        .entry(AcquireGoal { is_order: true, ..AcquireGoal::new(again, between) })
                        .or_default();
                } else {
                    self.orders.entry(order.clone()).or_default();
                }
            }
        }
        let is_replayable = outcome.is_told() && outcome.uncontrolled().next().is_none();
        for run in outcome.accounts().filter(|_| is_replayable) {
            for place in run.orders.iter().filter(|order| !order.is_order).map(|order| &order.local) {
                let ways = self.waits.entry(place.clone()).or_default();
                let way = beginning(run, place).filter(|way| ways.len() < WAYS && !ways.contains(way));
                ways.extend(way);
            }
        }
        let mut confirmed = BTreeSet::new();
        for jvm in &outcome.jvms {
            for finding in &jvm.findings {
                if finding.kind == Kind::AtomicityViolation && finding.status > Status::Warning {
                    confirmed.extend(reacquired(finding).map(place));
                }
            }
            for again in &confirmed {
                let beginning =
                    jvm.run.as_ref().filter(|_| is_replayable).and_then(|run| beginning(run, again));
                let known = self.confirmed.entry(again.clone()).or_default();
                if known.is_none() {
                    *known = beginning;
                }
            }
        }
        if let Some(Goal::Acquires(target)) = &outcome.target {
            let is_hit = is_bad && confirmed.is_empty() || confirmed.contains(&target.local);
            if target.prefix.is_some() {
                self.begun.entry(target.clone()).or_default().add(is_hit);
            }
            let target = AcquireGoal { prefix: None, ..target.clone() };
            let known = if self.pairs.contains_key(&target) { &mut self.pairs } else { &mut self.orders };
            known.entry(target).or_default().add(is_hit);
        }
    }

    /// What the next runs look for: every acquire inside of a block in turn, each time with the one that came in between most
    /// surely, or was looked for least. Those that were looked for in vain come last. Orders that no run had are looked for by
    /// every fourth run, as long as nothing was made to happen, and by one of [`TURNS`] rounds after that.
    pub(crate) fn choose(&self, runs: u64) -> Vec<Option<AcquireGoal>> {
        let mut plan = Plan::new(self);
        let is_proved = self.has_proof();
        let has_turn = self.turn() == 0;
        let choose = |run: u64| {
            let is_for_orders = if is_proved { has_turn && run == ROUND / 2 } else { run % 4 == 3 };
            let order = || plan.open_order();
            let chosen = match is_for_orders {
                true => order().or_else(|| plan.next_pair()),
                false => plan.next_pair().or_else(order),
            };
            // Where nothing is left, some runs go by chance alone.
            let chosen = chosen.or_else(|| match run % 4 {
                0 if !is_proved => plan.any_pair(),
                _ => plan.any_order().or_else(|| plan.any_pair()),
            });
            let chosen = chosen.map(|pair| AcquireGoal {
                prefix: self.beginning_for(pair, plan.tried(pair)),
                ..pair.clone()
            });
            if let Some(pair) = &chosen {
                plan.note(pair);
            }
            chosen
        };
        (0..runs).map(choose).collect()
    }

    /// Whether something was made to happen, or looking for something broke something.
    pub(crate) fn has_proof(&self) -> bool {
        !self.confirmed.is_empty()
            || self.pairs.values().chain(self.orders.values()).any(|attempts| attempts.hits > 0)
    }

    /// Whether there is anything to look for that was not looked for enough.
    pub(crate) fn has_aim(&self) -> bool {
        let plan = Plan::new(self);
        plan.next_pair().is_some() || plan.open_order().is_some()
    }

    /// Which of [`TURNS`] rounds it is: once something was made to happen, what else there is to look for takes turns.
    pub(crate) fn turn(&self) -> u64 {
        self.runs / ROUND % TURNS
    }

    /// Where looking for a pair failed though it was made to happen before, the run begins as that one did. To meet a thread that
    /// waits, it begins like one of those that had one.
    fn beginning_for(&self, pair: &AcquireGoal, tried: u64) -> Option<String> {
        if let Some(attempts) = self.pairs.get(pair) {
            let has_missed = attempts.hits < attempts.tried;
            return self.confirmed.get(&pair.local).cloned().flatten().filter(|_| has_missed);
        }
        let ways = self.waits.get(&pair.local).filter(|ways| !pair.is_order && !ways.is_empty())?;
        let best = self.best_way(pair).map(|(way, _)| way);
        best.or_else(|| ways.get(tried as usize % ways.len())).cloned()
    }

    /// The way to a thread that waits on which most was broken, if anything was.
    fn best_way(&self, pair: &AcquireGoal) -> Option<(&String, Attempts)> {
        let ways = self.waits.get(&pair.local).filter(|_| !pair.is_order)?;
        let tried = ways.iter().filter_map(|way| {
            let begun = AcquireGoal { prefix: Some(way.clone()), ..pair.clone() };
            Some((way, *self.begun.get(&begun)?))
        });
        tried.filter(|(_, attempts)| attempts.hits > 0).max_by_key(|(_, attempts)| attempts.share())
    }

    /// Whether looking for an order nearly always breaks something.
    fn is_reliable(&self, order: &AcquireGoal, attempts: Attempts) -> bool {
        attempts.is_reliable() || self.best_way(order).is_some_and(|(_, attempts)| attempts.is_reliable())
    }

    /// Whether looking for something made it happen, or broke something.
    fn is_proved(&self, pair: &AcquireGoal) -> bool {
        let known = self.pairs.get(pair).or_else(|| self.orders.get(pair));
        known.is_some_and(|attempts| attempts.hits > 0)
            || self.pairs.contains_key(pair) && self.confirmed.contains_key(&pair.local)
    }
}

/// What the runs of one round look for.
struct Plan<'a> {
    targets: &'a AcquireGoals,
    /// How often each was looked for, the runs of this round included.
    tried: BTreeMap<AcquireGoal, u64>,
    /// The same for all pairs with one acquire inside of a block.
    tried_again: BTreeMap<String, u64>,
}

impl<'a> Plan<'a> {
    fn new(targets: &'a AcquireGoals) -> Self {
        let all = targets.pairs.iter().chain(&targets.orders);
        let tried = all.map(|(pair, attempts)| (pair.clone(), attempts.tried)).collect();
        let mut tried_again: BTreeMap<String, u64> = BTreeMap::new();
        for (pair, attempts) in targets.pairs.iter().chain(&targets.orders) {
            *tried_again.entry(pair.local.clone()).or_default() += attempts.tried;
        }
        Self { targets, tried, tried_again }
    }

    fn note(&mut self, pair: &AcquireGoal) {
        *self.tried.entry(AcquireGoal { prefix: None, ..pair.clone() }).or_default() += 1;
        *self.tried_again.entry(pair.local.clone()).or_default() += 1;
    }

    fn tried(&self, pair: &AcquireGoal) -> u64 {
        self.tried.get(pair).copied().unwrap_or_default()
    }

    fn tried_again(&self, pair: &AcquireGoal) -> u64 {
        self.tried_again.get(&pair.local).copied().unwrap_or_default()
    }

    /// The pair whose turn it is, among those that are not looked for in vain, and orders that broke something.
    fn next_pair(&self) -> Option<&'a AcquireGoal> {
        let is_open = |pair: &&AcquireGoal| self.tried_again(pair) < PATIENCE || self.targets.is_proved(pair);
        let bad_orders = self
            .targets
            .orders
            .iter()
            .filter(|(order, attempts)| self.targets.is_reliable(order, **attempts));
        let bad_orders = bad_orders.map(|(order, _)| order);
        let pairs = self.targets.pairs.keys().filter(is_open).chain(bad_orders);
        let rank = |pair: &&AcquireGoal| {
            let known = self.targets.pairs.get(*pair).or_else(|| self.targets.orders.get(*pair));
            let missed = known.map_or(0, |attempts| attempts.tried - attempts.hits);
            (self.tried_again(pair), missed, self.tried(pair))
        };
        // Of equals the first in their own order is taken.
        pairs.min_by_key(rank)
    }

    /// An order that no run had, or a thread to interfere with that was woken, as long as it was not tried enough.
    fn open_order(&self) -> Option<&'a AcquireGoal> {
        let is_open = |order: &&AcquireGoal| match order.is_order {
            true => self.tried(order) < ORDER_PATIENCE && !self.targets.seen.contains(*order),
            false => self.tried(order) < WAYS as u64,
        };
        let rank = |order: &&AcquireGoal| (self.tried(order), !order.is_order);
        self.targets.orders.keys().filter(is_open).min_by_key(rank)
    }

    fn any_pair(&self) -> Option<&'a AcquireGoal> {
        self.targets.pairs.keys().min_by_key(|pair| (self.tried_again(pair), self.tried(pair)))
    }

    /// An order that broke something now and then, or one that no run had.
    fn any_order(&self) -> Option<&'a AcquireGoal> {
        let bad = self.targets.orders.iter().filter(|(_, attempts)| attempts.hits > 0);
        if let Some((order, _)) = bad.max_by_key(|(_, attempts)| attempts.share()) {
            return Some(order);
        }
        let unseen =
            self.targets.orders.keys().filter(|order| order.is_order && !self.targets.seen.contains(*order));
        unseen.min_by_key(|order| self.tried(order))
    }
}

/// The choices of a run up to where it reached something: a thread stood before an acquire that others then came in before.
pub(crate) fn beginning(run: &Run, again: &str) -> Option<String> {
    let choices = *run.reached.get(again)?;
    let mut left = choices;
    let mut parts = Vec::new();
    for part in run.schedule.split_ascii_whitespace() {
        let (thread, times) = part.split_once('*').unwrap_or((part, "1"));
        let times = times.parse::<u64>().ok()?.min(left);
        left -= times;
        match times {
            0 => break,
            1 => parts.push(thread.to_owned()),
            times => parts.push(format!("{thread}*{times}")),
        }
    }
    let text = parts.join(" ");
    (!text.is_empty() && text.len() <= LONGEST_BEGINNING).then_some(text)
}

/// The acquire of a block that others came in before, or could.
fn reacquired(finding: &Finding) -> Option<&Site> {
    finding.sites.iter().find(|site| site.role == "reacquired")
}

/// A place as pairs name it.
fn place(site: &Site) -> String {
    match site.line {
        Some(line) => format!("{}.{}:{line}", site.class, site.method),
        None => format!("{}.{}", site.class, site.method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::testing::Sketch;

    fn check(targets: &AcquireGoals, runs: u64, expected: &[&str]) {
        let chosen: Vec<String> = targets
            .choose(runs)
            .into_iter()
            .map(|pair| pair.map(|pair| pair.to_string()).unwrap_or_default())
            .collect();
        assert_eq!(chosen, expected);
    }

    fn learned(sketches: &[Sketch]) -> AcquireGoals {
        let mut targets = AcquireGoals::default();
        for sketch in sketches {
            targets.learn(&sketch.outcome(), false);
        }
        targets
    }

    #[test]
    fn every_acquire_has_its_turn_with_every_interference() {
        check(&learned(&[]), 2, &["", ""]);
        let targets = learned(&[Sketch { pairs: &["b/x", "a/x", "a/y"], ..Sketch::default() }]);
        check(&targets, 5, &["a/x", "b/x", "a/y", "b/x", "a/x"]);
        let tried = Sketch { pairs: &["b/x", "a/x"], target: Some("a/x"), ..Sketch::default() };
        check(&learned(&[tried]), 3, &["b/x", "b/x", "a/x"]);
    }

    #[test]
    fn orders_that_no_run_had_are_looked_for() {
        let seen = Sketch { orders: &["b//a", "d//c", "c//d"], ..Sketch::default() };
        check(&learned(&[seen]), 4, &["a//b", "a//b", "a//b", "a//b"]);
        check(&learned(&[seen]), 5, &["a//b", "a//b", "a//b", "a//b", ""]);
        let beside = Sketch { pairs: &["p/q"], ..seen };
        check(&learned(&[beside]), 5, &["p/q", "p/q", "p/q", "a//b", "p/q"]);
        let mut targets = learned(&[seen]);
        let turned = Sketch { orders: &["a//b"], target: Some("a//b"), ..Sketch::default() };
        targets.learn(&turned.outcome(), false);
        check(&targets, 2, &["", ""]);
        let mut targets = learned(&[seen]);
        targets.learn(&turned.outcome(), true);
        check(&targets, 2, &["a//b", "a//b"]);
    }

    #[test]
    fn orders_have_one_run_of_some_rounds_once_something_was_made_to_happen() {
        let hit =
            Sketch { pairs: &["Main.run:4/x"], orders: &["b//a"], confirmed: &["f"], ..Sketch::default() };
        let mut targets = learned(&[hit]);
        let orders = |targets: &AcquireGoals| {
            let chosen = targets.choose(ROUND).into_iter().flatten();
            chosen.filter(|pair| pair.is_order).count()
        };
        assert_eq!(orders(&targets), 1);
        (0..ROUND).for_each(|_| targets.learn(&hit.outcome(), false));
        assert_eq!(orders(&targets), 0);
    }

    #[test]
    fn who_waits_is_met_by_beginning_as_before() {
        let mut waits = Sketch { orders: &["Main.run:4/x"], ..Sketch::default() };
        waits.confirmed = &["f"];
        let mut targets = learned(&[waits]);
        targets.confirmed.clear();
        check(&targets, 1, &["Main.run:4/x@0*2"]);
    }

    #[test]
    fn what_was_made_to_happen_is_begun_as_before_once_it_was_missed() {
        let hit = Sketch { pairs: &["Main.run:4/x"], confirmed: &["f"], ..Sketch::default() };
        check(&learned(&[hit]), 1, &["Main.run:4/x"]);
        let missed = Sketch { target: Some("Main.run:4/x"), ..Sketch::default() };
        check(&learned(&[hit, missed]), 1, &["Main.run:4/x@0*2"]);
    }

    #[test]
    fn the_first_rounds_are_short() {
        let begins = [0, 4, 12, 16, 24, 32];
        assert_eq!(begins.map(round), [4, 4, 4, 8, 8, 16]);
    }

    #[test]
    fn what_was_tried_in_vain_comes_last() {
        let vain = Sketch { target: Some("a/x"), ..Sketch::default() };
        let hit = Sketch { target: Some("Main.run:4/x"), confirmed: &["f"], ..Sketch::default() };
        let mut targets = learned(&[Sketch { pairs: &["a/x", "Main.run:4/x"], ..Sketch::default() }]);
        for _ in 0..PATIENCE {
            targets.learn(&vain.outcome(), false);
            targets.learn(&hit.outcome(), false);
        }
        check(&targets, 2, &["Main.run:4/x", "Main.run:4/x"]);
    }
}
