//! The number of harnesses as the paper counts them: the enumeration of this repository gives the same numbers.
//!
//! The published numbers follow from the number of core invocations n, of read-only ones r and of arguments A of the
//! method under test: `A·Σₐ C(I−2,a−1)·[a·n^(a−1)(n^b−r^b) + b·n^(b−1)(n^a−r^a)]` with b = I−a. The sequence without the method under
//! test must contain an update, whatever the method under test does; both orders of the two sequences are counted, and each split
//! into lengths a and b as often as there are ways to interleave that many further invocations.

use fissure_object::{
    builtin,
    enumerate::{Alphabet, Enumeration, Harness, Rank},
    rules::Rules,
    spec::{Domain, Method, Role, Spec},
};

use super::published::rows;

/// The paper's number of harnesses with two sequences.
fn formula(invocations: u32, core: u64, read_only: u64, arguments: u64) -> u64 {
    let half = |a: u32, b: u32| u64::from(a) * core.pow(a - 1) * (core.pow(b) - read_only.pow(b));
    let cuts = (1..invocations).map(|a| {
        let b = invocations - a;
        choose(u64::from(invocations) - 2, u64::from(a) - 1) * (half(a, b) + half(b, a))
    });
    arguments * cuts.sum::<u64>()
}

/// The paper's number of harnesses for a spec with a method under test.
fn published(spec: &Spec, invocations: u32, values: u64) -> u64 {
    let all: u64 = spec.core.iter().map(|method| arguments(method, values)).sum();
    let reading = spec.core.iter().filter(|method| method.read_only);
    let reading: u64 = reading.map(|method| arguments(method, values)).sum();
    let tested = spec.method.as_ref().map_or(1, |method| arguments(method, values));
    formula(invocations, all, reading, tested)
}

/// The number of invocations of a method, as the paper counts: maps of two entries in both orders.
fn arguments(method: &Method, values: u64) -> u64 {
    let choices = |domain: &Domain| match domain {
        Domain::Scalar(Role::Key | Role::Stored | Role::Probe) => values,
        Domain::Special(numbers) => values + numbers.len() as u64,
        Domain::Collection(_) => values * values,
        Domain::Map { .. } => values * (values - 1) * values * values,
        Domain::Choice(choices) => choices.len() as u64,
    };
    method.parameters.iter().map(choices).product()
}

fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, at| product * (n - at) / (at + 1))
}

/// The spec that the paper must have used: two rows have a smaller core, and for one class no method is read-only.
fn published_spec(class: &str, method: &str) -> Spec {
    let object = builtin::find(class).unwrap();
    let mut spec = object.spec(method);
    if ["headSet", "subSet"].contains(&method) {
        spec.core.retain(|method| !method.read_only);
    }
    if class.ends_with("LinkedBlockingDeque") {
        spec.core.iter_mut().for_each(|method| method.read_only = false);
    }
    spec
}

#[test]
fn every_published_number_is_reproduced() {
    for row in rows() {
        let spec = published_spec(&row.class, &row.method);
        let count = published(&spec, row.rank.invocations as u32, row.rank.values as u64);
        assert_eq!(count, row.generated, "{} {}", row.class, row.method);
    }
}

/// The formula and the enumeration must count the same harnesses.
#[test]
fn enumerating_gives_the_published_numbers_too() {
    for (class, method, invocations, expected) in [
        ("java.util.concurrent.ConcurrentHashMap", "size", 3, 408),
        ("java.util.concurrent.ConcurrentHashMap", "size", 4, 12_192),
        ("java.util.concurrent.ConcurrentLinkedQueue", "size", 4, 894),
        ("java.util.concurrent.ConcurrentSkipListSet", "size", 5, 45_184),
    ] {
        let spec = published_spec(class, method);
        let rules = Rules { update_beside_reader: true, ..Rules::NONE };
        let mut count = 0;
        // A rank uses exactly so many values; the paper's rank uses at most so many.
        for values in 1..=2 {
            let rank = Rank { invocations, sequences: 2, values };
            let alphabet = Alphabet::new(&spec, rank, &rules);
            for harness in Enumeration::new(&spec, &alphabet, rank, rules).harnesses() {
                let a = harness.sequences[0].len() as u64;
                let renamings = renamings(&alphabet, &harness, values);
                count += choose(invocations as u64 - 2, a - 1) * renamings;
            }
        }
        assert_eq!(count, expected, "{class} {invocations}");
    }
}

/// A harness that uses only the number 0 stands also for the one that uses only 1.
fn renamings(alphabet: &Alphabet, harness: &Harness, values: usize) -> u64 {
    let operations = harness.operations();
    let uses = operations.iter().any(|&one| !alphabet.invocation(one).arguments.is_empty());
    if values == 1 && uses { 2 } else { 1 }
}
