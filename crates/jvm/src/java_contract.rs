//! Tests of what Rust and Java both know: constants, native methods, hook methods, fields and layouts. Each fails if one side changes.
//!
//! The tests read the compiled classes, in which the compiler has evaluated the constants, and the sources where a layout is no constant.

use std::collections::{BTreeMap, BTreeSet};

use fissure_analysis::{
    locksets,
    word::{OWNER_BITS, SET_BITS, SITE_BITS, State},
};
use fissure_classfile::{Call, Probe, Scheduling};
use fissure_model::{
    exploration,
    finding::Frame,
    settings::{Control as Settings, Patterns},
};
use fissure_schedule::conductor::Activity;

use crate::{
    agent::COUNTED_THREADS,
    blocks,
    conducting::natives::{self as conducting, Native},
    control::{self, Control, ENDING_THREAD},
    explore::{Explorer, driver, natives::REGION, started::LEFT},
    hook::THREAD_FIELDS,
    natives,
};

macro_rules! class {
    ($name:literal) => {
        Class::read(include_bytes!(concat!("../hook/classes/java/lang/", $name, ".class")))
    };
}

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("../hook/src/java/lang/", $name, ".java"))
    };
}

/// What a class file says about constants and methods.
struct Class {
    constants: BTreeMap<String, i64>,
    /// Name and descriptor of each method, and whether it is native.
    methods: BTreeMap<(String, String), bool>,
}

const NATIVE: u16 = 0x100;

impl Class {
    fn read(bytes: &[u8]) -> Self {
        let mut reader = Reader { bytes, at: 8 };
        let pool = reader.pool();
        reader.at += 6;
        let interfaces = reader.u16();
        reader.at += 2 * usize::from(interfaces);
        let mut class = Self { constants: BTreeMap::new(), methods: BTreeMap::new() };
        for is_method in [false, true] {
            for _ in 0..reader.u16() {
                let (access, name, descriptor) = (reader.u16(), reader.u16(), reader.u16());
                let name = pool[&name].text();
                let value = reader.attributes(&pool);
                if is_method {
                    class.methods.insert((name, pool[&descriptor].text()), access & NATIVE != 0);
                } else if let Some(value) = value {
                    class.constants.insert(name, value);
                }
            }
        }
        class
    }

    fn constant(&self, name: &str) -> i64 {
        *self.constants.get(name).unwrap_or_else(|| panic!("there is no constant {name}"))
    }

    fn has(&self, name: &str, descriptor: &str) -> bool {
        self.methods.contains_key(&(name.to_owned(), descriptor.to_owned()))
    }

    /// The native methods, except the one that binds the others.
    fn natives(&self) -> BTreeSet<(String, String)> {
        let natives =
            self.methods.iter().filter(|((name, _), is_native)| **is_native && name != "initialize");
        natives.map(|(method, _)| method.clone()).collect()
    }
}

#[derive(Debug)]
enum Constant {
    Text(String),
    Number(i64),
    Other,
}

impl Constant {
    fn text(&self) -> String {
        match self {
            Constant::Text(text) => text.clone(),
            other => panic!("{other:?} is no text"),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn u16(&mut self) -> u16 {
        self.at += 2;
        u16::from_be_bytes(self.bytes[self.at - 2..self.at].try_into().unwrap())
    }

    fn u32(&mut self) -> u32 {
        self.at += 4;
        u32::from_be_bytes(self.bytes[self.at - 4..self.at].try_into().unwrap())
    }

    fn pool(&mut self) -> BTreeMap<u16, Constant> {
        let count = self.u16();
        let mut pool = BTreeMap::new();
        let mut index = 1;
        while index < count {
            self.at += 1;
            let (constant, width) = match self.bytes[self.at - 1] {
                1 => {
                    let length = usize::from(self.u16());
                    self.at += length;
                    let text = &self.bytes[self.at - length..self.at];
                    (Constant::Text(String::from_utf8_lossy(text).into_owned()), 1)
                }
                3 => (Constant::Number(i64::from(self.u32().cast_signed())), 1),
                5 => {
                    let upper = u64::from(self.u32());
                    (Constant::Number((upper << 32 | u64::from(self.u32())).cast_signed()), 2)
                }
                6 => (self.skip(8), 2),
                7 | 8 | 16 | 19 | 20 => (self.skip(2), 1),
                15 => (self.skip(3), 1),
                _ => (self.skip(4), 1),
            };
            pool.insert(index, constant);
            index += width;
        }
        pool
    }

    fn skip(&mut self, bytes: usize) -> Constant {
        self.at += bytes;
        Constant::Other
    }

    /// Skips attributes. Returns the number in a `ConstantValue`.
    fn attributes(&mut self, pool: &BTreeMap<u16, Constant>) -> Option<i64> {
        let mut value = None;
        for _ in 0..self.u16() {
            let (name, length) = (self.u16(), self.u32() as usize);
            let end = self.at + length;
            if pool[&name].text() == "ConstantValue"
                && let Constant::Number(number) = pool[&self.u16()]
            {
                value = Some(number);
            }
            self.at = end;
        }
        value
    }
}

fn check(class: &Class, expected: &[(&str, i64)]) {
    for (name, value) in expected {
        assert_eq!(class.constant(name), *value, "{name}");
    }
}

#[test]
fn shadow_words_have_one_layout() {
    let shift = |bits: u32| i64::from(bits);
    let mask = |bits: u32| (1 << bits) - 1;
    check(
        &class!("FissureEngine"),
        &[
            ("EXCLUSIVE", State::Exclusive as i64),
            ("EXCLUSIVE_MODIFIED", State::ExclusiveModified as i64),
            ("SHARED", State::Shared as i64),
            ("DONE", State::Done as i64),
            ("FOLLOWED", State::Followed as i64),
            ("QUIET", natives::QUIET as i64),
            ("SET_SHIFT", shift(SITE_BITS)),
            ("OWNER_SHIFT", shift(SITE_BITS + SET_BITS)),
            ("STATE_SHIFT", shift(SITE_BITS + SET_BITS + OWNER_BITS)),
            ("SET_MASK", mask(SET_BITS)),
            ("OWNER_MASK", mask(OWNER_BITS)),
        ],
    );
    let write_mask = !mask(SITE_BITS);
    let modified = 1 << (SITE_BITS + SET_BITS + OWNER_BITS);
    assert_eq!(State::Exclusive as i64 | 1, State::ExclusiveModified as i64, "reads ignore the lowest bit");
    check(&class!("FissureHook"), &[("WRITE_MASK", write_mask), ("READ_MASK", write_mask & !modified)]);
    check(&class!("FissureThread"), &[("SITE", mask(SITE_BITS))]);
    check(&class!("FissureHeld"), &[("SELF", i64::from(locksets::SELF))]);
}

#[test]
fn tables_outside_of_the_heap_have_one_layout() {
    check(&class!("FissureEngine"), &[("COUNTED_THREADS", COUNTED_THREADS as i64)]);
    // The hook class reads the constants by their indexes.
    let source = source!("FissureEngine");
    assert!(source.contains(&format!("new long[{}]", natives::CONSTANTS.len())));
    for (index, name) in natives::CONSTANTS.iter().enumerate() {
        assert!(source.contains(&format!("{name} = constants[{index}]")), "{name}");
    }
    // Four counters of eight bytes for each thread.
    assert!(source!("FissureRecent").contains("FissureEngine.COUNTED_THREADS - 1) << 5)"));
}

#[test]
fn logs_of_blocks_have_one_layout() {
    use blocks::{
        APPLICATION, CLASSIFIED, LIBRARY, MANIFOLD, MAY_INITIALISE, RAN, SYNCHRONIZES, WITH_READ, WITH_WRITE,
        WRITES, kind,
    };
    check(
        &class!("FissureBlocks"),
        &[
            ("ACQUIRE", kind::ACQUIRE.into()),
            ("RELEASE", kind::RELEASE.into()),
            ("ACQUIRE_AGAIN", kind::ACQUIRE_AGAIN.into()),
            ("RELEASE_AGAIN", kind::RELEASE_AGAIN.into()),
            ("WAIT", kind::WAIT.into()),
            ("START", kind::START.into()),
            ("JOIN", kind::JOIN.into()),
            ("ACCESS_SO_FAR", kind::ACCESS_SO_FAR.into()),
            ("WRITE_ONLY", kind::WRITE_ONLY.into()),
            ("SITE_BITS", SITE_BITS.into()),
            ("WRITES", WRITES),
            ("MAY_INITIALISE", MAY_INITIALISE),
            ("APPLICATION", APPLICATION.into()),
            ("LIBRARY", LIBRARY.into()),
            ("MANIFOLD", MANIFOLD.into()),
            ("RAN", RAN.into()),
            ("CLASSIFIED", CLASSIFIED.into()),
            ("SYNCHRONIZES", SYNCHRONIZES.into()),
            ("WITH_READ", WITH_READ.into()),
            ("WITH_WRITE", WITH_WRITE.into()),
        ],
    );
}

#[test]
fn the_conductor_answers_in_one_code() {
    let activity = |activity| i64::from(control::natives::activity_code(activity));
    check(
        &class!("FissureConductor"),
        &[
            ("CALLED", conducting::CALLED.into()),
            ("TIMED_OUT", conducting::TIMED_OUT.into()),
            ("INTERRUPTED", conducting::INTERRUPTED.into()),
            ("UNINTERRUPTIBLE", control::natives::UNINTERRUPTIBLE.into()),
            ("IS_INTERRUPTED", control::natives::IS_INTERRUPTED.into()),
            ("UNKNOWN", activity(Activity::Unknown)),
            ("RUNS", activity(Activity::Runs)),
            ("BLOCKED", activity(Activity::Blocked)),
            ("WAITS", activity(Activity::Waits)),
            ("WAITS_FOR_TIME", activity(Activity::WaitsForTime)),
            ("ENDED", activity(Activity::Ended)),
            ("ERRORS", control::natives::ERRORS),
        ],
    );
    check(&class!("FissureScheduled"), &[("REGION", REGION), ("LEFT", LEFT)]);
    let explorer = Class::read(include_bytes!("../../fissure/object/classes/fissure/object/Explorer.class"));
    check(
        &explorer,
        &[
            ("RUN", driver::RUN.into()),
            ("LAST", driver::LAST.into()),
            ("LAST_OF_CUT", driver::LAST_OF_CUT.into()),
        ],
    );
    assert_eq!(driver::OVER, 0, "the driver ends for any other number");
}

#[test]
fn texts_and_cells_of_controlled_runs_are_the_same() {
    let source = source!("FissureControl");
    assert!(source.contains(&format!("\"{ENDING_THREAD}\"")));
    // Number and lock of a stored release, see `Control::state`.
    assert!(source.contains("thread << 32 | lock)"));
    let (thread, lock) = control::stored_release(7 << 32 | 9).unwrap();
    assert_eq!((thread.0 + 1, lock.0), (7, 9));
    assert!(control::stored_release(0).is_none());
}

#[test]
fn the_progress_of_an_exploration_has_one_order() {
    let file = |name: &str| {
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../fissure/object/src/fissure/object/");
        std::fs::read_to_string(format!("{sources}{name}.java")).unwrap()
    };
    let (driver, explorer) = (file("Driver"), file("Explorer"));
    let array = format!("new long[{}]", exploration::NUMBERS);
    assert!(driver.contains(&format!("long[] explored = {array}")));
    assert!(explorer.contains(&format!("long[] numbers = {array}")));
    assert!(explorer.contains(&format!("return numbers[{}] != 0;", exploration::STUCK)));
    // The driver sends the numbers in the order of the array.
    assert!(driver.contains("for (long number : explored) {\n            channel.out.writeLong(number);"));
}

#[test]
fn stacks_are_lines_of_the_same_parts() {
    let source = source!("FissureThrown");
    let (_, body) = source.split_once("static void addFrames(").unwrap();
    let (body, _) = body.split_once("\n    }\n").unwrap();
    // What the method appends for a frame, with a value for each part.
    let mut line = String::new();
    for appended in body.split(".append(").skip(1) {
        line += match appended.split_once(')').map_or(appended, |(argument, _)| argument) {
            "frame.getClassName(" => "a.B",
            "frame.getMethodName(" => "m",
            "frame.getFileName(" => "B.java",
            "frame.getLineNumber(" => "7",
            r"'\t'" => "\t",
            r"'\n'" => "\n",
            other => panic!("a stack has {other} too"),
        };
    }
    let frame = |line| Frame {
        class: "a.B".to_owned(),
        method: "m".to_owned(),
        file: Some("B.java".to_owned()),
        line: Some(line),
    };
    assert_eq!(control::failure::frames(&line.repeat(2)), [frame(7), frame(7)]);
}

fn names(natives: &[Native]) -> BTreeSet<(String, String)> {
    let text = |text: &std::ffi::CStr| text.to_str().unwrap().to_owned();
    natives.iter().map(|(name, descriptor, _)| (text(name), text(descriptor))).collect()
}

#[test]
fn all_native_methods_are_bound() {
    let mut bound = names(&conducting::natives::<Control>());
    bound.extend(names(&conducting::natives::<Explorer>()));
    assert_eq!(class!("FissureConductor").natives(), bound);
    assert_eq!(class!("FissureEngine").natives(), names(&natives::natives()));
}

/// Checks that a hook class or one of its superclasses has each method to which calls go.
fn check_calls(classes: &[Class], plan: &Scheduling<'_>) {
    for call in plan.calls {
        let Call { hook_method, hook_descriptor, .. } = call;
        let has = |class: &Class| class.has(hook_method, hook_descriptor);
        assert!(classes.iter().any(has), "{call:?}");
    }
}

#[test]
fn hook_classes_have_all_methods_that_are_called() {
    let control = [
        class!("FissureControl"),
        class!("FissureConcurrent"),
        class!("FissureIterated"),
        class!("FissureInput"),
        class!("FissureClock"),
        class!("FissureScheduled"),
    ];
    check_calls(&control, &control::plan("sun/nio/ch/NioSocketImpl"));
    check_calls(&[class!("FissureExplore"), class!("FissureScheduled")], &control::plan_for_exploring());
    let settings = Settings {
        volatiles: true,
        patterns: Patterns { races: true, ..Patterns::default() },
        ..serde_json::from_str(r#"{"strategy": "random", "seed": 1, "pause": 0, "steps": 1, "depth": 3}"#)
            .unwrap()
    };
    let concurrent = |name: &str| format!("java/util/concurrent/{name}");
    let locks =
        ["locks/ReentrantLock", "locks/ReentrantReadWriteLock$ReadLock", "locks/ReentrantReadWriteLock"]
            .map(concurrent);
    let others =
        ["locks/StampedLock", "Semaphore", "CountDownLatch", "Phaser", "FutureTask", "ConcurrentHashMap"]
            .map(concurrent);
    let basic = ["java/lang/Thread", "jdk/internal/reflect/Reflection", "sun/launcher/LauncherHelper"];
    let basic = basic.map(str::to_owned);
    for class in basic.into_iter().chain(locks).chain(others) {
        let probes: Vec<Probe<'_>> = control::probes(&class, Some(&settings));
        assert!(!probes.is_empty(), "{class}");
        for probe in probes {
            let has = |class: &Class| class.methods.keys().any(|(name, _)| name == probe.hook_method);
            assert!(control.iter().any(has), "{class} {probe:?}");
        }
    }
}

#[test]
fn threads_have_the_fields_that_hook_classes_use() {
    let source = source!("Thread");
    for field in THREAD_FIELDS {
        let kind = match field.descriptor {
            "J" => "long",
            "[J" => "long[]",
            descriptor => descriptor.trim_start_matches("Ljava/lang/").trim_end_matches(';'),
        };
        assert!(source.contains(&format!("    {kind} {};", field.name)), "{}", field.name);
    }
    assert_eq!(source.lines().filter(|line| line.contains(" fissure")).count(), THREAD_FIELDS.len());
}
