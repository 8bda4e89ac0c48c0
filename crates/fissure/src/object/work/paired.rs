//! Tests pairs of concurrent calls, and finds out who is to blame for a violation that stress showed.

use super::*;

impl Work {
    /// Says which methods got less time than the user allowed.
    pub(super) fn note_rest(&mut self, spent: &BTreeMap<String, Duration>) {
        let less = self.target.tested.iter().filter(|one| {
            let name = &one.method.name;
            !self.blamed.contains(name) && spent.get(name).is_none_or(|spent| *spent < self.bounds.budget)
        });
        let number = less.count();
        if number > 0 && !signals::interrupted() {
            self.notices.push(format!(
                "the time for the whole class ({} s) was over before {} had the time for a method ({} s): give more with --total-budget",
                self.limits.total.as_secs_f64(),
                if number == 1 { "one method".to_owned() } else { format!("{number} methods") },
                self.bounds.budget.as_secs_f64()
            ));
        }
    }

    /// Executes pairs of concurrent calls of all methods.
    pub(super) fn pairs(&mut self) -> Result<(), Error> {
        let callables = self.callables();
        let alphabet = self.pair_alphabet();
        let methods: Vec<&Callable> = callables.iter().collect();
        let has_result: Vec<bool> = callables.iter().map(|one| one.info.returns != "V").collect();
        let core = self.target.core.len();
        let may_blame = |(at, one): (usize, &Callable)| match at < core {
            true => !self.limits.trusts_core,
            false => self.target.wants(&one.method.name),
        };
        let is_tested: Vec<bool> = callables.iter().enumerate().map(may_blame).collect();
        let budget = self.left().mul_f64(PAIRED).min(self.bounds.budget * callables.len() as u32);
        let progress = Progress::of_search("pairs", budget);
        let (states, assumed) = (self.states.clone(), self.assumed());
        let pairs = Pairs {
            alphabet: &alphabet,
            states: &states,
            has_result: &has_result,
            is_tested: &is_tested,
            core,
            assumed: &assumed,
        };
        let bounds = Bounds { budget: PAIR_TIME, ..self.bounds };
        let is_controlled = start_control(&mut self.control, &mut self.notices, self.limits.stresses)?;
        let until = Instant::now() + budget;
        let mut paired = Paired::default();
        if is_controlled && let Control::On(session) = &mut self.control {
            session.open(&self.target, &methods, &alphabet)?;
            let mut search = Search::new(session, &alphabet, bounds, Mode::Controlled, &progress);
            paired =
                pairs.run(&mut search, until, |name, _| progress.tell(&format!("{name} is not atomic")))?;
        }
        for (name, findings) in std::mem::take(&mut paired.findings) {
            self.merge(&name, findings);
        }
        for (name, violation) in std::mem::take(&mut paired.blamed) {
            self.blame(&name, &alphabet, violation);
        }
        if self.limits.stresses {
            let harnesses = match is_controlled {
                true => paired.contended,
                false => pairs.without_control(),
            };
            self.stress_pairs(&methods, &alphabet, harnesses, until, is_controlled)?;
        }
        Ok(())
    }

    /// Stresses pairs whose calls interfere: the real machine may show outcomes that no schedule gives.
    pub(super) fn stress_pairs(
        &mut self,
        methods: &[&Callable],
        alphabet: &Alphabet,
        harnesses: Vec<Harness>,
        until: Instant,
        is_controlled: bool,
    ) -> Result<(), Error> {
        let progress = Progress::of_search("pairs", self.left());
        let bounds = Bounds { budget: WEAK_TIME, ..self.bounds };
        self.session.open(&self.target, methods, alphabet)?;
        for harness in harnesses {
            let operations = harness.operations();
            let names: BTreeSet<String> = harness
                .concurrent()
                .iter()
                .map(|&at| alphabet.method_name(operations[at]).to_owned())
                .collect();
            if Instant::now() > until || signals::interrupted() {
                break;
            }
            if names.iter().any(|name| self.blamed.contains(name)) {
                continue;
            }
            let mut search = Search::new(&mut self.session, alphabet, bounds, Mode::Stress, &progress);
            let violation = search.stress_one(harness)?;
            let findings = search.take_findings();
            for name in &names {
                self.merge(name, findings.clone());
            }
            let Some(violation) = violation else { continue };
            let blamed = match is_controlled {
                true => self.prove(methods, alphabet, violation, None)?,
                // Without control it is not known which of two methods is to blame.
                false => names.iter().take(1).map(|name| (name.clone(), violation.clone())).collect(),
            };
            for (name, violation) in blamed {
                self.blame(&name, alphabet, violation);
            }
        }
        Ok(())
    }

    /// The methods to blame for a violation that stress showed. Schedules show it, too, unless it is due to the memory model.
    pub(super) fn prove(
        &mut self,
        methods: &[&Callable],
        alphabet: &Alphabet,
        violation: Violation,
        target: Option<&str>,
    ) -> Result<Vec<(String, Violation)>, Error> {
        let operations = violation.harness.operations();
        let first = violation.harness.concurrent().first().map(|&at| alphabet.method_name(operations[at]));
        let fallback = target.or(first).unwrap_or(CORE).to_owned();
        if !start_control(&mut self.control, &mut self.notices, self.limits.stresses)? {
            return Ok(vec![(fallback, violation)]);
        }
        let assumed = self.assumed();
        let Control::On(session) = &mut self.control else { return Ok(vec![(fallback, violation)]) };
        session.open(&self.target, methods, alphabet)?;
        let progress = Progress::of_search(&fallback, PAIR_TIME);
        let bounds = Bounds { budget: PAIR_TIME, ..self.bounds };
        let mut search = Search::new(session, alphabet, bounds, Mode::Controlled, &progress);
        if let Some(shown) = search.explore_one(violation.harness.clone())?.violation() {
            let blamed = match pairs::blame(&mut search, alphabet, shown, &BTreeSet::new(), &assumed)? {
                Blame::Certain(certain) => certain,
                // If the violation needs several methods, the one under test is to blame.
                Blame::Unclear(names, violation) => {
                    let tested = target.filter(|target| names.contains(*target)).map(str::to_owned);
                    let name = tested.or_else(|| names.first().cloned()).unwrap_or_else(|| fallback.clone());
                    vec![(name, *violation)]
                }
            };
            // The frequency under stress is of more interest than that in controlled executions.
            let counted = |shown: Violation| match shown.harness == violation.harness {
                true => Violation { counts: violation.counts.clone(), ..shown },
                false => shown,
            };
            return Ok(blamed.into_iter().map(|(name, shown)| (name, counted(shown))).collect());
        }
        let cause = search.explore_fully(violation.harness.clone())?;
        let cause = cause.map(|(schedules, preemptions)| Cause::Memory { schedules, preemptions });
        Ok(vec![(fallback, Violation { cause, ..violation })])
    }
}

/// Starts the JVM whose threads Fissure schedules; gives whether it is there.
pub(super) fn start_control(
    control: &mut Control,
    notices: &mut Vec<String>,
    stresses: bool,
) -> Result<bool, ObjectError> {
    if let Control::Ready(setup) = control {
        *control = match Session::start(setup.clone()) {
            Ok(session) => Control::On(Box::new(session)),
            Err(error) if stresses => {
                notices.push(without_control(&error));
                Control::Off
            }
            Err(error) => return Err(error),
        };
    }
    Ok(matches!(control, Control::On(_)))
}
