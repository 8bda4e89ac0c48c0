//! The JDK's concurrent collections of the paper: ten classes.
//!
//! Methods are given by name, or by name and number of parameters (`remove/1`) if overloads differ. Methods that are not listed are
//! treated as those of any other class. Which methods read is known to the crate `jdk`; the paper gives the same classification for
//! ConcurrentSkipListMap, except that methods with callbacks are no readers.

use fissure_jdk::Access;

use crate::spec::{Domain, Method, Role, Spec};

/// How a collection uses its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Keys, which are compared or hashed, and values, which are only stored.
    Map,
    /// Elements that are compared.
    Ordered,
    /// Elements that are only stored, and tested for equality by some methods.
    Queue,
}

/// One class.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// The class, with its package.
    pub class: &'static str,
    /// How it uses its elements.
    pub shape: Shape,
    /// The methods that are taken to be atomic.
    pub core: &'static [&'static str],
    /// The arguments of the constructor.
    pub constructor: &'static [i64],
}

/// Methods of collections that are left out although they could be called, with the reason.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("equals/1", "it compares with another object, which no harness has"),
    ("drainTo", "it changes its argument"),
    ("parallelStream", "it reads the elements in other threads"),
    ("take", "it waits until there is an element"),
    ("takeFirst", "it waits until there is an element"),
    ("takeLast", "it waits until there is an element"),
    ("transfer", "it waits for another thread"),
];

const MAP_CORE: &[&str] = &["put/2", "get/1", "remove/1", "containsKey/1"];
const SET_CORE: &[&str] = &["add/1", "remove/1", "contains/1"];
const QUEUE_CORE: &[&str] = &["offer/1", "peek/0", "poll/0"];

/// Methods that only read although the paper does not list them as readers.
const NOT_LISTED: &[&str] = &["comparator", "keySet/1"];

const fn map(class: &'static str) -> BuiltIn {
    BuiltIn { class, shape: Shape::Map, core: MAP_CORE, constructor: &[] }
}

const fn queue(class: &'static str) -> BuiltIn {
    BuiltIn { class, shape: Shape::Queue, core: QUEUE_CORE, constructor: &[] }
}

/// All built-in classes.
pub const CLASSES: &[BuiltIn] = &[
    map("java.util.concurrent.ConcurrentHashMap"),
    map("java.util.concurrent.ConcurrentSkipListMap"),
    BuiltIn {
        class: "java.util.concurrent.ConcurrentSkipListSet",
        shape: Shape::Ordered,
        core: SET_CORE,
        constructor: &[],
    },
    queue("java.util.concurrent.ConcurrentLinkedQueue"),
    queue("java.util.concurrent.LinkedTransferQueue"),
    queue("java.util.concurrent.LinkedBlockingQueue"),
    // Large enough that no harness fills it.
    BuiltIn { constructor: &[16], ..queue("java.util.concurrent.ArrayBlockingQueue") },
    BuiltIn { shape: Shape::Ordered, ..queue("java.util.concurrent.PriorityBlockingQueue") },
    queue("java.util.concurrent.LinkedBlockingDeque"),
    queue("java.util.concurrent.ConcurrentLinkedDeque"),
];

/// The entry for a class, if it is built in.
pub fn find(class: &str) -> Option<&'static BuiltIn> {
    CLASSES.iter().find(|known| known.class == class)
}

/// Whether one of the entries means the method of this name with so many parameters.
pub fn names(entries: &[&str], name: &str, parameters: usize) -> bool {
    entries.iter().any(|entry| means(entry, name, parameters))
}

/// Whether an entry (`remove` or `remove/1`) means the method of this name with so many parameters.
pub fn means(entry: &str, name: &str, parameters: usize) -> bool {
    match entry.split_once('/') {
        Some((entry, number)) => entry == name && number.parse() == Ok(parameters),
        None => entry == name,
    }
}

/// The role of the argument at this index, a number or a collection of numbers.
pub fn role(shape: Shape, method: &str, parameters: usize, index: usize) -> Role {
    match (shape, method) {
        (Shape::Ordered, _) => Role::Key,
        (Shape::Map, "containsValue" | "contains") => Role::Probe,
        (Shape::Map, "remove" | "replace") if index == 1 && (method, parameters) != ("replace", 2) => {
            Role::Probe
        }
        (Shape::Map, _) => {
            if index == 0 {
                Role::Key
            } else {
                Role::Stored
            }
        }
        (
            Shape::Queue,
            "offer" | "add" | "put" | "addAll" | "addFirst" | "addLast" | "offerFirst" | "offerLast"
            | "putFirst" | "putLast" | "push" | "tryTransfer",
        ) => Role::Stored,
        (Shape::Queue, _) => Role::Probe,
    }
}

impl BuiltIn {
    /// Whether the method of this name with so many parameters is read-only.
    pub fn is_read_only(&self, name: &str, parameters: usize) -> bool {
        let class = self.class.replace('.', "/");
        fissure_jdk::collection_use(class.as_bytes(), name.as_bytes())
            .is_some_and(|found| found.access == Access::Read && !found.walks)
            && !names(NOT_LISTED, name, parameters)
    }

    /// The spec of the paper for one of the methods in its tables, with the parameters of these methods.
    pub fn spec(&self, method: &str) -> Spec {
        let core = self.core.iter().filter_map(|entry| {
            let (name, number) = entry.split_once('/')?;
            Some(self.method(name, &vec![false; number.parse().ok()?]))
        });
        let collections: &[bool] = match method {
            "putAll" | "addAll" | "removeAll" | "retainAll" | "containsAll" => &[true],
            "contains"
            | "containsValue"
            | "remove"
            | "removeLastOccurrence"
            | "headSet"
            | "tailSet"
            | "tailMap"
            | "addFirst"
            | "offerFirst" => &[false],
            "subSet" => &[false, false],
            _ => &[],
        };
        Spec { core: core.collect(), method: Some(self.method(method, collections)) }
    }

    /// A method whose parameters are numbers or collections.
    fn method(&self, name: &str, collections: &[bool]) -> Method {
        let number = collections.len();
        let domain = |(index, &collection): (usize, &bool)| {
            let role = role(self.shape, name, number, index);
            match (collection, self.shape) {
                (true, Shape::Map) => Domain::Map { key: Role::Key, value: Role::Stored },
                (true, _) => Domain::Collection(role),
                (false, _) => Domain::Scalar(role),
            }
        };
        Method {
            name: name.to_owned(),
            parameters: collections.iter().enumerate().map(domain).collect(),
            read_only: self.is_read_only(name, number),
            seems_read_only: self.is_read_only(name, number),
        }
    }
}
