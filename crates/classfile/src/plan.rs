//! What the caller asks for, what it is asked, and what it gets.

/// What to insert into one class.
///
/// All names are written into the class file as they are; they must not contain NUL or characters outside of
/// the basic multilingual plane.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// Internal name of the class with the hook methods, such as `java/lang/FissureHook`.
    pub hook: &'a str,
    /// Report `monitorenter`, `monitorexit` and synchronized methods.
    pub monitors: bool,
    /// Report the entering of monitors with its site.
    pub monitor_sites: bool,
    /// Ask the environment which methods are to be atomic, and report their beginning and end.
    pub blocks: bool,
    /// Let the hooks decide when a thread goes on.
    pub control: Option<Control<'a>>,
    /// Under control, announce every access to a field that is not final and to an array element before it happens, those by
    /// variable handle and `Unsafe` included.
    pub points: bool,
    /// Report the beginning and the end of every method with code but class initializers; of a constructor what follows the
    /// call of another one.
    pub units: bool,
    /// Report the beginning of methods, those that only get something left out.
    pub entries: bool,
    /// Report calls of `Object.wait`.
    pub waits: bool,
    /// Report the copies that `Object.clone` makes.
    pub clones: bool,
    /// Report field accesses in this class's code, those by variable handle, `Unsafe` and reflection included. Also gives
    /// the class its shadow fields. Under control every single access is reported, and with nothing but its object and site.
    pub fields: bool,
    /// Report array element accesses, those by variable handle and reflection included.
    pub arrays: bool,
    /// Under control, with `fields`: tell what fields hold, and report calls of the methods of collections that may be held by one,
    /// before they are made and once they have returned.
    pub contents: bool,
    /// With `contents`: atomics are collections of what they hold, and calls of iterators are reported too.
    pub atomics: bool,
    /// Report what orders threads (under control also every look at a plain field, unless `fields` does): accesses to volatile fields (with `fields`), and monitors once they are entered
    /// (with `monitors`).
    pub synchronization: bool,
    /// Take volatile fields for fields like others (with `fields`); `synchronization` is not to be asked for then.
    pub volatiles: bool,
    /// Tell the environment which accesses stand for others.
    pub repetitions: bool,
    /// Methods whose calls are reported with their site: internal names of classes, each with names of methods.
    pub announced: &'a [(&'a str, &'a [&'a str])],
    /// Ask the environment about every point of the code what is to be reported before and after it.
    pub advice: bool,
    /// Calls that acquire and release locks of the library, by the internal names of classes; for `advice`.
    pub lock_calls: &'a [(&'a str, &'a [(&'a str, LockCall)])],
    /// Ask the environment about every access whether it is to be reported, and about every declared field whether it is followed.
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

    /// Whether the plan changes nothing, whatever the class.
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

/// What lets hooks decide when a thread goes on.
///
/// A hook is called before a monitor is entered and after it was left. For that, synchronized methods become ordinary ones
/// that enter and leave the monitor themselves; those that cannot are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control<'a> {
    /// Calls that go to the hook class instead.
    pub calls: &'a [Call<'a>],
    /// Methods during which others may wait inside of the JVM itself; class initializers always are such.
    pub regions: &'a [Region<'a>],
}

/// A call that goes to a static method of the hook class instead, which gets the receiver as its first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Internal name of the class that the code names; any if there is none.
    pub class: Option<&'a str>,
    /// The method's name.
    pub name: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The method of the hook class.
    pub hook_method: &'a str,
    /// Its descriptor.
    pub hook_descriptor: &'a str,
    /// Whether it gets the number of the site as one argument more, at the end.
    pub site: bool,
}

/// A method by its name, and by its descriptor if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The method's descriptor; any if there is none.
    pub descriptor: Option<&'a str>,
}

/// What a call does with a lock of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockCall {
    /// It acquires the lock that it is called on.
    Acquire,
    /// It does if it returns true.
    Try,
    /// It gives the lock back.
    Release,
}

/// What is to be reported of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advised {
    /// The number of the site.
    pub site: u32,
    /// Report that it is about to happen.
    pub before: bool,
    /// Report that it has happened.
    pub after: bool,
    /// Hand over the references among the values that are handed over there.
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
    pub access: u16,
}

/// A call of a hook method at one point of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The method's descriptor; any if there is none.
    pub descriptor: Option<&'a str>,
    /// Where in the method.
    pub at: ProbePoint,
    /// The method of the hook class to call.
    pub hook_method: &'a str,
    /// What to hand over.
    pub argument: ProbeArguments,
}

/// Where in a method a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePoint {
    /// Before everything else; not possible in constructors, for there is no object yet.
    Entry,
    /// Before every return instruction; a method that throws is not seen.
    Return,
}

/// What a probe hands to its hook method. Where a method is static, `this` is null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeArguments {
    /// `(Object this)V`, at entry or return.
    This,
    /// `(result, Object this)V`, at return. The result is a `Z` for boolean and the other integral types up
    /// to int, a `J` for long, an `Object` for references; no other results are possible.
    ResultAndThis,
    /// `(T)T` with the method's return type, a reference: what the hook gives back is returned instead.
    MapResult,
    /// `(Object)V` with the parameter of this place, counted from 0; it must be a reference, and at return the method
    /// must not have stored to it. A class whose frames forget their parameters is not asked for that.
    Parameter(u8),
}

/// How an access to another class's field is instrumented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// The field has a shadow. For a static field the same as [`Foreign::Resolve`].
    Shadowed,
    /// The field is volatile: the access is reported if the plan asks for synchronization.
    Volatile,
    /// The access is of no interest.
    Ignore,
    /// The hook finds out at run time.
    Resolve,
}

/// What the rewriter asks its caller.
pub trait Environment {
    /// Numbers a site. Called once for every instrumented access, in order; a method that turns out to be too
    /// large is left alone although its sites have been numbered.
    fn site(&mut self, site: Site<'_>) -> u32;

    /// Whether a plain field that the class declares is of no interest, because all accesses to it are left out. Asked once of
    /// each.
    fn leaves_field(&mut self, name: &str, descriptor: &str) -> bool {
        let _ = (name, descriptor);
        false
    }

    /// Whether an access is of no interest. Asked of each access to a field or an element of an array in the code.
    fn leaves_out(&mut self, place: &Place<'_>) -> bool {
        let _ = place;
        false
    }

    /// An access is watched, be it by itself or by another one that stands for it.
    fn keeps(&mut self, place: &Place<'_>) {
        let _ = place;
    }

    /// The access numbered `site` is bound to happen together with the one numbered `other`, which is not reported by
    /// itself; the smaller number comes first. Told if the plan asks for repetitions.
    fn stands_for(&mut self, site: u32, other: u32) {
        let _ = (site, other);
    }

    /// What is to be reported of a point: an access, a call, the execution of a method, an acquire or a release. Asked if the plan
    /// says so; what is not selected costs nothing.
    fn advise(&mut self, site: &Site<'_>) -> Option<Advised> {
        let _ = site;
        None
    }

    /// Whether an access is to be reported; what is not costs nothing. Asked if the plan is selective.
    fn is_selected(&mut self, site: &Site<'_>) -> bool {
        let _ = site;
        true
    }

    /// Whether a field that the class that is rewritten declares is followed. Asked if the plan is selective.
    fn is_followed(&mut self, field: &str, descriptor: &str, access: u16) -> bool {
        let _ = (field, descriptor, access);
        true
    }

    /// A cell number for a watched static field declared by the class that is rewritten. Called once per
    /// field.
    fn cell(&mut self, field: &str, descriptor: &str) -> u32;

    /// What is known about a field that the class that is rewritten does not declare (internal names).
    /// `class` is the one that the code names; it may inherit the field. The answer is kept while the class
    /// is rewritten.
    fn foreign(&mut self, class: &str, name: &str, descriptor: &str, is_static: bool) -> Foreign;

    /// Whether a method of the class that is rewritten is to be atomic. Asked if the plan says so, of every
    /// method with code but constructors and class initializers.
    fn is_atomic(&mut self, method: &MethodFacts<'_>) -> bool {
        method.is_annotated
    }
}

/// Where an access is in the code, before anything was inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The method with the access.
    pub method: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The place in its code.
    pub pc: u16,
    /// Whether it is an element of an array that is accessed.
    pub is_element: bool,
}

/// A method as the environment may judge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// Its access flags.
    pub access: u16,
    /// Whether it or its class has an annotation whose simple name is `Atomic`.
    pub is_annotated: bool,
    /// Whether it is the class that has it.
    pub is_class_annotated: bool,
}

/// An instrumented access, or another place with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site<'a> {
    /// Internal name of the class with the access.
    pub class: &'a str,
    /// The method with the access.
    pub method: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The method's access flags.
    pub access: u16,
    /// The line, if the class tells.
    pub line: Option<u16>,
    /// What happens there.
    pub kind: SiteKind,
    /// What is accessed.
    pub target: SiteTarget<'a>,
}

/// What happens at a site.
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
    /// A method begins that is to be atomic.
    Block,
    /// A method runs.
    Execution,
    /// A method begins, whatever it is.
    Unit,
    /// A method is called: one that a hook stands in for, that is announced, or that is asked about.
    Call,
}

/// What an instrumented access goes to.
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
    /// Nothing that could be named.
    Nothing,
    /// A method that is called.
    Method {
        /// Internal name of the class that the code names.
        class: &'a str,
        /// The method's name.
        name: &'a str,
    },
    /// A method that is called, or that acquires or releases a lock of the library.
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
    /// A field or an array element that is known once the access happens.
    Indirect {
        /// Where the object or array came from.
        source: ArraySource<'a>,
    },
}

/// Where an array reference came from, as far as a short look at the method tells. An array inside an array
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
        /// Its name, if the class tells.
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
    /// Methods that could not be rewritten, or not in all that the plan asks for.
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
