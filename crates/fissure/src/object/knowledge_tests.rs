//! Tests of the static effects of methods: those of a class whose method names give their effects, and those of the paper's ten
//! classes, for which the effects are built in.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use fissure_classfile::{
    AccessFlags,
    flow::{read_flow, types},
    literals::Literal,
};
use fissure_jdk::{Access, access_of};
use fissure_object::builtin;
use fissure_static::{
    ClassSource,
    comparands::comparands,
    effects::{Effect, Subject, effects},
};

use crate::locality;

/// The public methods that a class has or inherits.
fn methods(source: &mut dyn ClassSource, class: &str) -> Vec<(String, String)> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![class.to_owned()];
    while let Some(name) = waiting.pop() {
        let Some((_, bytes)) = source.find(&name).filter(|_| name != "java/lang/Object") else { continue };
        let flow = read_flow(&bytes, false).unwrap();
        for method in &flow.methods {
            let hidden = AccessFlags::STATIC | AccessFlags::SYNTHETIC;
            let is_plain = method.access.contains(AccessFlags::PUBLIC) && !method.access.intersects(hidden);
            if is_plain && !method.name.starts_with('<') {
                found.insert((method.name.clone(), method.descriptor.clone()));
            }
        }
        waiting.extend(flow.super_name.into_iter().chain(flow.interfaces));
    }
    found.into_iter().collect()
}

/// Compiles Java source into a folder.
fn compile(source: &str, name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{name}.java"));
    fs::write(&file, source).unwrap();
    let mut javac = Command::new("javac");
    javac.args(["--release", "11", "-nowarn", "-d"]).arg(folder.path()).arg(&file);
    let output = javac.output().expect("javac must be on PATH");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

#[test]
fn the_effects_of_methods_are_those_of_their_names() {
    let folder = compile(include_str!("effects/Effects.java"), "Effects");
    let mut classes = locality::open_classes(Path::new("java"), &[folder.path().to_owned()]).unwrap();
    let methods = methods(&mut classes, "Effects");
    let subject = Subject { class: "Effects".to_owned(), constructor: "()V".to_owned(), methods };
    let found = effects(&mut classes, &subject);
    let mut wrong = Vec::new();
    for ((name, _), effect) in subject.methods.iter().zip(found) {
        let is_right = match effect {
            Effect::Reads => !name.starts_with("writes") && !name.starts_with("unknown"),
            Effect::Writes(_) => name.starts_with("writes"),
            Effect::Unknown(_) => name.starts_with("unknown"),
        };
        if !is_right && !matches!(name.as_str(), "iterator" | "forEach" | "spliterator") {
            wrong.push(format!("{name}: {effect:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The public methods of one of the paper's classes that can be tested, with their effects according to its class files.
fn effects_of(known: &builtin::BuiltIn) -> Vec<(String, usize, Effect)> {
    let mut classes = locality::open_classes(Path::new("java"), &[]).unwrap();
    let class = known.class.replace('.', "/");
    let mut methods = methods(&mut classes, &class);
    methods.retain(|(name, descriptor)| {
        let parameters = types(descriptor).0;
        let is_left_out = |(entry, _): &(&str, &str)| builtin::means(entry, name, parameters.len());
        // Methods of maps whose first parameter is a long work in other threads.
        let is_parallel = known.shape == builtin::Shape::Map && parameters.first() == Some(&"J");
        !is_parallel && !builtin::LEFT_OUT.iter().any(is_left_out)
    });
    let constructor = if known.constructor.is_empty() { "()V" } else { "(I)V" };
    let subject = Subject { class, constructor: constructor.to_owned(), methods };
    let found = effects(&mut classes, &subject);
    let number = |descriptor: &str| types(descriptor).0.len();
    let pairs = subject.methods.iter().zip(found);
    pairs.map(|((name, descriptor), effect)| (name.clone(), number(descriptor), effect)).collect()
}

/// Methods that are built in as read-only, but for which class files do not prove it, because their code does write: it unlinks nodes
/// that are deleted already, registers iterators, or copies by means that the analysis cannot follow.
const NOT_PROVED: [(&str, &[&str]); 10] = [
    ("ConcurrentHashMap", &[]),
    ("ConcurrentSkipListMap", &["*"]),
    ("ConcurrentSkipListSet", &["*"]),
    ("ConcurrentLinkedQueue", &["*"]),
    (
        "LinkedTransferQueue",
        &[
            "contains",
            "containsAll",
            "isEmpty",
            "iterator",
            "spliterator",
            "stream",
            "toString",
            "peek",
            "element",
        ],
    ),
    ("LinkedBlockingQueue", &["stream"]),
    ("ArrayBlockingQueue", &["iterator", "spliterator", "stream"]),
    ("PriorityBlockingQueue", &["stream"]),
    ("LinkedBlockingDeque", &["stream"]),
    ("ConcurrentLinkedDeque", &["*"]),
];

#[test]
fn built_in_effects_agree_with_the_class_files() {
    for (known, (class, not_proved)) in builtin::CLASSES.iter().zip(NOT_PROVED) {
        assert!(known.class.ends_with(class), "{class}");
        for (name, parameters, effect) in effects_of(known) {
            let is_built_in = known.is_read_only(&name, parameters);
            if effect == Effect::Reads {
                // These are read-only, but the paper does not list them.
                let is_known = matches!(name.as_str(), "forEach" | "comparator" | "keySet");
                assert!(is_built_in || is_known, "{class}.{name}/{parameters} only reads");
            } else if is_built_in {
                let is_listed = not_proved.iter().any(|listed| *listed == "*" || *listed == name);
                assert!(is_listed, "{class}.{name}/{parameters}: {effect:?}");
            }
        }
    }
}

/// Collections whose code is analysed to check which of their methods read; the ten of the paper are checked above.
const COLLECTIONS: [&str; 12] = [
    "ArrayDeque",
    "ArrayList",
    "BitSet",
    "HashMap",
    "HashSet",
    "LinkedHashMap",
    "LinkedList",
    "PriorityQueue",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
];

/// Readers that write according to their class files: copies are not told from the original, `BitSet.clone` trims it, sub-maps cache their
/// views, and `LinkedHashMap` writes only if it was created with access order.
const WRITES_OTHERWISE: [(&str, &str); 10] = [
    ("BitSet", "clone"),
    ("HashMap", "clone"),
    ("HashSet", "clone"),
    ("LinkedHashMap", "clone"),
    ("LinkedHashMap", "get"),
    ("LinkedHashMap", "getOrDefault"),
    ("LinkedList", "clone"),
    ("TreeMap", "descendingKeySet"),
    ("TreeSet", "descendingIterator"),
    ("TreeSet", "descendingSet"),
];

/// Compares the readers that `jdk` knows with the code of collections: none of them certainly writes.
#[test]
#[allow(clippy::print_stdout, reason = "the test prints what it could not decide")]
fn jdk_knowledge_of_readers_agrees_with_the_class_files() {
    let mut classes = locality::open_classes(Path::new("java"), &[]).unwrap();
    let (mut proved, mut undecided, mut only_read) = (0, 0, Vec::new());
    let mut wrong = Vec::new();
    for simple in COLLECTIONS {
        let class = format!("java/util/{simple}");
        let methods = methods(&mut classes, &class);
        let subject = Subject { class: class.clone(), constructor: "()V".to_owned(), methods };
        let found = effects(&mut classes, &subject);
        for ((name, _), effect) in subject.methods.iter().zip(found) {
            let is_known = WRITES_OTHERWISE.contains(&(simple, name));
            match (access_of(&class, name), effect) {
                (Some(Access::Read), Effect::Reads) => proved += 1,
                (Some(Access::Read), Effect::Unknown(_)) => undecided += 1,
                (Some(Access::Read), Effect::Writes(what)) if !is_known => {
                    wrong.push(format!("{simple}.{name} reads, but writes {what}"));
                }
                // A write that does not write is a lost chance, not an error.
                (Some(Access::Write), Effect::Reads) => only_read.push(format!("{simple}.{name}")),
                _ => {}
            }
        }
    }
    println!(
        "{proved} readers are proved, {undecided} cannot be decided; these are called writers but only read: {only_read:?}"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(proved > undecided, "{proved} {undecided}");
}

/// Checks the constants that a method compares its only argument with.
fn check_comparands(folder: &Path, name: &str, expected: &[Literal]) {
    let mut classes = locality::open_classes(Path::new("java"), &[folder.to_owned()]).unwrap();
    let mut methods = methods(&mut classes, "Comparisons");
    methods.retain(|(method, _)| method == name);
    let subject = Subject { class: "Comparisons".to_owned(), methods, ..Subject::default() };
    assert_eq!(comparands(&mut classes, &subject), [vec![expected.to_vec()]], "{name}");
}

#[test]
fn constants_that_arguments_are_compared_with_are_found() {
    let folder = compile(include_str!("effects/Comparisons.java"), "Comparisons");
    let folder = folder.path();
    let number = Literal::Number;
    check_comparands(folder, "equal", &[number(42)]);
    check_comparands(folder, "less", &[number(10)]);
    check_comparands(folder, "greater", &[number(11)]);
    check_comparands(folder, "swapped", &[number(21)]);
    check_comparands(folder, "largeNumber", &[number(1_000_000)]);
    check_comparands(folder, "longNumber", &[number(5_000_000_001)]);
    check_comparands(folder, "boxed", &[number(7)]);
    check_comparands(folder, "cases", &[number(3), number(40), number(500)]);
    check_comparands(folder, "character", &[number(122)]);
    check_comparands(folder, "handedOn", &[number(77)]);
    check_comparands(folder, "words", &[Literal::Text("admin".to_owned())]);
    check_comparands(folder, "constant", &[Literal::Constant("BLACK".to_owned())]);
    check_comparands(folder, "nothing", &[]);
}
