//! The rewriter's interface: the caller's plan and the outcome.

use crate::access::AccessFlags;
use crate::control::Control;
use crate::detect::Detection;
use crate::explore::Exploration;
use crate::pass::Pass;
use crate::script::Script;

/// The instrumentation to insert into one class.
///
/// All names are written into the class file as they are; they must not contain NUL or characters outside of
/// the basic multilingual plane.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// Internal name of the class with the hook methods, such as `java/lang/FissureHook`.
    pub hook: &'a str,
    /// What the instrumentation is for.
    pub product: Product<'a>,
    /// Fields to append to the class. One that the class already has is skipped.
    pub added_fields: &'a [AddedField<'a>],
    /// Calls at entry or return of named methods of this class.
    pub probes: &'a [Probe<'a>],
}

impl<'a> Plan<'a> {
    /// A plan without probes and additional fields.
    pub fn new(hook: &'a str, product: Product<'a>) -> Self {
        Self { hook, product, added_fields: &[], probes: &[] }
    }

    /// Whether the plan changes no class at all.
    pub fn is_empty(&self) -> bool {
        self.product.pass().is_empty() && self.added_fields.is_empty() && self.probes.is_empty()
    }
}

/// What instrumentation is for. Each purpose has a pass of its own over the instructions.
#[derive(Debug, Clone, Copy)]
pub enum Product<'a> {
    /// To observe locks and accesses.
    Detect(Detection<'a>),
    /// To schedule the threads of a program.
    Control(Control<'a>),
    /// To schedule the threads of a harness.
    Explore(Exploration<'a>),
    /// To report join points to a monitor script.
    Script(Script<'a>),
}

impl<'a> Product<'a> {
    pub(crate) fn pass(&self) -> &dyn Pass<'a> {
        match self {
            Product::Detect(detection) => detection,
            Product::Control(control) => control,
            Product::Explore(exploration) => exploration,
            Product::Script(script) => script,
        }
    }
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
