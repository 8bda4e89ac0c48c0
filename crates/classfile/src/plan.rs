//! The rewriter's interface: the caller's plan, the questions that the rewriter asks its environment, and the outcome.

use crate::access::AccessFlags;

/// The instrumentation to insert into one class.
///
/// All names are written into the class file as they are; they must not contain NUL or characters outside of
/// the basic multilingual plane.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// Internal name of the class with the hook methods, such as `java/lang/FissureHook`.
    pub hook: &'a str,
    /// Report `monitorenter`, `monitorexit` and synchronized methods.
    pub monitors: bool,
    /// Report the site of each monitor enter.
    pub monitor_sites: bool,
    /// Ask the environment which methods should be atomic, and report their entry and exit.
    pub blocks: bool,
    /// Let the hooks schedule the threads.
    pub control: Option<Control<'a>>,
    /// Under control, report every access to a field that is not known to be final, or to an array element, before it happens,
    /// including accesses by variable handle and `Unsafe`.
    pub points: bool,
    /// Report entry and exit of every method with code except class initializers. A constructor counts as entered once its call
    /// of another constructor has returned.
    pub units: bool,
    /// Report the entry of methods, except of constructors, class initializers and getters.
    pub entries: bool,
    /// Report calls of `Object.wait`.
    pub waits: bool,
    /// Report the copies that `Object.clone` makes.
    pub clones: bool,
    /// Report field accesses in this class's code, including those by variable handle, `Unsafe` and reflection, and add the
    /// shadow fields to the class. Under control every single access is reported, with only its object and site.
    pub fields: bool,
    /// Report array element accesses, including those by variable handle and reflection.
    pub arrays: bool,
    /// Under control, with `fields`: report the collections and arrays that fields refer to, and report each call of a collection's
    /// method before the call and after it has returned.
    pub contents: bool,
    /// With `contents`: treat atomics as collections of the values that they hold, and report calls on iterators too.
    pub atomics: bool,
    /// Report synchronization: accesses to volatile fields (with `fields`), and monitors after they have been entered (with
    /// `monitors`). Under control this also reports every read of a plain field, unless `fields` does.
    pub synchronization: bool,
    /// Treat volatile fields like plain ones (with `fields`); must not be combined with `synchronization`.
    pub volatiles: bool,
    /// Report to the environment which accesses stand for others.
    pub repetitions: bool,
    /// Methods whose calls are reported with their site: internal names of classes, each with the names of its methods.
    pub announced: &'a [(&'a str, &'a [&'a str])],
    /// Ask the environment for every join point of the code whether to report it, before and after it happens.
    pub advice: bool,
    /// Calls that acquire and release `java.util.concurrent` locks, by the internal names of classes; for `advice`.
    pub lock_calls: &'a [(&'a str, &'a [(&'a str, LockCall)])],
    /// Ask the environment for every access whether to report it, and for every declared field whether it is followed.
    pub selective: bool,
    /// Fields to append to the class. One that the class already has is skipped.
    pub added_fields: &'a [AddedField<'a>],
    /// Calls at entry or return of named methods of this class.
    pub probes: &'a [Probe<'a>],
}

impl<'a> Plan<'a> {
    /// A plan that changes nothing.
    pub fn empty(hook: &'a str) -> Self {
        Self {
            hook,
            monitors: false,
            monitor_sites: false,
            blocks: false,
            control: None,
            points: false,
            units: false,
            entries: false,
            waits: false,
            clones: false,
            fields: false,
            arrays: false,
            contents: false,
            atomics: false,
            synchronization: false,
            volatiles: false,
            repetitions: false,
            announced: &[],
            advice: false,
            lock_calls: &[],
            selective: false,
            added_fields: &[],
            probes: &[],
        }
    }

    /// Whether the plan changes no class at all.
    pub fn is_empty(&self) -> bool {
        let has_accesses = self.fields || self.arrays || self.advice;
        let has_events = self.monitors || self.waits || self.clones || self.entries;
        !(has_events || has_accesses || self.blocks || self.units)
            && self.control.is_none()
            && self.announced.is_empty()
            && self.added_fields.is_empty()
            && self.probes.is_empty()
    }
}

/// The instrumentation that lets hooks schedule the threads.
///
/// A hook is called before a monitor is entered and after it was exited. For that, synchronized methods become ordinary methods
/// that enter and exit the monitor with explicit instructions; methods for which that is impossible are listed in
/// [`Outcome::left_alone`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control<'a> {
    /// Calls that are redirected to the hook class.
    pub calls: &'a [Call<'a>],
    /// Methods during which other threads may block inside the JVM; class initializers always count as regions.
    pub regions: &'a [Region<'a>],
}

/// A call that is redirected to a static method of the hook class, which gets the receiver as its first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Internal name of the class that the code names; `None` for any class.
    pub class: Option<&'a str>,
    /// The method's name.
    pub name: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The method of the hook class.
    pub hook_method: &'a str,
    /// Its descriptor.
    pub hook_descriptor: &'a str,
    /// Whether the hook method gets the number of the site as an additional last argument.
    pub site: bool,
}

/// A method by its name and, if given, its descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The method's descriptor; `None` for any.
    pub descriptor: Option<&'a str>,
}

/// The effect of a call on a `java.util.concurrent` lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockCall {
    /// It acquires its receiver.
    Acquire,
    /// It acquires its receiver if it returns true.
    Try,
    /// It releases its receiver.
    Release,
}

/// The report that the environment wants of a join point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advised {
    /// The number of the site.
    pub site: u32,
    /// Report the point before it happens.
    pub before: bool,
    /// Report the point after it has happened.
    pub after: bool,
    /// Pass the references among the arguments or the written value to the hook.
    pub arguments: bool,
}

/// A field to append to the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedField<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// Its access flags.
    pub access: AccessFlags,
}

/// A call of a hook method at one point of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The method's descriptor; `None` for any.
    pub descriptor: Option<&'a str>,
    /// Where in the method.
    pub at: ProbePoint,
    /// The method of the hook class to call.
    pub hook_method: &'a str,
    /// The arguments to pass.
    pub argument: ProbeArguments,
}

/// Where in a method a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePoint {
    /// Before the first instruction; impossible in constructors, where `this` is still uninitialized.
    Entry,
    /// Before every return instruction; a method that throws is not reported.
    Return,
}

/// The arguments that a probe passes to its hook method. `this` is null in static methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeArguments {
    /// `(Object this)V`, at entry or return.
    This,
    /// `(result, Object this)V`, at return. The result is a `Z` for boolean and the other integral types up
    /// to int, a `J` for long, an `Object` for references; no other results are possible.
    ResultAndThis,
    /// `(T)T` with the method's return type, a reference: the method returns the hook's result instead of its own.
    MapResult,
    /// `(Object)V` with the parameter of this index, counted from 0. It must be a reference, and for a probe at return the method
    /// must not store to it. Stack map frames are not checked: callers must not use this with methods whose frames drop their
    /// parameters.
    Parameter(u8),
}

/// How an access to another class's field is instrumented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// The field has a shadow. For a static field the same as [`Foreign::Resolve`].
    Shadowed,
    /// The field is volatile: the access is reported if the plan asks for synchronization.
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
    fn leaves_out(&mut self, place: &Place<'_>) -> bool {
        let _ = place;
        false
    }

    /// Notes that an access is instrumented, either itself or through another access that stands for it.
    fn keeps(&mut self, place: &Place<'_>) {
        let _ = place;
    }

    /// Notes that the access numbered `site` always happens together with the one numbered `other`, which is not instrumented;
    /// the access with the smaller number happens first. Called if the plan has `repetitions`.
    fn stands_for(&mut self, site: u32, other: u32) {
        let _ = (site, other);
    }

    /// Decides how to report a join point: an access, a call, the execution of a method, an acquire or a release. Called if the plan
    /// has `advice`; a point that is not selected gets no code.
    fn advise(&mut self, site: &Site<'_>) -> Option<Advised> {
        let _ = site;
        None
    }

    /// Whether to report an access; one that is not selected gets no code. Called if the plan is selective.
    fn is_selected(&mut self, site: &Site<'_>) -> bool {
        let _ = site;
        true
    }

    /// Whether a field declared by the rewritten class is followed. Called if the plan is selective.
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

    /// Whether a method of the rewritten class should be atomic. Called if the plan has `blocks`, for every
    /// method with code except constructors and class initializers.
    fn is_atomic(&mut self, method: &MethodFacts<'_>) -> bool {
        method.is_annotated
    }
}

/// The position of an access in the original code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
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
    /// Any method begins (`units`).
    Unit,
    /// A method is called: one that is redirected to a hook, that is listed in `announced`, or that `advice` selects.
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

/// A rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The class file.
    pub bytes: Vec<u8>,
    /// How many methods got new code.
    pub methods_rewritten: u32,
    /// Methods that could not be rewritten, or only in part.
    pub left_alone: Vec<LeftAloneMethod>,
    /// The shadow fields that the class got.
    pub shadows: Vec<ShadowField>,
}

/// A method that could not be rewritten as the plan asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAloneMethod {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Why, as a sentence without its full stop.
    pub reason: String,
}

/// A shadow field that a class got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowField {
    /// The name of the original and of the shadow.
    pub name: String,
    /// The descriptor of the original.
    pub descriptor: String,
    /// The descriptor of the shadow.
    pub shadow_descriptor: &'static str,
}
