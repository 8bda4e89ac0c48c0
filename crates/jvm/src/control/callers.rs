//! The code that uses a class of the JDK, found on the stack of the current thread.

use fissure_classfile::SiteKind;
use fissure_control::{
    RawFrame,
    flags::{QUIET, goal_flags, site_text},
};
use fissure_model::ids::SiteId;
use rustc_hash::FxHashMap;

use super::{Control, State, site_flags};
use crate::{
    agent::Agent,
    mutex::locked,
    sites::{SiteInfo, Target},
    stacks,
};

/// The number of frames that are searched for a caller.
const DEPTH: usize = 24;

/// The frame is inside of `java.util.concurrent` itself, so its caller is the site of interest.
pub(super) const LIBRARY_FRAME: i32 = 1 << 8;
/// The frame is in a class that uses locks for its own bookkeeping only.
const EXECUTOR_FRAME: i32 = 1 << 9;

/// What is known about frames.
#[derive(Debug, Default)]
pub(super) struct Callers {
    /// Whether methods belong to collections, to the rest of the JDK, or to other code.
    methods: FxHashMap<usize, Origin>,
    /// The sites of frames that lead to a lock of `java.util.concurrent`; `None` for frames inside of its lock classes.
    sites: FxHashMap<(usize, i64), Option<SiteId>>,
}

/// The code that a method belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Collections,
    /// The concurrency library, and the beginning of a thread.
    Concurrency,
    Jdk,
    Elsewhere,
}

/// The code that uses a lock or an atomic of `java.util.concurrent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caller {
    /// The site outside of `java.util.concurrent`, or else the innermost one inside of it.
    pub(super) site: SiteId,
    /// Whether the lock belongs to the bookkeeping of an executor, which is not the application's business.
    pub(super) is_internal: bool,
}

impl Callers {
    /// The code that the method of a frame belongs to.
    fn origin(&mut self, agent: &Agent, raw: RawFrame) -> Origin {
        *self.methods.entry(raw.method).or_insert_with(|| {
            let class = agent.tool.method(raw.method).and_then(|(class, _)| agent.tool.class_name(class));
            let class = class.unwrap_or_default().replace('/', ".");
            let is_collection = fissure_jdk::is_collection_code(&class)
                || class.starts_with("java.lang.Fissure")
                || agent.scope.is_on_demand(&class);
            match is_collection {
                true => Origin::Collections,
                false if fissure_jdk::is_concurrency_class(&class) || class == "java.lang.Thread" => {
                    Origin::Concurrency
                }
                false if agent.scope.is_jdk(&class) => Origin::Jdk,
                false => Origin::Elsewhere,
            }
        })
    }
}

/// The innermost site of the current thread outside of the JDK.
pub(super) fn caller_of_jdk(agent: &Agent) -> Option<SiteId> {
    let control = agent.control.as_ref()?;
    let is_outside = |raw: &RawFrame| control.state().callers.origin(agent, *raw) == Origin::Elsewhere;
    agent.tool.stack(DEPTH).into_iter().find(is_outside).and_then(|raw| known_site(agent, control, raw))
}

/// Whether the JDK, and not the application, uses one of the JDK's collections now.
pub(super) fn serves_the_jdk(agent: &Agent, state: &mut State) -> bool {
    for raw in agent.tool.stack(DEPTH) {
        match state.callers.origin(agent, raw) {
            Origin::Collections => {}
            Origin::Concurrency | Origin::Jdk => return true,
            Origin::Elsewhere => return false,
        }
    }
    false
}

/// Whether the rest of the JDK, to link a call for example, uses its collections or its concurrency library now. How often it does
/// depends on what the JVM did before.
pub(super) fn is_for_the_jdk(agent: &Agent, state: &mut State) -> bool {
    let mut origins = agent.tool.stack(DEPTH).into_iter().map(|raw| state.callers.origin(agent, raw));
    let is_inside = |origin: &Origin| matches!(origin, Origin::Collections | Origin::Concurrency);
    origins.find(|origin| !is_inside(origin)) == Some(Origin::Jdk)
}

/// The code that called `java.util.concurrent` in the current thread.
pub(super) fn caller_of_library(agent: &Agent) -> Caller {
    let mut caller = Caller { site: SiteId(0), is_internal: false };
    let control = agent.controlling();
    for raw in agent.tool.stack(DEPTH) {
        let Some(site) = known_site(agent, control, raw) else { continue };
        let flags = agent.offsets.get_i32(site.0 as usize);
        if flags & LIBRARY_FRAME == 0 {
            return Caller { site, ..caller };
        }
        caller.is_internal |= flags & EXECUTOR_FRAME != 0;
        if caller.site.0 == 0 {
            caller.site = site;
        }
    }
    caller
}

/// The site of a frame, which gets a number when it is asked for first; `None` as for [`site_of`].
fn known_site(agent: &Agent, control: &Control, raw: RawFrame) -> Option<SiteId> {
    let key = (raw.method, raw.location);
    let known = control.state().callers.sites.get(&key).copied();
    known.unwrap_or_else(|| {
        let found = site_of(agent, raw);
        control.state().callers.sites.insert(key, found);
        found
    })
}

/// The site of a frame; `None` if it belongs to a lock class or `Thread`.
fn site_of(agent: &Agent, raw: RawFrame) -> Option<SiteId> {
    let frame = stacks::named(agent.tool, &[raw]).pop()?;
    if fissure_jdk::is_lock_frame(&frame.class) {
        return None;
    }
    let is_library = fissure_jdk::is_concurrency_class(&frame.class);
    let is_executor = fissure_jdk::locks_for_bookkeeping(&frame.class);
    let flags = if is_library {
        LIBRARY_FRAME | if is_executor { EXECUTOR_FRAME } else { 0 }
    } else if site_flags::is_quiet(&frame.class, agent.scope.is_jdk(&frame.class)) {
        QUIET
    } else {
        goal_flags(&site_text(&frame.class, &frame.method, frame.line), None, "", agent.goal().as_deref())
    };
    let number = locked(&agent.code).sites.caller(SiteInfo {
        class: frame.class.as_str().into(),
        method: frame.method.as_str().into(),
        file: frame.file.as_deref().map(Into::into),
        line: frame.line,
        loader: 0,
        target: Target::Unknown,
        is_element: false,
        kind: SiteKind::Call,
    });
    agent.offsets.set_i32(number as usize, flags);
    Some(SiteId(number))
}
