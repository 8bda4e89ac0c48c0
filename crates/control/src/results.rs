//! The results of a controlled run, as records.

use std::collections::BTreeSet;

use fissure_model::{
    finding::Finding,
    goal::Goal,
    ids::LocationId,
    record::{Run, RunEnd},
};

use crate::{
    ControlledRun,
    front_end::{FrontEnd, site_text},
};

/// What a controlled run found.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The findings: those that the run executed, those that are possible, and a deadlock or hang that ended it.
    pub findings: Vec<Finding>,
    /// The run itself, with its failures and the goals for other runs.
    pub run: Run,
}

impl ControlledRun {
    /// The results of the run, which ended in this way.
    pub fn results(&mut self, front: &dyn FrontEnd, end: RunEnd) -> Results {
        if self.conductor.has_foreign_wakes() {
            self.lose_control("a thread that Fissure does not control woke a thread that it controls");
        }
        let (goals, cut) = self.goals(front);
        let unguarded = self.unguarded();
        let explanation = &self.explanation;
        let is_only_possible = |(id, _): &(&String, &Finding)| !explanation.confirmed.contains_key(*id);
        let possible = explanation.possible.iter().filter(is_only_possible).map(|(_, finding)| finding);
        let mut findings: Vec<Finding> = explanation.confirmed.values().chain(possible).cloned().collect();
        if matches!(end, RunEnd::Deadlock | RunEnd::Hang) {
            findings.push(self.deadlock(front, &self.conductor.stuck()));
        }
        let mut reached = explanation.reached.clone();
        if let (Some(Goal::Accesses(goal)), Some(choices)) =
            (self.goal.as_deref(), self.conductor.strategy().reached())
        {
            reached.insert(goal.last().key(), choices);
        }
        let run = Run {
            end,
            choices: self.conductor.choices(),
            steps: self.steps.unwrap_or_else(|| self.conductor.trace().last()),
            schedule: self.conductor.recording().clone(),
            uncontrolled: self.uncontrolled.clone(),
            departure: self.conductor.strategy().departure().map(|departure| departure.to_string()),
            is_hurried: self.conductor.is_hurried(),
            failures: explanation.failures.iter().map(|(failure, _)| failure.clone()).collect(),
            pairs: explanation.acquires.pairs(|site| site_text(front, site)),
            orders: explanation.acquires.orders(|site| site_text(front, site)),
            reached,
            goals,
            unguarded,
            cut,
            thrashings: self.conductor.strategy().thrashings(),
            prevention: self.conductor.prevention_facts(),
        };
        Results { findings, run }
    }

    /// The classes of thread-unsafe objects that threads used without a common lock or through wrappers, in order and without duplicates.
    fn unguarded(&mut self) -> Vec<String> {
        let found = self.conductor.observer().map(|observer| observer.unguarded()).unwrap_or_default();
        let parts = |location| self.points.parts(location).iter().cloned();
        let unguarded = found.into_iter().map(LocationId).flat_map(parts);
        let classes: BTreeSet<String> = unguarded.chain(self.points.wrapped().iter().cloned()).collect();
        classes.into_iter().collect()
    }
}
