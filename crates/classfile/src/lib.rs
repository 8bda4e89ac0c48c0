//! Reading class files, and rewriting them by inserting calls of hook methods.
//!
//! The rewriter works on raw bytes and changes as little as it can: constants are only appended, so that
//! every existing constant pool index stays valid; everything outside of method bodies is copied unchanged;
//! code is inserted before or right after an instruction and never branches, so that the class's own stack
//! maps stay valid. A method that cannot be rewritten is left unchanged and reported. Nothing here
//! depends on a running JVM, and no input makes it panic.

mod access;
mod accessors;
mod additions;
mod advice;
#[cfg(test)]
mod advice_tests;
mod annotations;
mod bytes;
mod class;
mod class_builder;
#[cfg(test)]
mod class_tests;
mod code;
mod code_builder;
mod code_writer;
mod collections;
mod constant_pool;
mod constants;
mod contents;
#[cfg(test)]
mod control_tests;
mod descriptor;
mod edits;
mod encoder;
mod error;
mod field_access;
pub mod flow;
mod flow_reader;
mod frame_reader;
mod frames;
mod guard;
pub mod hooks;
mod instruction;
mod instrument;
mod layout;
#[cfg(test)]
mod layout_tests;
pub mod literals;
mod method;
pub mod module;
mod opcodes;
mod plan;
mod points;
mod probes;
mod redundancy;
#[cfg(test)]
mod robustness_tests;
mod sources;
mod stack_effect;
#[cfg(test)]
mod stack_tests;
mod structure;
mod summary;
mod tables;
#[cfg(test)]
mod testing;

pub use access::AccessFlags;
pub use class::rewrite;
pub use class_builder::ClassBuilder;
pub use code_builder::{CodeBuilder, Label};
pub use error::ClassError;
pub use guard::{Catcher, Guarded, guard};
pub use plan::{
    AddedField, Advised, ArraySource, Call, Control, Environment, Foreign, LeftAloneMethod, LockCall,
    MethodFacts, Outcome, Place, Plan, Probe, ProbeArguments, ProbePoint, Region, ShadowField, Site,
    SiteKind, SiteTarget,
};
pub use summary::{ClassSummary, FieldSummary, read_summary};
