//! Infers the core of a class: methods with which states can be built, changed and observed.

/// What a method does, by sequential runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Behaviour {
    /// Whether it seems read-only.
    pub(crate) reads: bool,
    /// For each state, the results of its operations there.
    pub(crate) answers: Vec<Vec<Option<u32>>>,
    /// The number of states that were reached by it.
    pub(crate) reaches: usize,
}

/// The methods of the core, by what they are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Core {
    /// They lead to new states.
    pub(crate) builds: Vec<usize>,
    /// They change states.
    pub(crate) changes: Vec<usize>,
    /// They tell states apart.
    pub(crate) observes: Vec<usize>,
}

/// So many methods of each kind.
const BUILDS: usize = 2;
const CHANGES: usize = 2;
const OBSERVES: usize = 3;

impl Core {
    /// Chooses among the methods that may be in the core; `None` if none of them changes anything.
    pub(crate) fn infer(behaviours: &[Behaviour], may_be: impl Fn(usize) -> bool) -> Option<Core> {
        let chosen = |reads: bool| {
            (0..behaviours.len()).filter(|&at| may_be(at) && behaviours[at].reads == reads).collect()
        };
        let mut updates: Vec<usize> = chosen(false);
        // The method that reaches the most states is the most useful one; otherwise the order is that of the methods.
        updates.sort_by_key(|&at| std::cmp::Reverse(behaviours[at].reaches));
        let builds: Vec<usize> = updates.drain(..updates.len().min(BUILDS)).collect();
        if builds.is_empty() {
            return None;
        }
        // A method that answers differently in different states depends on them.
        updates.sort_by_key(|&at| std::cmp::Reverse(distinct(&behaviours[at].answers)));
        let mut changes: Vec<usize> = updates.into_iter().take(CHANGES).collect();
        changes.sort_unstable();
        let readers: Vec<usize> = chosen(true);
        let states = behaviours.first().map_or(0, |behaviour| behaviour.answers.len());
        let mut observes: Vec<usize> = Vec::new();
        while observes.len() < OBSERVES {
            let told = |list: &[usize]| {
                let answers = |state: usize| -> Vec<&Vec<Option<u32>>> {
                    list.iter().map(|&at| &behaviours[at].answers[state]).collect()
                };
                let all: Vec<_> = (0..states).map(answers).collect();
                distinct(&all)
            };
            let with = |at: usize| [observes.as_slice(), &[at]].concat();
            let best = readers.iter().copied().filter(|at| !observes.contains(at));
            let Some(best) = best.max_by_key(|&at| (told(&with(at)), std::cmp::Reverse(at))) else { break };
            if told(&with(best)) <= told(&observes).max(1) {
                break;
            }
            observes.push(best);
        }
        Some(Core { builds, changes, observes })
    }

    /// All methods of the core.
    pub(crate) fn methods(&self) -> Vec<usize> {
        [self.builds.as_slice(), &self.changes, &self.observes].concat()
    }

    /// Why these methods: `put builds states, remove changes them, get observes them`.
    pub(crate) fn reason(&self, name: impl Fn(usize) -> String) -> String {
        let list = |methods: &[usize], verb: &str, what: &str| {
            let names: Vec<String> = methods.iter().map(|&at| name(at)).collect();
            let verb = if names.len() == 1 { format!("{verb}s") } else { verb.to_owned() };
            match names.split_last() {
                None => None,
                Some((only, [])) => Some(format!("{only} {verb} {what}")),
                Some((last, others)) => Some(format!("{} and {last} {verb} {what}", others.join(", "))),
            }
        };
        let parts = [
            list(&self.builds, "build", "states"),
            list(&self.changes, "change", "them"),
            list(&self.observes, "observe", "them"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// How many different items there are.
fn distinct<T: PartialEq>(items: &[T]) -> usize {
    (0..items.len()).filter(|&at| !items[..at].contains(&items[at])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method by whether it reads, the states that it reaches, and its answers in three states.
    fn method(reads: bool, reaches: usize, answers: [u32; 3]) -> Behaviour {
        Behaviour { reads, reaches, answers: answers.into_iter().map(|one| vec![Some(one)]).collect() }
    }

    fn check(behaviours: &[Behaviour], excluded: &[usize], expected: Option<&str>) {
        let names = ["a", "b", "c", "d", "e"];
        let core = Core::infer(behaviours, |at| !excluded.contains(&at));
        let reason = core.map(|core| core.reason(|at| names[at].to_owned()));
        assert_eq!(reason.as_deref(), expected, "{behaviours:?} without {excluded:?}");
    }

    #[test]
    fn the_core_builds_changes_and_observes_states() {
        let inventory = [
            method(true, 0, [0, 1, 2]),
            method(true, 0, [0, 0, 0]),
            method(false, 0, [3, 4, 4]),
            method(false, 2, [5, 5, 5]),
        ];
        check(&inventory, &[], Some("d and c build states, a observes them"));
        check(&inventory, &[2], Some("d builds states, a observes them"));
        check(&inventory, &[2, 3], None);
        let two = [method(false, 1, [0, 0, 0]), method(true, 0, [0, 1, 1]), method(true, 0, [0, 0, 1])];
        check(&two, &[], Some("a builds states, b and c observe them"));
    }
}
