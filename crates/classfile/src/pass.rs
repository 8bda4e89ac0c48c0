//! What a pass tells the parts that all passes share.

use crate::control::Scheduling;
use crate::edits::Edit;
use crate::error::MethodError;
use crate::field_access::FieldRules;
use crate::instruction::Instruction;
use crate::instrument::Instrumenter;

/// The instrumentation for one purpose.
pub(crate) trait Pass<'a> {
    /// Whether the pass changes no class at all.
    fn is_empty(&self) -> bool {
        false
    }

    /// The reports about whole methods.
    fn reports(&self, detail: Detail) -> Reports<'a>;

    /// Which fields are followed.
    fn field_rules(&self) -> FieldRules;

    /// Instruments one instruction that does not return from the method.
    fn visit(
        &self,
        walk: &mut Instrumenter<'_, 'a>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError>;
}

/// How much of a pass is carried out in a method. A method that gets too long is tried again with less. Its locks matter most:
/// without them accesses in other methods would be judged with incomplete lock sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Everything.
    Full,
    /// Neither array elements nor the contents of collections.
    WithoutElements,
    /// No accesses and no join points.
    LocksOnly,
}

impl Detail {
    /// In the order in which they are tried, with the remark for the report.
    pub(crate) const ALL: [(Detail, &'static str); 3] = [
        (Detail::Full, ""),
        (Detail::WithoutElements, "array elements are not instrumented: "),
        (Detail::LocksOnly, "only locks are instrumented: "),
    ];
}

/// The reports about whole methods that a pass asks for, and the facts that it needs about each instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reports<'a> {
    /// Synchronized methods.
    pub(crate) monitors: bool,
    /// The sites of monitor enters.
    pub(crate) monitor_sites: bool,
    /// Methods that should be atomic.
    pub(crate) blocks: bool,
    /// Entry and exit of every method.
    pub(crate) units: bool,
    /// The entry of methods, except of constructors, class initializers and getters.
    pub(crate) entries: bool,
    /// Begin and end of class initializers.
    pub(crate) initializers: bool,
    /// The copies that `Object.clone` makes.
    pub(crate) clones: bool,
    /// The join points of the method itself.
    pub(crate) is_advised: bool,
    /// Only what the environment selects.
    pub(crate) is_selective: bool,
    /// How hooks schedule the threads, if they do.
    pub(crate) scheduling: Option<Scheduling<'a>>,
    /// The pass needs to know where a constructor may use its object.
    pub(crate) constructors: bool,
    /// The pass needs line numbers.
    pub(crate) lines: bool,
    /// The pass needs the sources of values.
    pub(crate) sources: bool,
    /// Methods remember the arrays that their loops used last.
    pub(crate) array_locals: bool,
}
