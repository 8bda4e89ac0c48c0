//! The reductions: which harnesses need not be tried because another one of the same or a lower rank shows as much.
//!
//! Each rule has a name, can be switched off, and states the condition under which it loses no violation. All rules assume that the core
//! is atomic, which is why the core is tested first. `docs/objects.md` lists how many harnesses each leaves.

use std::cmp::Reverse;

use crate::{
    enumerate::Draft,
    spec::{Role, Slot, Spec, Template},
};

/// The rules that apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// **Sequence symmetry.** Of harnesses that differ only in the order of their sequences, one is kept: the sequence of the method under
    /// test comes first, then the longer ones, then in the order of the enumeration. Sound for every object whose behaviour does not
    /// depend on the calling thread.
    pub sequence_symmetry: bool,
    /// **Some update.** A harness without an update is left out. Sound if the methods that are taken to be read-only are.
    pub some_update: bool,
    /// **Update beside a reader.** A read-only method under test needs an update in a concurrent sequence. Sound if it is read-only:
    /// without such an update it observes a single state, and its result there is also its result in a linearization. A method under
    /// test that updates needs no other update.
    pub update_beside_reader: bool,
    /// **Fresh values.** All stored values are different. Sound if the object never compares stored values: an outcome with equal
    /// values is the image of one with different values under the map that makes them equal, and so are
    /// linearizations. It therefore applies only if no parameter is a [`Role::Probe`].
    pub fresh_values: bool,
    /// **Value symmetry.** If stored values are not fresh, only harnesses are kept in which stored and probed values first appear in
    /// ascending order. Sound if the object only tests these values for equality, because renaming them then changes nothing else. Keys
    /// are never renamed.
    pub value_symmetry: bool,
}

impl Rules {
    /// Every rule.
    pub const ALL: Rules = Rules {
        sequence_symmetry: true,
        some_update: true,
        update_beside_reader: true,
        fresh_values: true,
        value_symmetry: true,
    };

    /// No rule at all.
    pub const NONE: Rules = Rules {
        sequence_symmetry: false,
        some_update: false,
        update_beside_reader: false,
        fresh_values: false,
        value_symmetry: false,
    };

    /// Whether stored values are fresh in the harnesses of this spec.
    pub(crate) fn fresh(&self, spec: &Spec) -> bool {
        self.fresh_values && !spec.probes()
    }
}

/// Whether a harness is kept.
pub(crate) fn keep(rules: &Rules, draft: &Draft<'_>, read_only: impl Fn(&Template) -> bool) -> bool {
    let updates = |sequence: &Vec<&Template>| sequence.iter().any(|template| !read_only(template));
    if rules.some_update && !draft.sequences.iter().any(updates) {
        return false;
    }
    if rules.update_beside_reader
        && let Some(target) = draft.target
        && !reader_has_update(draft, target, &read_only)
    {
        return false;
    }
    if rules.sequence_symmetry && !sorted(draft) {
        return false;
    }
    !rules.value_symmetry || values_ascend(draft)
}

/// Whether the method under test updates, or an update runs concurrently.
fn reader_has_update(draft: &Draft<'_>, target: usize, read_only: impl Fn(&Template) -> bool) -> bool {
    // The method under test has the highest number.
    let tested = draft.sequences[target].iter().max_by_key(|template| template.method);
    let beside = draft.sequences[..draft.concurrent].iter().enumerate().filter(|(at, _)| *at != target);
    tested.is_some_and(|tested| !read_only(tested))
        || beside.flat_map(|(_, sequence)| sequence).any(|template| !read_only(template))
}

/// Whether the concurrent sequences are in their canonical order; that of the method under test is first by construction.
fn sorted(draft: &Draft<'_>) -> bool {
    let first = usize::from(draft.target.is_some());
    draft.sequences[first..draft.concurrent]
        .is_sorted_by(|one, other| (Reverse(one.len()), one) <= (Reverse(other.len()), other))
}

/// Whether stored and probed values first appear in the order 0, 1, 2 …
fn values_ascend(draft: &Draft<'_>) -> bool {
    let mut next = 0;
    let mut ascending = true;
    for slot in draft.sequences.iter().flatten().flat_map(|template| &template.arguments) {
        Slot::numbers(slot, &mut |role, number| {
            if role != Role::Key {
                ascending &= number <= next;
                next = next.max(number + 1);
            }
        });
    }
    ascending
}
