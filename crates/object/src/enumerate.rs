//! Enumerates harnesses by rank: the number of invocations, sequences and values (Algorithm 1 of the paper).
//!
//! A rank's harnesses are numbered, and each is computed from its number alone, so that millions of them need no memory. A number whose
//! harness is left out by one of the [`Rules`] has no harness.
//!
//! Beyond the paper: with three or more sequences, one may come before all others, and one after all others.

use rustc_hash::FxHashMap;

use crate::{
    linearize::starts,
    rules::{self, Rules},
    schema::{Invocation, Schema, closure},
    spec::{Spec, Template, templates},
    value::Value,
};

/// An operation's number in its [`Alphabet`].
pub type Operation = u16;

/// The size of harnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank {
    /// How many invocations.
    pub invocations: usize,
    /// How many sequences.
    pub sequences: usize,
    /// How many different values: a harness uses exactly the numbers below it; in rank 1 it may use none.
    pub values: usize,
}

/// A harness by the numbers of its operations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Harness {
    /// The operations of each sequence.
    pub sequences: Vec<Vec<Operation>>,
    /// Which sequences end before which others begin.
    pub order: Vec<(usize, usize)>,
    /// The number of the invocation under test, counted sequence by sequence; none if the core is tested.
    pub target: Option<usize>,
}

impl Harness {
    /// The operations, sequence by sequence.
    pub fn operations(&self) -> Vec<Operation> {
        self.sequences.concat()
    }

    /// The sequences in which a method may misbehave: that of the method under test, or all if the core is tested.
    pub fn suspects(&self) -> Vec<usize> {
        match self.target {
            Some(target) => vec![self.sequence_of(target)],
            None => (0..self.sequences.len()).collect(),
        }
    }

    /// The sequence of an invocation.
    fn sequence_of(&self, invocation: usize) -> usize {
        starts(&self.lengths()).partition_point(|&start| start <= invocation) - 1
    }

    /// The invocations that may run at the same time as another one.
    pub fn concurrent(&self) -> Vec<usize> {
        let before = closure(self.sequences.len(), &self.order);
        let is_beside = |one: usize, other: usize| one != other && !before[one][other] && !before[other][one];
        let has_beside = |one: usize| (0..self.sequences.len()).any(|other| is_beside(one, other));
        let all = self.lengths().iter().sum();
        (0..all).filter(|&invocation| has_beside(self.sequence_of(invocation))).collect()
    }

    /// The lengths of the sequences.
    pub fn lengths(&self) -> Vec<usize> {
        self.sequences.iter().map(Vec::len).collect()
    }
}

/// All invocations that harnesses of a spec may contain, numbered.
#[derive(Debug, Clone)]
pub struct Alphabet {
    operations: Vec<(usize, Vec<Value>)>,
    numbers: FxHashMap<(usize, Vec<Value>), Operation>,
    names: Vec<String>,
    read_only: Vec<bool>,
    seems_read_only: Vec<bool>,
}

impl Alphabet {
    /// The invocations of all ranks up to this one.
    pub fn new(spec: &Spec, largest: Rank, rules: &Rules) -> Self {
        let fresh = rules.fresh(spec);
        let mut alphabet = Alphabet::of_names(spec);
        for (number, method) in spec.methods() {
            for template in templates(number, method, largest.values, fresh) {
                // The method under test may store two values at once, so the numbers go one beyond the invocations.
                let last = if fresh { largest.invocations as i64 } else { 0 };
                for first in 0..=last {
                    let mut next = first;
                    let arguments: Vec<Value> =
                        template.arguments.iter().map(|slot| slot.fill(&mut next)).collect();
                    alphabet.add(number, arguments);
                }
            }
        }
        alphabet
    }

    /// The invocations of the core methods with this many values, a few for each method.
    pub fn sample(spec: &Spec, values: usize, most: usize) -> Self {
        let mut alphabet = Alphabet::of_names(spec);
        for (number, method) in spec.methods() {
            let all = templates(number, method, values, false);
            // The first and the last ones, and some between them.
            let number_of = all.len().min(most);
            for at in 0..number_of {
                let chosen = if number_of == 1 { 0 } else { at * (all.len() - 1) / (number_of - 1) };
                let arguments = all[chosen].arguments.iter().map(|slot| slot.fill(&mut 0)).collect();
                alphabet.add(number, arguments);
            }
        }
        alphabet
    }

    fn of_names(spec: &Spec) -> Self {
        Alphabet {
            operations: Vec::new(),
            numbers: FxHashMap::default(),
            names: spec.methods().map(|(_, method)| method.name.clone()).collect(),
            read_only: spec.methods().map(|(_, method)| method.read_only).collect(),
            seems_read_only: spec.methods().map(|(_, method)| method.seems_read_only).collect(),
        }
    }

    /// The alphabet of the invocations of one schema, and its harness; `None` if the spec lacks a method.
    pub fn of_schema(spec: &Spec, schema: &Schema) -> Option<(Self, Harness)> {
        let mut alphabet = Alphabet::of_names(spec);
        let mut target = None;
        let mut sequences = Vec::new();
        let mut at = 0;
        for sequence in &schema.sequences {
            let mut numbers = Vec::new();
            for invocation in sequence {
                let fits = |name: &str, parameters: usize| {
                    name == invocation.method && parameters == invocation.arguments.len()
                };
                let (number, _) =
                    spec.methods().find(|(_, method)| fits(&method.name, method.parameters.len()))?;
                if number == spec.core.len() {
                    target = Some(at);
                }
                numbers.push(alphabet.add(number, invocation.arguments.clone()));
                at += 1;
            }
            sequences.push(numbers);
        }
        Some((alphabet, Harness { sequences, order: schema.order.clone(), target }))
    }

    fn add(&mut self, method: usize, arguments: Vec<Value>) -> Operation {
        let next = self.operations.len() as Operation;
        let key = (method, arguments);
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.operations.push(key);
        }
        number
    }

    /// The operations in the order of their numbers: method number and arguments.
    pub fn operations(&self) -> &[(usize, Vec<Value>)] {
        &self.operations
    }

    /// The number of an operation's method in its spec.
    pub fn method(&self, operation: Operation) -> usize {
        self.operations[usize::from(operation)].0
    }

    /// Whether an operation seems read-only.
    pub fn seems_read_only(&self, operation: Operation) -> bool {
        self.seems_read_only[self.operations[usize::from(operation)].0]
    }

    /// Whether an operation is certainly read-only.
    pub fn read_only(&self, operation: Operation) -> bool {
        self.read_only[self.operations[usize::from(operation)].0]
    }

    /// The name of an operation's method.
    pub fn method_name(&self, operation: Operation) -> &str {
        &self.names[self.operations[usize::from(operation)].0]
    }

    /// An operation with the name of its method.
    pub fn invocation(&self, operation: Operation) -> Invocation {
        let (method, arguments) = &self.operations[usize::from(operation)];
        Invocation { method: self.names[*method].clone(), arguments: arguments.clone() }
    }

    /// A harness with the names of its methods.
    pub fn schema(&self, harness: &Harness) -> Schema {
        let words = |sequence: &Vec<Operation>| sequence.iter().map(|&one| self.invocation(one)).collect();
        Schema { sequences: harness.sequences.iter().map(words).collect(), order: harness.order.clone() }
    }
}

/// The harnesses of one rank.
#[derive(Debug)]
pub struct Enumeration<'a> {
    alphabet: &'a Alphabet,
    rank: Rank,
    rules: Rules,
    core: Vec<Template>,
    method: Vec<Template>,
    blocks: Vec<Block>,
    total: usize,
}

/// Harnesses of one shape.
#[derive(Debug)]
struct Block {
    shape: Shape,
    /// The sequence and index of the method under test.
    target: Option<(usize, usize)>,
    /// The number of its first harness.
    start: usize,
    size: usize,
}

/// The lengths of sequences, and how many of them run concurrently: the first ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    lengths: Vec<usize>,
    concurrent: usize,
    order: Vec<(usize, usize)>,
}

/// The invocations of a harness before fresh values are numbered; the rules check them.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) sequences: Vec<Vec<&'a Template>>,
    /// How many of the sequences run concurrently: the first ones.
    pub(crate) concurrent: usize,
    /// The sequence of the method under test.
    pub(crate) target: Option<usize>,
}

impl<'a> Enumeration<'a> {
    /// The harnesses of this rank that the rules keep. The alphabet must be of the same spec and rules, and large enough.
    pub fn new(spec: &Spec, alphabet: &'a Alphabet, rank: Rank, rules: Rules) -> Self {
        let fresh = rules.fresh(spec);
        let mut enumeration = Enumeration {
            alphabet,
            rank,
            rules,
            core: Vec::new(),
            method: Vec::new(),
            blocks: Vec::new(),
            total: 0,
        };
        for (number, method) in spec.methods() {
            let list =
                if number == spec.core.len() { &mut enumeration.method } else { &mut enumeration.core };
            list.extend(templates(number, method, rank.values, fresh));
        }
        let under_test = spec.method.is_some();
        for shape in shapes(rank) {
            let targets: Vec<Option<(usize, usize)>> = if under_test {
                let sequences = if rules.sequence_symmetry { 1 } else { shape.concurrent };
                let positions =
                    (0..sequences).flat_map(|at| (0..shape.lengths[at]).map(move |index| (at, index)));
                positions.map(Some).collect()
            } else {
                vec![None]
            };
            for target in targets {
                let core = rank.invocations - usize::from(under_test);
                let size = enumeration.core.len().checked_pow(core as u32);
                let size = size
                    .and_then(|size| size.checked_mul(if under_test { enumeration.method.len() } else { 1 }));
                let size = size.unwrap_or(usize::MAX / 4);
                enumeration.blocks.push(Block {
                    shape: shape.clone(),
                    target,
                    start: enumeration.total,
                    size,
                });
                enumeration.total = enumeration.total.saturating_add(size);
            }
        }
        enumeration
    }

    /// How many numbers there are; not all of them have a harness.
    pub fn numbers(&self) -> usize {
        self.total
    }

    /// The harness with this number, unless a rule leaves it out.
    pub fn harness(&self, number: usize) -> Option<Harness> {
        let block =
            &self.blocks[self.blocks.partition_point(|block| block.start <= number).checked_sub(1)?];
        let mut rest = number - block.start;
        if rest >= block.size {
            return None;
        }
        let mut sequences: Vec<Vec<&Template>> = Vec::with_capacity(block.shape.lengths.len());
        for (at, &length) in block.shape.lengths.iter().enumerate() {
            let mut sequence = Vec::with_capacity(length);
            for index in 0..length {
                let list = if block.target == Some((at, index)) { &self.method } else { &self.core };
                sequence.push(&list[rest % list.len()]);
                rest /= list.len();
            }
            sequences.push(sequence);
        }
        let draft = Draft {
            sequences,
            concurrent: block.shape.concurrent,
            target: block.target.map(|(sequence, _)| sequence),
        };
        let read_only = |template: &Template| self.alphabet.read_only[template.method];
        if !uses_values(&draft, self.rank.values) || !rules::keep(&self.rules, &draft, read_only) {
            return None;
        }
        Some(self.finish(&draft, block))
    }

    /// All harnesses, in the order of their numbers.
    pub fn harnesses(&self) -> impl Iterator<Item = Harness> + '_ {
        (0..self.total).filter_map(|number| self.harness(number))
    }

    /// Gives fresh values their numbers.
    fn finish(&self, draft: &Draft<'_>, block: &Block) -> Harness {
        let mut next = 0;
        let mut number = |template: &&Template| {
            let arguments: Vec<Value> = template.arguments.iter().map(|slot| slot.fill(&mut next)).collect();
            self.alphabet.numbers[&(template.method, arguments)]
        };
        let sequences =
            draft.sequences.iter().map(|sequence| sequence.iter().map(&mut number).collect()).collect();
        let target = block.target.map(|(at, index)| block.shape.lengths[..at].iter().sum::<usize>() + index);
        Harness { sequences, order: block.shape.order.clone(), target }
    }
}

/// Whether the numbers of a harness are exactly those below `values`; a harness without numbers has rank 1.
fn uses_values(draft: &Draft<'_>, values: usize) -> bool {
    let mut used = vec![false; values];
    let mut none = true;
    for template in draft.sequences.iter().flatten() {
        for slot in &template.arguments {
            slot.numbers(&mut |_, number| {
                used[number as usize] = true;
                none = false;
            });
        }
    }
    if none { values == 1 } else { used.into_iter().all(|used| used) }
}

/// The shapes of a rank: all ways of splitting the invocations into sequences.
fn shapes(rank: Rank) -> Vec<Shape> {
    let mut all = Vec::new();
    for (initial, last) in [(false, false), (true, false), (false, true), (true, true)] {
        let apart = usize::from(initial) + usize::from(last);
        // At least two sequences must run concurrently.
        let Some(concurrent) = rank.sequences.checked_sub(apart).filter(|&concurrent| concurrent >= 2) else {
            continue;
        };
        for lengths in compositions(rank.invocations, rank.sequences) {
            let mut order = Vec::new();
            let first = initial.then_some(concurrent);
            let after = last.then_some(rank.sequences - 1);
            let others = |number: Option<usize>| (0..rank.sequences).filter(move |&one| Some(one) != number);
            order
                .extend(first.into_iter().flat_map(|first| others(Some(first)).map(move |one| (first, one))));
            order.extend(after.into_iter().flat_map(|after| {
                others(Some(after)).filter(move |&one| Some(one) != first).map(move |one| (one, after))
            }));
            all.push(Shape { lengths, concurrent, order });
        }
    }
    all
}

/// All ways of writing `sum` as so many positive numbers.
fn compositions(sum: usize, parts: usize) -> Vec<Vec<usize>> {
    if parts == 0 {
        return if sum == 0 { vec![Vec::new()] } else { Vec::new() };
    }
    let firsts = 1..(sum + 2).saturating_sub(parts);
    let extend = |first: usize| {
        compositions(sum - first, parts - 1).into_iter().map(move |mut rest| {
            rest.insert(0, first);
            rest
        })
    };
    firsts.flat_map(extend).collect()
}
