//! The results for atomic sets and races: executed violations as findings, and predicted ones as goals for other runs.

use std::collections::BTreeSet;

use fissure_analysis::{
    atomic_sets::{
        UnitId,
        checker::{Happened, Violation},
        patterns::Who,
        predict::{Expected, Prediction},
    },
    racing::RacingPair,
};
use fissure_model::{
    event::AccessKind,
    finding::{CONTENTS, Finding, HeldLock, Kind, SetAccess, Status, fingerprint},
    goal::{ExpectedAccess, Gate, Goal, RaceGoal, SetGoal},
    ids::{LocationId, SiteId, ThreadId},
    interleaving::{Action, Interleaving, Step},
};
use fissure_schedule::{observer::Race, trace::TraceStep};

use crate::{
    ControlledRun,
    front_end::{FrontEnd, called, current_stack, finding_site, frame, method_name, site_text},
    sets,
};

/// The number of steps of an interleaving that are shown before its first event.
const LEAD: u64 = 8;

/// One occurrence of a pattern, predicted or executed.
struct Case<'a> {
    pattern: u8,
    units: [Option<UnitId>; 2],
    /// The unit, the field, the kind and the site of each event.
    events: Vec<(Who, String, AccessKind, SiteId)>,
    threads: [&'a str; 2],
}

impl ControlledRun {
    /// Reports the violations and races that were executed since the last call.
    pub(crate) fn confirm_set_violations(&mut self, front: &dyn FrontEnd) {
        while let Some(violation) = self.conductor.observer().and_then(|observer| observer.take_violation()) {
            self.confirm_violation(front, &violation);
        }
        while let Some(race) = self.conductor.observer().and_then(|observer| observer.take_race()) {
            self.confirm_race(front, &race);
        }
    }

    fn confirm_violation(&mut self, front: &dyn FrontEnd, violation: &Violation) {
        let (first, last) = (violation.events[0], violation.events[violation.events.len() - 1]);
        let letters = violation.pattern().letters;
        let second = letters.iter().position(|letter| letter.who == Who::Second);
        let second = violation.events[second.expect("a pattern has accesses of two threads")];
        let names = [first.thread, second.thread].map(|thread| self.conductor.name(thread).to_owned());
        let events = letters.iter().zip(&violation.events);
        let case = Case {
            pattern: violation.pattern().pattern,
            units: violation.units,
            events: events
                .map(|(letter, event)| (letter.who, self.part_name(event.location), event.kind, event.site))
                .collect(),
            threads: [&names[0], &names[1]],
        };
        let mut finding = case.finding(front, Status::Confirmed);
        if self.explanation.knows(&finding.id) {
            return;
        }
        let current = current_stack(front);
        self.add_locks(&mut finding, violation.events.iter().map(|event| (event.thread, event.site)));
        for (number, (site, event)) in finding.sites.iter_mut().zip(&violation.events).enumerate() {
            let known = self.sets.stacks.get(&(event.thread, event.site));
            if number + 1 == violation.events.len() {
                site.stack.clone_from(&current);
            } else if let Some(stack) = known {
                site.stack = front.named(stack);
            }
        }
        let threads = [first.thread, second.thread];
        let (from, to) = (first.step.saturating_sub(LEAD).max(1), last.step);
        finding.interleaving = Some(self.set_interleaving(front, threads, (from, to), &violation.events));
        let id = finding.id.clone();
        self.explanation.add_confirmed(front, finding);
        // A thread that sees an intermediate state may fail before the other unit reaches the last event of the pattern.
        self.explanation.blame(&id, violation.events[1].step);
    }

    /// Adds the locks that threads held at the sites of a finding.
    fn add_locks(&self, finding: &mut Finding, accesses: impl Iterator<Item = (ThreadId, SiteId)>) {
        for (site, access) in finding.sites.iter_mut().zip(accesses) {
            let held = self.sets.locks.get(&access).into_iter().flatten();
            let names = held.filter_map(|lock| self.locks.name(*lock));
            site.locks = names.map(|name| HeldLock { name, shared: false }).collect();
        }
    }

    /// The steps of two threads that are relevant for a violation.
    fn set_interleaving(
        &self,
        front: &dyn FrontEnd,
        threads: [ThreadId; 2],
        range: (u64, u64),
        events: &[Happened],
    ) -> Interleaving {
        let fields: BTreeSet<String> = events.iter().map(|event| self.part_name(event.location)).collect();
        let mut steps = Vec::new();
        let mut folded = 0;
        for (number, step) in self.conductor.trace().range(range.0, range.1) {
            let event = events.iter().find(|event| event.step == number && event.thread == step.thread);
            let name = match step.action {
                Action::Read | Action::Write => self.accessed_name(&step),
                _ => step.lock.and_then(|lock| self.locks.name(lock)).unwrap_or_default(),
            };
            let is_access = matches!(step.action, Action::Read | Action::Write);
            let matters = event.is_some()
                || threads.contains(&step.thread)
                    && (is_access && fields.contains(&name)
                        || matches!(step.action, Action::Acquire | Action::Release | Action::Wait));
            if !matters {
                folded += 1;
                continue;
            }
            steps.push(Step {
                thread: usize::from(step.thread != threads[0]),
                action: step.action,
                object: event.map_or(name, |event| self.part_name(event.location)),
                called: step.site.filter(|_| is_access).and_then(|site| called(front, site)),
                at: step.site.map(|site| frame(front, site)),
                role: event.map(|event| role(event.kind).to_owned()),
                folded: std::mem::take(&mut folded),
            });
        }
        let names = threads.map(|thread| self.conductor.name(thread).to_owned());
        Interleaving { threads: names.to_vec(), steps }
    }

    fn confirm_race(&mut self, front: &dyn FrontEnd, race: &Race) {
        if self.points.field(race.location).is_some_and(|field| field.is_volatile) {
            return;
        }
        let name = self.location_name(race.location);
        let threads = race.sides.map(|(thread, ..)| self.conductor.name(thread).to_owned());
        let sides = race.sides.map(|(_, site, is_write)| (site, is_write));
        let mut finding = race_finding(front, &name, sides, [&threads[0], &threads[1]], Status::Confirmed);
        if self.explanation.knows(&finding.id) {
            return;
        }
        // Both threads are still at their accesses; the current thread is one of them.
        for (site, (thread, ..)) in finding.sites.iter_mut().zip(race.sides) {
            let names = self.conductor.held(thread).filter_map(|lock| self.locks.name(lock));
            site.locks = names.map(|name| HeldLock { name, shared: false }).collect();
            if let Some(stack) = front.stack_of(thread) {
                site.stack = stack;
            }
        }
        self.explanation.add_confirmed(front, finding);
    }

    /// The goals for other runs, each with a warning, and a description of each kind of candidate that was left out.
    pub(crate) fn goals(&mut self, front: &dyn FrontEnd) -> (Vec<Goal>, Vec<String>) {
        let Some(observer) = self.conductor.observer() else { return (Vec::new(), Vec::new()) };
        let (predictions, cut) = observer.predictions();
        let (pairs, races_cut) = observer.racing_pairs();
        let mut goals: Vec<Goal> = Vec::new();
        for prediction in &predictions {
            let (goal, finding) = self.predicted(front, prediction);
            self.explanation.add_possible(finding);
            goals.push(Goal::Set(goal));
        }
        for pair in &pairs {
            let (goal, finding) = self.may_race(front, pair);
            self.explanation.add_possible(finding);
            goals.push(Goal::Race(goal));
        }
        goals.sort();
        goals.dedup();
        let (interleavings, is_cut) = self.interleaving_goals(front);
        goals.extend(interleavings);
        let limits = [
            (cut.sets, "accesses to atomic sets, because there are too many sets"),
            (cut.executions, "executions of units of work, because there are too many different ones"),
            (cut.accesses, "accesses in units of work with very many accesses"),
            (cut.acquires, "lock acquires in units of work with very many acquires"),
            (cut.checks, "pairs of executions that were not compared completely"),
            (cut.predictions, "predicted atomic-set violations"),
            (races_cut, "accesses and pairs of accesses that may race"),
            (u64::from(is_cut), "interleavings of accesses"),
        ];
        let cut = limits.iter().filter(|(count, _)| *count > 0).map(|(_, what)| (*what).to_owned()).collect();
        (goals, cut)
    }

    fn predicted(&self, front: &dyn FrontEnd, prediction: &Prediction) -> (SetGoal, Finding) {
        let letters = prediction.pattern().letters;
        let names = prediction.threads.map(|thread| self.conductor.name(thread).to_owned());
        let case = Case {
            pattern: prediction.pattern().pattern,
            units: prediction.units,
            events: letters
                .iter()
                .zip(&prediction.events)
                .map(|(letter, event)| (letter.who, self.part_name(event.location), event.kind, event.site))
                .collect(),
            threads: [&names[0], &names[1]],
        };
        let mut finding = case.finding(front, Status::Warning);
        let events = letters.iter().zip(&prediction.events);
        self.add_locks(
            &mut finding,
            events.map(|(letter, event)| (prediction.threads[letter.who.index()], event.site)),
        );
        let expected = |event: &Expected| ExpectedAccess {
            site: site_text(front, event.site),
            field: self.field_of_part(event.location),
            write: event.kind == AccessKind::Write,
            context: format!("{:x}", event.context),
        };
        let texts = |sites: &Vec<SiteId>| sites.iter().map(|site| site_text(front, *site)).collect();
        let goal = SetGoal {
            pattern: case.pattern,
            set: finding.subject.clone(),
            units: case.unit_names(front),
            events: prediction.events.iter().map(expected).collect(),
            windows: prediction.windows.iter().map(texts).collect(),
            gate: prediction.gate.map(|(site, context)| Gate {
                site: site_text(front, site),
                context: format!("{context:x}"),
            }),
        };
        (goal, finding)
    }

    fn may_race(&self, front: &dyn FrontEnd, pair: &RacingPair) -> (RaceGoal, Finding) {
        let name = self.location_name(pair.location);
        let sides = [0, 1].map(|side| (pair.sites[side], pair.kinds[side] == AccessKind::Write));
        let threads = pair.threads.map(|thread| self.conductor.name(thread).to_owned());
        let mut finding = race_finding(front, &name, sides, [&threads[0], &threads[1]], Status::Warning);
        self.add_locks(&mut finding, pair.threads.into_iter().zip(pair.sites));
        let mut accesses = sides.map(|(site, write)| ExpectedAccess {
            site: site_text(front, site),
            field: name.clone(),
            write,
            context: String::new(),
        });
        accesses.sort();
        (RaceGoal { accesses }, finding)
    }

    /// The name of a location of a set in reports.
    fn part_name(&self, location: u32) -> String {
        match self.sets.element(location) {
            Some((field, sets::ALL)) => self.contents_name(field),
            Some((field, index)) => format!("{}[{index}]", self.field_name(field)),
            None => self.field_name(location),
        }
    }

    /// The field of a location of a set, or the field that holds its array; the contents of a collection have their own name.
    pub(crate) fn field_of_part(&self, location: u32) -> String {
        match self.sets.element(location) {
            Some((field, sets::ALL)) => self.contents_name(field),
            Some((field, _)) => self.field_name(field),
            None => self.field_name(location),
        }
    }

    /// The name of the contents of the collection that a field holds.
    fn contents_name(&self, field: u32) -> String {
        self.field_name(field) + CONTENTS
    }

    /// A field by its class and name.
    pub(crate) fn field_name(&self, number: u32) -> String {
        let field = self.points.field_by_number(number);
        format!("{}.{}", field.class, field.name)
    }

    /// The name of the location that an access of the trace is about.
    pub(crate) fn accessed_name(&self, step: &TraceStep) -> String {
        let location = step.location.unwrap_or_else(|| panic!("an access has no location: {step:?}"));
        self.location_name(location)
    }

    /// The name of a location: the class and name of its field; array elements have no name.
    pub(crate) fn location_name(&self, location: LocationId) -> String {
        match self.holding_field(location) {
            Some(field) => self.contents_name(field),
            None => match self.points.field(location) {
                Some(field) => format!("{}.{}", field.class, field.name),
                None => self.points.contents_name(location).unwrap_or("an array element").to_owned(),
            },
        }
    }
}

impl Case<'_> {
    fn finding(&self, front: &dyn FrontEnd, status: Status) -> Finding {
        let class = |field: &str| field.rsplit_once('.').map_or(field, |(class, _)| class).to_owned();
        let subject = class(&self.events.first().expect("a violation consists of accesses").1);
        let units = self.unit_names(front);
        let number = self.pattern.to_string();
        let mut parts = vec!["atomic-set-violation", &number, &subject, &units[0], &units[1]];
        parts.extend(self.events.iter().map(|(_, field, ..)| field.as_str()));
        let sites = self.events.iter().map(|(who, _, kind, site)| {
            finding_site(front, role(*kind), self.threads[who.index()], *site, Vec::new(), None)
        });
        let accesses = self
            .events
            .iter()
            .map(|(who, field, ..)| SetAccess { field: field.clone(), unit: units[who.index()].clone() });
        Finding {
            id: fingerprint(&parts),
            pattern: Some(self.pattern),
            accesses: accesses.collect(),
            sites: sites.collect(),
            ..Finding::new(Kind::AtomicSetViolation, status, "assetfuzzer", &subject)
        }
    }

    /// The methods of the units; for an access outside of all units the method that contains it.
    fn unit_names(&self, front: &dyn FrontEnd) -> [String; 2] {
        [Who::First, Who::Second].map(|who| {
            let site = self.units[who.index()].map(|unit| SiteId(unit.0)).or_else(|| {
                self.events.iter().find(|(owner, ..)| *owner == who).map(|(_, _, _, site)| *site)
            });
            method_name(front, site.expect("both threads of a violation access something"))
        })
    }
}

fn role(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
    }
}

fn race_finding(
    front: &dyn FrontEnd,
    field: &str,
    sides: [(SiteId, bool); 2],
    threads: [&str; 2],
    status: Status,
) -> Finding {
    let mut methods = sides.map(|(site, _)| method_name(front, site));
    methods.sort();
    let sites = sides.iter().zip(threads).map(|((site, is_write), thread)| {
        let kind = if *is_write { AccessKind::Write } else { AccessKind::Read };
        finding_site(front, role(kind), thread, *site, Vec::new(), None)
    });
    Finding {
        id: fingerprint(&["data-race", "racefuzzer", field, &methods[0], &methods[1]]),
        sites: sites.collect(),
        ..Finding::new(Kind::DataRace, status, "racefuzzer", field)
    }
}
