//! The sites of the goal, for a JVM that executes runs with different goals: classes are rewritten once, and each run marks its own sites.

use fissure_classfile::SiteKind;
use fissure_control::flags::{Aim, GOAL, QUIET, site_text};
use fissure_model::event::AccessKind;
use rustc_hash::FxHashMap;

use super::callers::LIBRARY_FRAME;
use crate::{
    agent::Agent,
    mutex::locked,
    sites::{SiteInfo, Target},
};

/// The sites of the program by their texts.
#[derive(Debug, Default)]
pub(super) struct GoalSites {
    by_text: FxHashMap<String, Vec<u32>>,
    /// The number of sites that are in the map.
    known: u32,
    /// The sites that are marked for the goal of the last run.
    marked: Vec<u32>,
}

impl GoalSites {
    /// Marks the sites that have a role in the next run, and no others.
    pub(super) fn aim_at(&mut self, agent: &Agent, aim: &Aim) {
        let code = locked(&agent.code);
        for site in self.marked.drain(..) {
            unmark(agent, site);
        }
        while (self.known as usize) < code.sites.len() {
            self.known += 1;
            let Some(info) = code.sites.get(self.known) else { continue };
            // Its class was loaded during the last run.
            unmark(agent, self.known);
            let text = site_text(&info.class, &info.method, info.line);
            self.by_text.entry(text).or_default().push(self.known);
        }
        for text in aim.sites() {
            for &site in self.by_text.get(text).map_or(&[][..], Vec::as_slice) {
                let flags = agent.offsets.get_i32(site as usize);
                let Some(info) = code.sites.get(site).filter(|info| may_be_marked(info, flags)) else {
                    continue;
                };
                let added = aim.flags(text, access(info), name(info));
                if added != 0 {
                    agent.offsets.set_i32(site as usize, flags | added);
                    self.marked.push(site);
                }
            }
        }
    }
}

fn unmark(agent: &Agent, site: u32) {
    let flags = agent.offsets.get_i32(site as usize);
    agent.offsets.set_i32(site as usize, flags & !GOAL);
}

/// Whether a site can have a role in a goal. Frames of the library that were looked up as callers cannot.
fn may_be_marked(info: &SiteInfo, flags: i32) -> bool {
    info.kind != SiteKind::Call || flags & (QUIET | LIBRARY_FRAME) == 0
}

fn access(info: &SiteInfo) -> Option<AccessKind> {
    match info.kind {
        SiteKind::Read => Some(AccessKind::Read),
        SiteKind::Write => Some(AccessKind::Write),
        _ => None,
    }
}

/// The name of the field or variable that is accessed at a site.
fn name(info: &SiteInfo) -> &str {
    match &info.target {
        Target::Field { name, .. } | Target::Local(Some(name)) => name,
        _ => "",
    }
}
