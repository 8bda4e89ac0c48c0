//! The questions that the rewriter asks its caller, and the sites that it reports to it.

use crate::access::AccessFlags;
use crate::script::Advised;

/// How an access to another class's field is instrumented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// The field has a shadow. For a static field the same as [`Foreign::Resolve`].
    Shadowed,
    /// The field is volatile: the access is reported if the pass reports synchronization.
    Volatile,
    /// The access is not reported.
    Ignore,
    /// The hook resolves the field at run time.
    Resolve,
}

/// The decisions that the rewriter leaves to its caller.
pub trait Environment {
    /// Numbers a site. Called once for every instrumented access, in order. A method that turns out to be too
    /// large is left unchanged although its sites have been numbered.
    fn site(&mut self, site: Site<'_>) -> u32;

    /// Whether a plain field that the class declares needs no instrumentation because all accesses to it are left out. Called once
    /// per field.
    fn leaves_field(&mut self, name: &str, descriptor: &str) -> bool {
        let _ = (name, descriptor);
        false
    }

    /// Whether an access is left out of instrumentation. Called for each access to a field or an array element in the code.
    fn leaves_out(&mut self, position: &CodePosition<'_>) -> bool {
        let _ = position;
        false
    }

    /// Notes that an access is instrumented, either itself or through another access that stands for it.
    fn keeps(&mut self, position: &CodePosition<'_>) {
        let _ = position;
    }

    /// Notes that the access numbered `site` always happens together with the one numbered `other`, which is not instrumented;
    /// the access with the smaller number happens first. Called if atomic blocks are checked.
    fn stands_for(&mut self, site: u32, other: u32) {
        let _ = (site, other);
    }

    /// Decides how to report a join point: an access, a call, the execution of a method, an acquire or a release. Called for
    /// monitor scripts; a point that is not selected gets no code.
    fn advise(&mut self, site: &Site<'_>) -> Option<Advised> {
        let _ = site;
        None
    }

    /// Whether to report an access; one that is not selected gets no code. Called if the pass is selective.
    fn is_selected(&mut self, site: &Site<'_>) -> bool {
        let _ = site;
        true
    }

    /// Whether a field declared by the rewritten class is followed. Called if the pass is selective.
    fn is_followed(&mut self, field: &str, descriptor: &str, access: AccessFlags) -> bool {
        let _ = (field, descriptor, access);
        true
    }

    /// Assigns a cell number to an instrumented static field declared by the rewritten class. Called once per
    /// field.
    fn cell(&mut self, field: &str, descriptor: &str) -> u32;

    /// Decides how to instrument accesses to a field that the rewritten class does not declare (internal names).
    /// `class` is the one that the code names; it may inherit the field. The answer is cached while the class
    /// is rewritten.
    fn foreign(&mut self, class: &str, name: &str, descriptor: &str, is_static: bool) -> Foreign;

    /// Whether a field that another class declares and that has a shadow is volatile (internal names).
    fn is_volatile(&mut self, class: &str, name: &str, descriptor: &str) -> bool {
        let _ = (class, name, descriptor);
        false
    }

    /// Whether a method of the rewritten class should be atomic. Called if atomic blocks are reported, for every
    /// method with code except constructors and class initializers.
    fn is_atomic(&mut self, method: &MethodFacts<'_>) -> bool {
        method.is_annotated
    }
}

/// The position of an access in the original code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodePosition<'a> {
    /// The method with the access.
    pub method: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The bytecode offset.
    pub pc: u16,
    /// Whether the access is to an array element, not to a field.
    pub is_element: bool,
}

/// The facts by which the environment decides about a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// Its access flags.
    pub access: AccessFlags,
    /// Whether it or its class has an annotation whose simple name is `Atomic`.
    pub is_annotated: bool,
    /// Whether the class has the annotation.
    pub is_class_annotated: bool,
}

/// An instrumented access or another instrumented point of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site<'a> {
    /// Internal name of the class with the access.
    pub class: &'a str,
    /// The method with the access.
    pub method: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The method's access flags.
    pub access: AccessFlags,
    /// The line, if the class has a line number table.
    pub line: Option<u16>,
    /// The kind of operation.
    pub kind: SiteKind,
    /// The accessed field, element or called method.
    pub target: SiteTarget<'a>,
}

/// The kind of operation at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    /// The target is read.
    Read,
    /// The target is written.
    Write,
    /// A synchronized block begins.
    Enter,
    /// A synchronized method begins.
    EnterMethod,
    /// A synchronized block ends.
    Exit,
    /// A synchronized method ends.
    ExitMethod,
    /// A method begins that should be atomic.
    Block,
    /// A method is executed.
    Execution,
    /// Any method begins, where units are reported.
    Unit,
    /// A method is called: one that is redirected to a hook, that is announced, or that a monitor script selects.
    Call,
}

/// The target of an instrumented access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteTarget<'a> {
    /// A field.
    Field {
        /// Internal name of the class that the code names.
        class: &'a str,
        /// The field's name.
        name: &'a str,
        /// The field's descriptor.
        descriptor: &'a str,
        /// Whether the field is static.
        is_static: bool,
    },
    /// No named target.
    Nothing,
    /// A method that is called.
    Method {
        /// Internal name of the class that the code names.
        class: &'a str,
        /// The method's name.
        name: &'a str,
    },
    /// A method that is called, or that acquires or releases a `java.util.concurrent` lock.
    Called {
        /// Internal name of the class that the code names.
        class: &'a str,
        /// The method's name.
        name: &'a str,
        /// The method's descriptor.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
    },
    /// An element of an array.
    ArrayElement {
        /// Where the array came from.
        source: ArraySource<'a>,
    },
    /// The contents of a collection.
    Contents {
        /// Where the collection came from.
        source: ArraySource<'a>,
        /// The method that is called.
        called: &'a str,
    },
    /// A field or an array element that is only known at run time.
    Indirect {
        /// Where the object or array came from.
        source: ArraySource<'a>,
    },
}

/// The origin of an array reference, as far as one pass over the method shows. An array inside an array
/// has the source of the outer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArraySource<'a> {
    /// A field.
    Field {
        /// Internal name of the class that the code names.
        class: &'a str,
        /// The field's name.
        name: &'a str,
        /// The field's descriptor.
        descriptor: &'a str,
    },
    /// A local variable or parameter.
    Local {
        /// Its name, if the class has a local variable table.
        name: Option<&'a str>,
        /// Its slot.
        slot: u16,
    },
    /// Somewhere else.
    Unknown,
}
