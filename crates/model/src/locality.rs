//! What a static analysis of the whole program says about its fields, as one JSON file in the run's folder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The thread-local fields and access sites of a program, and what the analysis looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locality {
    /// Every class that was analysed, by its internal name.
    pub classes: BTreeMap<String, LocalClass>,
    /// What had to be taken for possibly anything, by kind, with how often it was met.
    #[serde(default)]
    pub conservative: BTreeMap<String, u64>,
    /// How many methods of the program can be reached.
    #[serde(default)]
    pub methods: u64,
}

/// What is thread-local in one class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalClass {
    /// The hash of the class file that was analysed.
    pub hash: u64,
    /// Declared fields, by name and descriptor, that only one thread can ever access in each object.
    pub fields: Vec<(String, String)>,
    /// Accesses that only one thread can ever make to what they access.
    pub sites: Vec<LocalSites>,
}

/// The thread-local accesses of one method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSites {
    /// The method's name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Where in its code, in ascending order.
    pub places: Vec<u16>,
}
