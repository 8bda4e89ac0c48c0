//! Goals at lock acquires: candidates that runs showed, and which of them the next runs try.
//!
//! A goal is either a remote acquire between two local acquires of an atomic block, or an order: if one thread acquires a lock only ever
//! after another has, a run reverses that, because it may lose a notification, or leave the lock with a thread that waits.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{
    finding::{Finding, Kind, Site, Status},
    goal::{AcquireGoal, Goal},
    record::Run,
};

use super::{GoalSource, Judgement, ROUND, Round, TURNS};
use crate::outcome::Outcome;

/// After so many failed attempts at one local acquire, other goals come first.
const PATIENCE: u64 = 8;
/// How often an order of two acquires is tried without success.
const ORDER_PATIENCE: u64 = 2;
/// How many schedule prefixes that lead to a waiting thread are kept and tried.
const PREFIXES: usize = 3;
/// Schedule prefixes that are longer than this, as text, are not kept.
const LONGEST_PREFIX: usize = 4_000;

/// The goals that are known so far.
#[derive(Debug, Clone, Default)]
pub struct AcquireGoals {
    /// How many runs there were.
    runs: u64,
    /// Remote acquires between two local ones, with the results of the runs that tried them.
    pairs: BTreeMap<AcquireGoal, Attempts>,
    /// Orders of acquires that no run showed, and acquires before a thread that was woken, with the results likewise.
    orders: BTreeMap<AcquireGoal, Attempts>,
    /// Orders that runs showed.
    seen: BTreeSet<AcquireGoal>,
    /// The local acquires before which a remote one landed, with the prefix of a schedule that leads there.
    confirmed: BTreeMap<String, Option<String>>,
    /// Prefixes of schedules that lead to a waiting thread, by the site where it waits.
    waits: BTreeMap<String, Vec<String>>,
    /// The results of the runs that followed such a prefix.
    prefixed: BTreeMap<AcquireGoal, Attempts>,
}

/// The results of the runs that tried a goal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Attempts {
    tried: u64,
    /// Runs that reached the goal, or that failed as no reference run does.
    hits: u64,
}

impl Attempts {
    fn add(&mut self, is_hit: bool) {
        self.tried += 1;
        self.hits += u64::from(is_hit);
    }

    /// Hits per thousand attempts.
    fn share(self) -> u64 {
        self.hits * 1_000 / self.tried.max(1)
    }

    /// Whether most attempts were hits, so that these were not by chance.
    fn is_reliable(self) -> bool {
        self.hits > 0 && 4 * self.hits >= 3 * self.tried
    }
}

impl GoalSource for AcquireGoals {
    fn learn(&mut self, outcome: &Outcome, judgement: Judgement) {
        let is_bad = judgement.is_bad || judgement.is_news;
        self.runs += 1;
        for run in outcome.accounts() {
            for pair in &run.pairs {
                self.pairs.entry(pair.clone()).or_default();
            }
            for order in &run.orders {
                if order.is_order {
                    self.seen.insert(order.clone());
                    let (local, remote) = (order.remote.clone(), order.local.clone());
                    self.orders
                        .entry(AcquireGoal { is_order: true, ..AcquireGoal::new(local, remote) })
                        .or_default();
                } else {
                    self.orders.entry(order.clone()).or_default();
                }
            }
        }
        let is_replayable = outcome.is_replayable();
        for run in outcome.accounts().filter(|_| is_replayable) {
            for site in run.orders.iter().filter(|order| !order.is_order).map(|order| &order.local) {
                let prefixes = self.waits.entry(site.clone()).or_default();
                let prefix = prefix_to(run, site)
                    .filter(|prefix| prefixes.len() < PREFIXES && !prefixes.contains(prefix));
                prefixes.extend(prefix);
            }
        }
        let mut confirmed = BTreeSet::new();
        for process in &outcome.processes {
            for finding in &process.findings {
                if finding.kind == Kind::AtomicityViolation && finding.status > Status::Warning {
                    confirmed.extend(reacquired(finding).map(site_name));
                }
            }
            for local in &confirmed {
                let prefix =
                    process.run.as_ref().filter(|_| is_replayable).and_then(|run| prefix_to(run, local));
                let known = self.confirmed.entry(local.clone()).or_default();
                if known.is_none() {
                    *known = prefix;
                }
            }
        }
        if let Some(Goal::Acquires(goal)) = &outcome.goal {
            let is_hit = is_bad && confirmed.is_empty() || confirmed.contains(&goal.local);
            if goal.prefix.is_some() {
                self.prefixed.entry(goal.clone()).or_default().add(is_hit);
            }
            let goal = AcquireGoal { prefix: None, ..goal.clone() };
            let known = if self.pairs.contains_key(&goal) { &mut self.pairs } else { &mut self.orders };
            known.entry(goal).or_default().add(is_hit);
        }
    }

    /// Each local acquire in turn, each time with the remote acquire that missed least often, or was tried
    /// least. Goals that failed too often come last. Orders that no run showed get every fourth run as long as nothing was made to
    /// happen, and one of [`TURNS`] rounds after that.
    fn propose(&self, Round { runs, has_turn }: Round) -> Vec<Option<Goal>> {
        let mut plan = Plan::new(self);
        let is_proved = self.has_proof();
        let choose = |run: u64| {
            let is_for_orders = if is_proved { has_turn && run == ROUND / 2 } else { run % 4 == 3 };
            let order = || plan.open_order();
            let chosen = match is_for_orders {
                true => order().or_else(|| plan.next_pair()),
                false => plan.next_pair().or_else(order),
            };
            // If nothing is left to try, some runs have no goal.
            let chosen = chosen.or_else(|| match run % 4 {
                0 if !is_proved => plan.any_pair(),
                _ => plan.any_order().or_else(|| plan.any_pair()),
            });
            let chosen = chosen
                .map(|pair| AcquireGoal { prefix: self.prefix_for(pair, plan.tried(pair)), ..pair.clone() });
            if let Some(pair) = &chosen {
                plan.note(pair);
            }
            chosen.map(Goal::Acquires)
        };
        (0..runs).map(choose).collect()
    }
}

impl AcquireGoals {
    /// Whether a goal was reached, or an attempt at one made the program fail.
    pub(crate) fn has_proof(&self) -> bool {
        !self.confirmed.is_empty()
            || self.pairs.values().chain(self.orders.values()).any(|attempts| attempts.hits > 0)
    }

    /// Whether there is a goal that was not tried often enough.
    pub(crate) fn has_goal(&self) -> bool {
        let plan = Plan::new(self);
        plan.next_pair().is_some() || plan.open_order().is_some()
    }

    /// Goals that were not tried enough and never reached, so many at most.
    pub(crate) fn untried(&self, runs: u64) -> Vec<Goal> {
        let mut plan = Plan::new(self);
        let mut chosen = Vec::new();
        while (chosen.len() as u64) < runs {
            let Some(pair) = plan.open_pair().or_else(|| plan.open_order()) else { break };
            let goal = AcquireGoal { prefix: self.prefix_for(pair, plan.tried(pair)), ..pair.clone() };
            plan.note(&goal);
            chosen.push(Goal::Acquires(goal));
        }
        chosen
    }

    /// How many goals there are, and how many of them were tried or reached.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let is_done =
            |(goal, attempts): &(&AcquireGoal, &Attempts)| attempts.tried > 0 || self.is_proved(goal);
        let orders = || self.orders.iter().filter(|(order, _)| !self.seen.contains(*order));
        let done = self.pairs.iter().chain(orders()).filter(is_done).count();
        ((self.pairs.len() + orders().count()) as u64, done as u64)
    }

    /// Which of [`TURNS`] rounds it is: once something was made to happen, the other kinds of goals take turns.
    pub(crate) fn turn(&self) -> u64 {
        self.runs / ROUND % TURNS
    }

    /// The prefix that a run follows first. If a goal was missed after it had been reached, the run begins as the one that reached it; to
    /// meet a waiting thread, it begins as a run that had one.
    fn prefix_for(&self, pair: &AcquireGoal, tried: u64) -> Option<String> {
        if let Some(attempts) = self.pairs.get(pair) {
            let has_missed = attempts.hits < attempts.tried;
            return self.confirmed.get(&pair.local).cloned().flatten().filter(|_| has_missed);
        }
        let prefixes =
            self.waits.get(&pair.local).filter(|prefixes| !pair.is_order && !prefixes.is_empty())?;
        let best = self.best_prefix(pair).map(|(prefix, _)| prefix);
        best.or_else(|| prefixes.get(tried as usize % prefixes.len())).cloned()
    }

    /// The prefix to a waiting thread after which most runs failed, if any did.
    fn best_prefix(&self, pair: &AcquireGoal) -> Option<(&String, Attempts)> {
        let prefixes = self.waits.get(&pair.local).filter(|_| !pair.is_order)?;
        let tried = prefixes.iter().filter_map(|prefix| {
            let prefixed = AcquireGoal { prefix: Some(prefix.clone()), ..pair.clone() };
            Some((prefix, *self.prefixed.get(&prefixed)?))
        });
        tried.filter(|(_, attempts)| attempts.hits > 0).max_by_key(|(_, attempts)| attempts.share())
    }

    /// Whether attempts at an order make the program fail nearly always.
    fn is_reliable(&self, order: &AcquireGoal, attempts: Attempts) -> bool {
        attempts.is_reliable() || self.best_prefix(order).is_some_and(|(_, attempts)| attempts.is_reliable())
    }

    /// Whether an attempt reached the goal, or made the program fail.
    fn is_proved(&self, pair: &AcquireGoal) -> bool {
        let known = self.pairs.get(pair).or_else(|| self.orders.get(pair));
        known.is_some_and(|attempts| attempts.hits > 0)
            || self.pairs.contains_key(pair) && self.confirmed.contains_key(&pair.local)
    }
}

/// The goals of one round.
struct Plan<'a> {
    goals: &'a AcquireGoals,
    /// How often each goal was tried, the runs of this round included.
    tried: BTreeMap<AcquireGoal, u64>,
    /// The same, summed over all goals with one local acquire.
    tried_local: BTreeMap<String, u64>,
}

impl<'a> Plan<'a> {
    fn new(goals: &'a AcquireGoals) -> Self {
        let all = goals.pairs.iter().chain(&goals.orders);
        let tried = all.map(|(pair, attempts)| (pair.clone(), attempts.tried)).collect();
        let mut tried_local: BTreeMap<String, u64> = BTreeMap::new();
        for (pair, attempts) in goals.pairs.iter().chain(&goals.orders) {
            *tried_local.entry(pair.local.clone()).or_default() += attempts.tried;
        }
        Self { goals, tried, tried_local }
    }

    fn note(&mut self, pair: &AcquireGoal) {
        *self.tried.entry(AcquireGoal { prefix: None, ..pair.clone() }).or_default() += 1;
        *self.tried_local.entry(pair.local.clone()).or_default() += 1;
    }

    fn tried(&self, pair: &AcquireGoal) -> u64 {
        self.tried.get(pair).copied().unwrap_or_default()
    }

    fn tried_local(&self, pair: &AcquireGoal) -> u64 {
        self.tried_local.get(&pair.local).copied().unwrap_or_default()
    }

    /// The next goal in turn, among those that did not fail too often and orders that make the program fail.
    fn next_pair(&self) -> Option<&'a AcquireGoal> {
        let is_open = |pair: &&AcquireGoal| self.tried_local(pair) < PATIENCE || self.goals.is_proved(pair);
        let bad_orders =
            self.goals.orders.iter().filter(|(order, attempts)| self.goals.is_reliable(order, **attempts));
        let bad_orders = bad_orders.map(|(order, _)| order);
        let pairs = self.goals.pairs.keys().filter(is_open).chain(bad_orders);
        let rank = |pair: &&AcquireGoal| {
            let known = self.goals.pairs.get(*pair).or_else(|| self.goals.orders.get(*pair));
            let missed = known.map_or(0, |attempts| attempts.tried - attempts.hits);
            (self.tried_local(pair), missed, self.tried(pair))
        };
        // `min_by_key` takes the first of equals, so that the choice is deterministic.
        pairs.min_by_key(rank)
    }

    /// The next goal in turn, among those that were neither reached nor tried enough.
    fn open_pair(&self) -> Option<&'a AcquireGoal> {
        let is_open = |pair: &&AcquireGoal| self.tried_local(pair) < PATIENCE && !self.goals.is_proved(pair);
        let pairs = self.goals.pairs.keys().filter(is_open);
        pairs.min_by_key(|pair| (self.tried_local(pair), self.tried(pair)))
    }

    /// An order that no run showed, or an acquire before a thread that was woken, as long as it was not tried enough.
    fn open_order(&self) -> Option<&'a AcquireGoal> {
        let is_open = |order: &&AcquireGoal| match order.is_order {
            true => self.tried(order) < ORDER_PATIENCE && !self.goals.seen.contains(*order),
            false => self.tried(order) < PREFIXES as u64,
        };
        let rank = |order: &&AcquireGoal| (self.tried(order), !order.is_order);
        self.goals.orders.keys().filter(is_open).min_by_key(rank)
    }

    fn any_pair(&self) -> Option<&'a AcquireGoal> {
        self.goals.pairs.keys().min_by_key(|pair| (self.tried_local(pair), self.tried(pair)))
    }

    /// An order that made the program fail at least once, or one that no run showed.
    fn any_order(&self) -> Option<&'a AcquireGoal> {
        let bad = self.goals.orders.iter().filter(|(_, attempts)| attempts.hits > 0);
        if let Some((order, _)) = bad.max_by_key(|(_, attempts)| attempts.share()) {
            return Some(order);
        }
        let unseen =
            self.goals.orders.keys().filter(|order| order.is_order && !self.goals.seen.contains(*order));
        unseen.min_by_key(|order| self.tried(order))
    }
}

/// The choices of a run up to where a thread stood before an acquire that a remote one then preceded.
pub(crate) fn prefix_to(run: &Run, site: &str) -> Option<String> {
    let text = run.schedule.first(*run.reached.get(site)?).to_string();
    (!text.is_empty() && text.len() <= LONGEST_PREFIX).then_some(text)
}

/// The local acquire before which a remote one landed, or could.
fn reacquired(finding: &Finding) -> Option<&Site> {
    finding.sites.iter().find(|site| site.role == "reacquired")
}

/// A site as goals name it.
fn site_name(site: &Site) -> String {
    match site.line {
        Some(line) => format!("{}.{}:{line}", site.class, site.method),
        None => format!("{}.{}", site.class, site.method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, pair};

    fn check(goals: &AcquireGoals, runs: u64, expected: &[&str]) {
        let expected: Vec<Option<Goal>> =
            expected.iter().map(|text| (!text.is_empty()).then(|| pair(text).into())).collect();
        assert_eq!(goals.propose(Round { runs, has_turn: goals.turn() == 0 }), expected);
    }

    fn learned(sketches: &[Sketch]) -> AcquireGoals {
        let mut goals = AcquireGoals::default();
        for sketch in sketches {
            goals.learn(&sketch.outcome(), Judgement::default());
        }
        goals
    }

    #[test]
    fn every_local_acquire_takes_turns_with_every_remote_one() {
        check(&learned(&[]), 2, &["", ""]);
        let goals = learned(&[Sketch { pairs: &["b/x", "a/x", "a/y"], ..Sketch::default() }]);
        check(&goals, 5, &["a/x", "b/x", "a/y", "b/x", "a/x"]);
        let tried = Sketch { pairs: &["b/x", "a/x"], goal: Some("a/x"), ..Sketch::default() };
        check(&learned(&[tried]), 3, &["b/x", "b/x", "a/x"]);
    }

    #[test]
    fn orders_that_no_run_showed_are_tried() {
        let seen = Sketch { orders: &["b//a", "d//c", "c//d"], ..Sketch::default() };
        check(&learned(&[seen]), 4, &["a//b", "a//b", "a//b", "a//b"]);
        check(&learned(&[seen]), 5, &["a//b", "a//b", "a//b", "a//b", ""]);
        let beside = Sketch { pairs: &["p/q"], ..seen };
        check(&learned(&[beside]), 5, &["p/q", "p/q", "p/q", "a//b", "p/q"]);
        let mut goals = learned(&[seen]);
        let turned = Sketch { orders: &["a//b"], goal: Some("a//b"), ..Sketch::default() };
        goals.learn(&turned.outcome(), Judgement::default());
        check(&goals, 2, &["", ""]);
        let mut goals = learned(&[seen]);
        goals.learn(&turned.outcome(), Judgement { is_bad: true, ..Judgement::default() });
        check(&goals, 2, &["a//b", "a//b"]);
    }

    #[test]
    fn orders_get_one_run_of_some_rounds_once_something_was_made_to_happen() {
        let hit =
            Sketch { pairs: &["Main.run:4/x"], orders: &["b//a"], confirmed: &["f"], ..Sketch::default() };
        let mut goals = learned(&[hit]);
        let orders = |goals: &AcquireGoals| {
            let round = Round { runs: ROUND, has_turn: goals.turn() == 0 };
            let chosen = goals.propose(round).into_iter().flatten();
            chosen.filter(|goal| matches!(goal, Goal::Acquires(pair) if pair.is_order)).count()
        };
        assert_eq!(orders(&goals), 1);
        (0..ROUND).for_each(|_| goals.learn(&hit.outcome(), Judgement::default()));
        assert_eq!(orders(&goals), 0);
    }

    #[test]
    fn a_goal_at_a_waiting_thread_follows_a_prefix_that_led_there() {
        let mut waits = Sketch { orders: &["Main.run:4/x"], ..Sketch::default() };
        waits.confirmed = &["f"];
        let mut goals = learned(&[waits]);
        goals.confirmed.clear();
        check(&goals, 1, &["Main.run:4/x@0*2"]);
    }

    #[test]
    fn a_goal_that_was_reached_and_then_missed_follows_the_earlier_prefix() {
        let hit = Sketch { pairs: &["Main.run:4/x"], confirmed: &["f"], ..Sketch::default() };
        check(&learned(&[hit]), 1, &["Main.run:4/x"]);
        let missed = Sketch { goal: Some("Main.run:4/x"), ..Sketch::default() };
        check(&learned(&[hit, missed]), 1, &["Main.run:4/x@0*2"]);
    }

    #[test]
    fn goals_that_failed_too_often_come_last() {
        let vain = Sketch { goal: Some("a/x"), ..Sketch::default() };
        let hit = Sketch { goal: Some("Main.run:4/x"), confirmed: &["f"], ..Sketch::default() };
        let mut goals = learned(&[Sketch { pairs: &["a/x", "Main.run:4/x"], ..Sketch::default() }]);
        for _ in 0..PATIENCE {
            goals.learn(&vain.outcome(), Judgement::default());
            goals.learn(&hit.outcome(), Judgement::default());
        }
        check(&goals, 2, &["Main.run:4/x", "Main.run:4/x"]);
    }
}
