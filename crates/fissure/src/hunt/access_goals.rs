//! Accesses that could come in between others, and which of them the next runs look for.
//!
//! There may be many, and most are meant to be possible. So each is tried a few times only, the likeliest mistakes first: once with nothing else
//! that interrupts anybody, then by chance; what broke something is tried again and again, and further ones now and then.

use std::cmp::Reverse;

use fissure_model::{
    finding::Finding,
    goal::{AccessGoal, Act, Goal, GoalSite},
};

use super::{acquire_goals::beginning, run::Outcome};

/// How often something is looked for that nothing came of. Where nothing else interrupts anybody, a second time would go like the first.
const PATIENCE: u64 = 2;
const CALM_PATIENCE: u64 = 1;
/// How many are known at most, both ways to look for each counted: more could not be tried.
const MOST: usize = 4_000;
/// How many are tried at once because they first showed up where something broke.
const SUSPECTS: usize = 4;
/// So many hits one after the other show that something was not broken by chance.
const RELIABLE: u64 = 2;

/// What is known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessGoals {
    /// The likeliest mistakes first; of equals those that the first run tells come first.
    known: Vec<Known>,
    is_cut: bool,
}

#[derive(Debug, Clone)]
struct Known {
    goal: AccessGoal,
    tried: u64,
    /// Runs in which something went wrong that otherwise does not.
    hits: u64,
    /// Those of them in which it had happened.
    met: u64,
    /// How many of them there were since one in which nothing did.
    streak: u64,
    /// How many runs began as one in which something did, and in how many of them something did again.
    begun: u64,
    begun_hits: u64,
    /// The beginning of that one.
    beginning: Option<String>,
    /// Whether it was first seen to be possible in a run in which something went wrong, and may be what that came of.
    is_suspect: bool,
}

impl Known {
    fn is_open(&self) -> bool {
        self.hits == 0 && self.tried < if self.goal.is_sequential { CALM_PATIENCE } else { PATIENCE }
    }

    /// Whether looking for it broke something so often of late that this was not by chance.
    fn is_reliable(&self) -> bool {
        self.streak >= RELIABLE
    }

    /// How well it tells what goes wrong, if nothing speaks against it; the least tells most. Two accesses that belong together and a third tell
    /// more than that somebody was slow, or first.
    fn telling(&self) -> u8 {
        if self.hits < self.tried { u8::MAX } else { kind(&self.goal) }
    }

    /// Whether the next run should begin as one that broke something, for what was a hit once may have been one by chance.
    fn begins(&self) -> bool {
        let (tried, hits) = (self.tried - self.begun, self.hits - self.begun_hits);
        let is_sure = hits >= RELIABLE && hits == tried;
        self.beginning.is_some() && !is_sure && self.begun_misses() < self.other_misses()
    }

    /// The share of runs that look for it in vain, in a thousand. What was tried more often is known better.
    fn expected_misses(&self) -> u64 {
        if self.begins() { self.begun_misses() } else { self.other_misses() }
    }

    /// The same of runs that begin as one that broke something, which are likelier to do so as well.
    fn begun_misses(&self) -> u64 {
        (self.begun - self.begun_hits + 1) * 1_000 / (self.begun + 5)
    }

    /// And of those that do not.
    fn other_misses(&self) -> u64 {
        let (tried, hits) = (self.tried - self.begun, self.hits - self.begun_hits);
        (tried - hits + 1) * 1_000 / (tried + 2)
    }
}

impl AccessGoals {
    /// Takes note of what a run saw to be possible, and of what came of that which it looked for.
    pub(crate) fn learn(&mut self, outcome: &Outcome, is_bad: bool) {
        self.is_cut |= outcome.accounts().any(|run| !run.cut.is_empty());
        for goal in outcome.accounts().flat_map(|run| &run.goals) {
            if let Goal::Accesses(goal) = goal {
                let calm = AccessGoal { is_sequential: true, ..goal.clone() };
                let is_new = !self.known.iter().any(|known| known.goal == calm);
                let suspects = self.known.iter().filter(|known| known.is_suspect).count();
                if let Some(known) = self.entry(&calm) {
                    known.is_suspect |= is_new && is_bad && goal.first.is_some() && suspects < SUSPECTS;
                }
                self.entry(goal);
            }
        }
        if let Some(Goal::Accesses(goal)) = &outcome.target
            && let Some(known) = self.entry(goal)
        {
            known.tried += 1;
            known.hits += u64::from(is_bad);
            known.begun += u64::from(goal.prefix.is_some());
            known.begun_hits += u64::from(goal.prefix.is_some() && is_bad);
            let last = goal.last.to_string();
            let is_met = outcome.accounts().any(|run| run.reached.contains_key(&last));
            known.met += u64::from(is_bad && is_met);
            known.streak = if is_bad { known.streak + 1 } else { 0 };
            let is_replayable = outcome.is_told() && outcome.uncontrolled().next().is_none();
            if is_bad && is_replayable && known.beginning.is_none() {
                known.beginning = outcome.accounts().find_map(|run| beginning(run, &last));
            }
        }
    }

    fn entry(&mut self, goal: &AccessGoal) -> Option<&mut Known> {
        let goal = AccessGoal { prefix: None, ..goal.clone() };
        if let Some(place) = self.known.iter().position(|known| known.goal == goal) {
            return self.known.get_mut(place);
        }
        if self.known.len() >= MOST {
            return None;
        }
        // What is known to come in between is likelier to be a mistake than whatever there is, and that than another order.
        let rank = |goal: &AccessGoal| (!goal.is_sequential, kind(goal));
        let place = self.known.partition_point(|known| rank(&known.goal) <= rank(&goal));
        self.known.insert(
            place,
            Known {
                goal,
                tried: 0,
                hits: 0,
                met: 0,
                streak: 0,
                begun: 0,
                begun_hits: 0,
                beginning: None,
                is_suspect: false,
            },
        );
        self.known.get_mut(place)
    }

    /// Whether some are not known because there were too many accesses to remember.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut || self.known.len() >= MOST
    }

    /// How many there are, and how many of them were looked for.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // Each is looked for in this way first.
        let calm = || self.known.iter().filter(|known| known.goal.is_sequential);
        let tried = calm().filter(|known| known.tried > 0).count();
        (calm().count() as u64, tried as u64)
    }

    /// What a finding comes of, in words: what most of the runs that show it looked for and made happen, if hardly any run that looked for
    /// it goes without the finding.
    pub(crate) fn explain(&self, finding: &Finding) -> Option<String> {
        let is_shown = |known: &Known| {
            let shown = finding.targets.iter().flatten().filter(
                |goal| matches!(goal, Goal::Accesses(goal) if known.goal == AccessGoal { prefix: None, ..goal.clone() }),
            );
            shown.count()
        };
        let (_, best) = self
            .known
            .iter()
            .filter(|known| known.met >= RELIABLE && 10 * known.met >= 8 * known.tried)
            .map(|known| (is_shown(known), known))
            .filter(|(shown, _)| *shown as u64 >= RELIABLE)
            .rev()
            .max_by_key(|(shown, known)| (Reverse(kind(&known.goal)), *shown))?;
        let Known { goal, tried, met, .. } = best;
        Some(format!("{} ({met} of {tried} runs)", told(goal)))
    }

    /// Whether looking for one of them broke something.
    pub(crate) fn is_proved(&self) -> bool {
        self.known.iter().any(|known| known.hits > 0)
    }

    /// What the next runs look for if there is nothing better to do.
    pub(crate) fn again(&self, runs: u64) -> Vec<Option<Goal>> {
        let mut known = self.known.clone();
        let choose = |_| {
            let least = known.iter_mut().min_by_key(|known| known.tried)?;
            least.tried += 1;
            Some(Goal::Accesses(least.goal.clone()))
        };
        (0..runs).map(choose).collect()
    }

    /// Whether looking for one of them breaks something so often that this is not by chance.
    pub(crate) fn is_reliable(&self) -> bool {
        self.known.iter().any(Known::is_reliable)
    }

    /// Whether there are any to be looked for at accesses, and not where locks are got.
    pub(crate) fn has_open_access(&self) -> bool {
        self.known.iter().any(|known| known.is_open() && known.goal.last.act != Act::Acquire)
    }

    /// Whether there are any that are worth a run.
    pub(crate) fn has_aim(&self) -> bool {
        self.is_proved() || self.known.iter().any(Known::is_open)
    }

    /// What the next runs look for, one after the other. Once it is known what breaks something, further ones are looked for by the
    /// last run of a round that has its turn.
    pub(crate) fn choose(&self, runs: u64, has_turn: bool) -> Vec<Option<Goal>> {
        let mut known = self.known.clone();
        let is_reliable = self.is_reliable();
        let has_proof = self.is_proved();
        let choose = |run: u64| {
            let open = || {
                let open = known.iter().enumerate().filter(|(_, known)| known.is_open());
                open.min_by_key(|(_, known)| known.tried).map(|(place, _)| place)
            };
            let proved = || {
                let proved = known.iter().enumerate().filter(|(_, known)| known.hits > 0);
                proved
                    .min_by_key(|(_, known)| (known.telling(), known.expected_misses()))
                    .map(|(place, _)| place)
            };
            let suspect = || known.iter().position(|known| known.is_suspect && known.is_open());
            let is_for_others = match (has_proof, is_reliable) {
                (false, _) => true,
                (true, false) => run % 4 == 3,
                (true, true) => has_turn && run == runs - 1,
            };
            let place = if is_for_others { open().or_else(proved) } else { suspect().or_else(proved) };
            place.map(|place| {
                let chosen = &mut known[place];
                let begins = chosen.begins();
                let prefix = chosen.beginning.clone().filter(|_| begins);
                // Until it is known better, a run is expected to go as those before.
                chosen.tried += 1;
                chosen.hits += u64::from(chosen.hits > 0);
                chosen.begun += u64::from(begins);
                chosen.begun_hits += u64::from(begins);
                Goal::Accesses(AccessGoal { prefix, ..chosen.goal.clone() })
            })
        };
        (0..runs).map(choose).collect()
    }
}

/// The kind of what is looked for, the likeliest mistakes first.
fn kind(goal: &AccessGoal) -> u8 {
    match (&goal.first, &goal.remote) {
        (Some(_), _) => 0,
        (None, None) => 1,
        (None, Some(_)) => 2,
    }
}

/// What happens in a run with a goal, in words.
fn told(goal: &AccessGoal) -> String {
    let name = |site: &GoalSite| match site.act {
        Act::Acquire => "a lock".to_owned(),
        _ if site.name.is_empty() => "something".to_owned(),
        _ => format!("`{}`", site.name),
    };
    let done = participle(goal.last.act);
    let noun = match goal.last.act {
        Act::Read => "read",
        Act::Write => "write",
        Act::Acquire => "acquire",
    };
    let last = &goal.last.place;
    let told = match (&goal.first, &goal.remote) {
        (Some(first), Some(remote)) => {
            let begun = participle(first.act);
            let (remote_verb, remote_site) = (verb(remote.act), &remote.place);
            format!(
                "{} is {begun} at {} and {done} at {last}, and another thread {remote_verb} it in between, at {remote_site}",
                name(first),
                first.place
            )
        }
        (_, Some(remote)) => {
            let (early, site) = (participle(remote.act), &remote.place);
            format!("{} is {early} at {site} before it is {done} at {last}", name(remote))
        }
        (_, None) => format!("the {noun} of {} at {last} is delayed", name(&goal.last)),
    };
    match goal.instrumented.is_empty() {
        true => told,
        false => format!("{told}, in a thread-unsafe object"),
    }
}

fn participle(act: Act) -> &'static str {
    match act {
        Act::Read => "read",
        Act::Write => "written",
        Act::Acquire => "acquired",
    }
}

fn verb(act: Act) -> &'static str {
    match act {
        Act::Read => "reads",
        Act::Write => "writes",
        Act::Acquire => "acquires",
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::{Kind, Status};

    use super::*;
    use crate::hunt::testing::Sketch;

    const FIRST: &str = "random|fields|R A.m:1|W A.m:1|W A.m:1";
    const SECOND: &str = "random|fields||R A.n:2|W A.m:1";

    fn run(predicts: &[&str], target: Option<&str>) -> Outcome {
        let mut outcome = Sketch::default().outcome();
        outcome.target = target.map(|text| text.parse().unwrap());
        let goals = predicts.iter().map(|text| text.parse().unwrap());
        outcome.jvms[0].run.as_mut().unwrap().goals = goals.collect();
        outcome
    }

    fn calm(goal: &str) -> String {
        goal.replace("random", "sequential")
    }

    fn check(runs: &[(Outcome, bool)], next: u64, has_turn: bool, expected: &[&str]) {
        let mut interleavings = AccessGoals::default();
        runs.iter().for_each(|(outcome, is_bad)| interleavings.learn(outcome, *is_bad));
        let chosen = interleavings.choose(next, has_turn).into_iter();
        let chosen: Vec<String> =
            chosen.map(|goal| goal.map_or_else(String::new, |goal| goal.to_string())).collect();
        assert_eq!(chosen, expected);
        assert_eq!(interleavings.has_aim(), expected.first().is_some_and(|first| !first.is_empty()));
    }

    #[test]
    fn each_is_tried_a_few_times() {
        check(&[], 1, true, &[""]);
        let look = || (run(&[SECOND, FIRST], None), false);
        let (first, second) = (&calm(FIRST), &calm(SECOND));
        check(&[look()], 7, true, &[first, second, FIRST, SECOND, FIRST, SECOND, ""]);
        let tried = || (run(&[], Some(SECOND)), false);
        check(&[look(), tried(), tried()], 5, true, &[first, second, FIRST, FIRST, ""]);
    }

    #[test]
    fn what_broke_something_is_tried_again() {
        let look = || (run(&[SECOND, FIRST], None), false);
        let hit = || (run(&[], Some(FIRST)), true);
        check(&[look(), hit()], 4, false, &[FIRST, FIRST, FIRST, &calm(FIRST)]);
        check(&[look(), hit(), hit(), hit()], 3, false, &[FIRST, FIRST, FIRST]);
        check(&[look(), hit(), hit(), hit()], 3, true, &[FIRST, FIRST, &calm(FIRST)]);
        let missed = (run(&[], Some(FIRST)), false);
        check(&[look(), hit(), missed, (run(&[], Some(SECOND)), true)], 2, false, &[SECOND, SECOND]);
    }

    #[test]
    fn what_shows_up_where_something_broke_is_tried_next() {
        let hit = |predicts: &[&str]| (run(predicts, Some(SECOND)), true);
        check(&[hit(&[FIRST])], 2, false, &[&calm(FIRST), SECOND]);
        check(&[hit(&[]), (run(&[FIRST], None), false)], 1, false, &[SECOND]);
        // Of what never failed, what tells most.
        let sure = || (run(&[], Some(FIRST)), true);
        check(&[hit(&[]), hit(&[]), sure()], 1, false, &[FIRST]);
    }

    #[test]
    fn what_breaks_something_is_told() {
        fn check(goal: &str, expected: &str) {
            let mut interleavings = AccessGoals::default();
            let goal: Goal = goal.parse().unwrap();
            let Goal::Accesses(AccessGoal { last, .. }) = &goal else { panic!("{goal}") };
            for _ in 0..2 {
                let mut outcome = run(&[], Some(&goal.to_string()));
                outcome.jvms[0].run.as_mut().unwrap().reached.insert(last.to_string(), 1);
                interleavings.learn(&outcome, true);
            }
            let targets = vec![None, Some(goal.clone()), Some(goal)];
            let finding = Finding { targets, ..Finding::new(Kind::Failure, Status::Bug, "conductor", "A.m") };
            assert_eq!(interleavings.explain(&finding).as_deref(), Some(expected));
            let other = Finding::new(Kind::Failure, Status::Bug, "conductor", "A.m");
            assert_eq!(interleavings.explain(&other), None);
        }
        let remote = "random|fields|R A.m:1 x|W A.n:2 x|W A.m:3 x";
        check(
            remote,
            "`x` is read at A.m:1 and written at A.m:3, and another thread writes it in between, at A.n:2 (2 of 2 runs)",
        );
        check(
            "random|fields||R A.n:2 x|W A.m:1 x",
            "`x` is read at A.n:2 before it is written at A.m:1 (2 of 2 runs)",
        );
        check(
            "random|fields,B|||W B.m:1 x",
            "the write of `x` at B.m:1 is delayed, in a thread-unsafe object (2 of 2 runs)",
        );
        check("random|fields|||L A.m:1", "the acquire of a lock at A.m:1 is delayed (2 of 2 runs)");
    }

    #[test]
    fn what_may_have_been_chance_is_begun_as_before() {
        let hit = || {
            let mut hit = run(&[], Some(FIRST));
            let account = hit.jvms[0].run.as_mut().unwrap();
            account.schedule = "0*3 1 0".to_owned();
            account.reached.insert("W A.m:1".to_owned(), 4);
            (hit, true)
        };
        let begun = format!("{FIRST}|0*3 1");
        let again = || (run(&[], Some(FIRST)), true);
        check(&[hit()], 1, false, &[&begun]);
        check(&[hit(), again()], 1, false, &[FIRST]);
        let missed = (run(&[], Some(FIRST)), false);
        check(&[hit(), again(), missed], 1, false, &[&begun]);
    }
}
