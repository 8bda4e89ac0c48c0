//! Stacks, kept as the JVM tells them and turned into names only for what is reported.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use fissure_model::finding::Frame;

use crate::{
    hook::PREFIX,
    vm::{RawFrame, Tool},
};

/// How many frames are looked at.
const DEPTH: usize = 64;
/// How many stacks are kept; a report on an access beyond that shows the access alone.
const MOST_SAMPLES: usize = 200_000;

/// Stacks by thread and site.
type Stacks = FxHashMap<(u32, u32), Box<[RawFrame]>>;

/// One stack for each site that each thread passed.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    stacks: Mutex<Stacks>,
}

impl Samples {
    /// Keeps the current thread's stack for a site, unless there is one.
    pub(crate) fn take(&self, tool: Tool, thread: u32, site: u32) {
        let stack = tool.stack(DEPTH).into_boxed_slice();
        let mut stacks = self.stacks.lock().unwrap_or_else(PoisonError::into_inner);
        if stacks.len() < MOST_SAMPLES {
            stacks.entry((thread, site)).or_insert(stack);
        }
    }

    /// The stack of a thread at a site, by names.
    pub(crate) fn frames(&self, tool: Tool, thread: u32, site: u32) -> Vec<Frame> {
        let stack = {
            let stacks = self.stacks.lock().unwrap_or_else(PoisonError::into_inner);
            stacks.get(&(thread, site)).cloned()
        };
        stack.map_or_else(Vec::new, |stack| named(tool, &stack))
    }
}

/// The current thread's stack, by names.
pub(crate) fn current(tool: Tool) -> Vec<Frame> {
    named(tool, &tool.stack(DEPTH))
}

fn named(tool: Tool, stack: &[RawFrame]) -> Vec<Frame> {
    stack
        .iter()
        .filter_map(|&raw| {
            let (class, method) = tool.method(raw.method)?;
            let name = tool.class_name(class)?;
            if name.starts_with(PREFIX) {
                return None;
            }
            Some(Frame {
                class: name.replace('/', "."),
                method,
                file: tool.source_file(class),
                line: tool.line(raw),
            })
        })
        .collect()
}
