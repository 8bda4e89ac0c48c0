//! The questions that a controlled run asks about the program.

use fissure_model::{
    finding::{Finding, Frame, HeldLock, Site as FindingSite},
    ids::{SiteId, ThreadId},
};

/// A front end, as a controlled run sees it. Its methods are called at sites that the run sees for the first time, for candidates and for
/// findings; only `is_write` is called at every call of a collection.
pub trait FrontEnd {
    /// A site; `None` if the number stands for no known one.
    fn site(&self, site: SiteId) -> Option<Site>;

    /// Whether the access at a site is a write.
    fn is_write(&self, site: SiteId) -> bool;

    /// The kind of location that is accessed at a site.
    fn accessed(&self, site: SiteId) -> Accessed;

    /// The field that is read at a site, or from which the array or collection that is accessed there was read.
    fn declared_field(&self, site: SiteId) -> Declared;

    /// Whether the class of a site inherits from the class of this name, or the other way round, or is it.
    fn is_related(&self, site: SiteId, class: &str) -> bool;

    /// Whether a method of this name may be a unit of work without being declared as one: it is not the whole body of a thread or task, and
    /// no compiler added it.
    fn may_be_unit(&self, method: &str) -> bool;

    /// Whether a class is in scope.
    fn is_in_scope(&self, class: &str) -> bool;

    /// Whether a class is in scope only because the run's settings name it as thread-unsafe.
    fn is_on_demand(&self, class: &str) -> bool;

    /// Whether a class belongs to the platform's library and not to the program.
    fn is_platform(&self, class: &str) -> bool;

    /// Whether a class of the platform's library implements locks: a thread that waits inside of it is shown at the site that called it.
    fn implements_locks(&self, class: &str) -> bool;

    /// The stack of the current thread, innermost frame first.
    fn stack(&self) -> Vec<RawFrame>;

    /// The names of frames, without those of the front end itself.
    fn named(&self, stack: &[RawFrame]) -> Vec<Frame>;

    /// The stack of a thread that waits for its turn; `None` if it cannot be read.
    fn stack_of(&self, thread: ThreadId) -> Option<Vec<Frame>>;

    /// Takes a finding that this run has just executed, so that it is not lost if the run is killed.
    fn found(&self, finding: &Finding);
}

/// A frame whose names have not been looked up: a method and a position in its code, as the front end numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawFrame {
    /// The method.
    pub method: usize,
    /// The position.
    pub location: i64,
}

/// A site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The site in the code.
    pub frame: Frame,
    /// Whether a synchronized block begins here, rather than a method.
    pub is_block: bool,
    /// The field or variable that is accessed, if it has a name.
    pub variable: Option<Variable>,
    /// The method that is called, if the operation is a call.
    pub called: Option<String>,
}

/// A field or a local variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The class that the code names, for a field.
    pub class: Option<String>,
    /// The name.
    pub name: String,
}

/// A field that is accessed at some site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The class that declares it.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Whether accesses to it are synchronization.
    pub is_volatile: bool,
}

/// A field, and what distinguishes its class from others of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredField {
    /// The name space of the class: classes of one name space have different names.
    pub namespace: i64,
    /// The field.
    pub field: Field,
}

/// The kind of location that is accessed at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accessed {
    /// The access is no scheduling point: its field is final or not in scope.
    Ignored,
    /// An element of an array.
    Element,
    /// A field.
    Field(DeclaredField),
    /// A field of a class that is not loaded yet, as the code names it. The access itself loads the class.
    NotLoaded(DeclaredField),
}

/// The field that is read at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declared {
    /// No field is read there.
    NoField,
    /// The class that declares the field is not loaded yet, or not in scope.
    NotLoaded,
    /// A field, final or not.
    Field(DeclaredField),
}

/// The frame of a site.
pub(crate) fn frame(front: &dyn FrontEnd, site: SiteId) -> Frame {
    match front.site(site) {
        Some(site) => site.frame,
        // Operations of code that has no site, such as the JVM's own, are shown without one.
        None => Frame { class: "?".to_owned(), method: "?".to_owned(), file: None, line: None },
    }
}

/// The method that is called at a site, if the operation there is a call.
pub(crate) fn called(front: &dyn FrontEnd, site: SiteId) -> Option<String> {
    front.site(site).and_then(|site| site.called)
}

/// The name of a site for users and other runs.
pub(crate) fn site_text(front: &dyn FrontEnd, site: SiteId) -> String {
    let frame = frame(front, site);
    crate::flags::site_text(&frame.class, &frame.method, frame.line)
}

/// The method of a site, with its class.
pub(crate) fn method_name(front: &dyn FrontEnd, site: SiteId) -> String {
    let frame = frame(front, site);
    format!("{}.{}", frame.class, frame.method)
}

/// The stack of the current thread, with names.
pub(crate) fn current_stack(front: &dyn FrontEnd) -> Vec<Frame> {
    front.named(&front.stack())
}

/// A site of a finding. Without a stack it has one frame, the site itself.
pub(crate) fn finding_site(
    front: &dyn FrontEnd,
    role: &str,
    thread: &str,
    site: SiteId,
    mut stack: Vec<Frame>,
    lock: Option<String>,
) -> FindingSite {
    let frame = frame(front, site);
    if stack.is_empty() {
        stack.push(frame.clone());
    }
    FindingSite {
        role: role.to_owned(),
        thread: thread.to_owned(),
        class: frame.class,
        method: frame.method,
        file: frame.file,
        line: frame.line,
        stack,
        locks: lock.into_iter().map(|name| HeldLock { name, shared: false }).collect(),
    }
}
