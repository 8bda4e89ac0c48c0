//! The results of a static whole-program analysis of thread-local fields, as one JSON file in the run's folder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The thread-local fields and access sites of a program, and the extent of the analysis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locality {
    /// Every class that was analysed, by its internal name.
    pub classes: BTreeMap<String, LocalClass>,
    /// The constructs for which the analysis had to assume the worst case, by kind, with their number.
    #[serde(default)]
    pub conservative: BTreeMap<String, u64>,
    /// The number of reachable methods of the program.
    #[serde(default)]
    pub methods: u64,
}

/// The thread-local fields and access sites of one class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalClass {
    /// The hash of the class file that was analysed.
    pub hash: u64,
    /// Declared fields, by name and descriptor, that only one thread can ever access in each object.
    pub fields: Vec<(String, String)>,
    /// Access sites whose object only one thread can ever access.
    pub sites: Vec<LocalSites>,
}

/// The thread-local accesses of one method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSites {
    /// The method's name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The bytecode offsets of the accesses, in ascending order.
    pub offsets: Vec<u16>,
}
