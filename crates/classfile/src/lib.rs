//! Reading class files, and rewriting them by inserting calls of hook methods.
//!
//! The rewriter works on raw bytes and changes as little as it can: constants are only appended, so that
//! every existing constant pool index stays valid; everything outside of method bodies is copied unchanged;
//! code is inserted before or right after an instruction and never branches, so that the class's own stack
//! maps stay valid. A method that cannot be rewritten is left unchanged and reported. Nothing here
//! depends on a running JVM, and no input makes it panic.

mod access;
#[cfg(test)]
mod access_tests;
mod accesses;
mod accessors;
mod additions;
mod annotations;
mod array_locals;
mod bytes;
mod class;
mod class_builder;
#[cfg(test)]
mod class_tests;
mod code;
mod code_builder;
mod code_writer;
mod collections;
mod confinement;
mod constant_pool;
mod constants;
mod contents;
mod control;
#[cfg(test)]
mod control_tests;
mod descriptor;
mod detect;
mod edits;
mod encoder;
mod environment;
mod error;
mod explore;
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
mod pass;
mod plan;
mod probes;
mod redundancy;
#[cfg(test)]
mod robustness_tests;
mod script;
#[cfg(test)]
mod script_tests;
mod sources;
mod spilling;
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
pub use control::{
    Call, Contents, Control, ControlledAccesses, ControlledCode, Region, Scheduling, VolatileRead,
};
pub use detect::{Accesses, Atomicity, Blocks, Detection, Synchronization};
pub use environment::{
    ArraySource, CodePosition, Environment, Foreign, MethodFacts, Site, SiteKind, SiteTarget,
};
pub use error::ClassError;
pub use explore::Exploration;
pub use guard::{Catcher, Guarded, guard};
pub use plan::{
    AddedField, LeftAloneMethod, Outcome, Plan, Probe, ProbeArguments, ProbePoint, Product, ShadowField,
};
pub use script::{Advice, Advised, LockCall, Script};
pub use summary::{ClassSummary, FieldSummary, read_summary};
