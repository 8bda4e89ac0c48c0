//! The flags of a site of a class file for the conductor (see [`fissure_control::flags`]), and the JDK classes whose locks are relevant.

use fissure_classfile::{AccessFlags, ArraySource, Site, SiteKind, SiteTarget};
use fissure_control::flags::{Aim, BLOCK, LIBRARY, LIBRARY_BLOCK, QUIET, site_text};
use fissure_model::event::AccessKind;

/// The flags of a site in the class of this name. `has_blocks` says whether blocks of a class outside of the application count if the
/// application calls them.
pub(crate) fn flags(
    site: &Site<'_>,
    class: &str,
    is_application: bool,
    is_jdk: bool,
    has_blocks: bool,
    aim: &Aim,
) -> i32 {
    let mut flags = 0;
    let begins_block = matches!(site.kind, SiteKind::Enter | SiteKind::EnterMethod | SiteKind::Block);
    // Sites in scope are relevant even in JDK classes.
    if !is_application && is_quiet(class, is_jdk) {
        flags |= QUIET;
    } else if begins_block && is_application {
        // A thread's `run` method spans its whole life and is not meant to be atomic.
        if site.kind != SiteKind::EnterMethod || site.method != "run" {
            flags |= BLOCK;
        }
    } else if begins_block && has_blocks && site.access.contains(AccessFlags::PUBLIC) {
        flags |= LIBRARY_BLOCK;
    }
    if is_jdk {
        flags |= LIBRARY;
    }
    if !aim.is_empty() {
        let text = site_text(class, site.method, site.line.map(u32::from));
        let access = match site.kind {
            SiteKind::Read => Some(AccessKind::Read),
            SiteKind::Write => Some(AccessKind::Write),
            _ => None,
        };
        flags |= aim.flags(&text, access, name(&site.target));
    }
    flags
}

/// The name of the field or variable that is accessed at a site.
fn name<'a>(target: &SiteTarget<'a>) -> &'a str {
    match target {
        SiteTarget::Field { name, .. } => name,
        SiteTarget::ArrayElement { source } | SiteTarget::Contents { source, .. } => match source {
            ArraySource::Field { name, .. } => name,
            ArraySource::Local { name, .. } => name.unwrap_or_default(),
            ArraySource::Unknown => "",
        },
        _ => "",
    }
}

/// Whether the locks of a class are internal to the JDK.
pub(crate) fn is_quiet(class: &str, is_jdk: bool) -> bool {
    is_jdk && fissure_jdk::is_internal_lock(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, expected: bool) {
        assert_eq!(is_quiet(class, class.starts_with("java.")), expected, "{class}");
    }

    #[test]
    fn locks_of_collections_are_relevant() {
        check("java.util.Vector", false);
        check("java.util.Collections$SynchronizedMap", false);
        check("java.lang.StringBuffer", false);
        check("java.util.concurrent.CopyOnWriteArrayList", false);
        check("java.util.concurrent.ConcurrentHashMap", true);
        check("com.acme.Account", false);
        check("java.io.PrintStream", true);
        check("java.lang.ClassLoader", true);
        check("java.util.logging.Logger", true);
    }
}
