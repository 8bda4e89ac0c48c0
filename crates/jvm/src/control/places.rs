//! What a site is to the conductor: how interesting its lock is, whether a block that should be atomic begins there, and whether
//! it is one of the two acquires that are looked for.

use fissure_classfile::{Site, SiteKind};
use fissure_model::settings::Pair;

/// Threads are not interrupted here, and the lock is of no interest.
pub(crate) const QUIET: i32 = 1;
/// A block begins here that is to be atomic.
pub(crate) const BLOCK: i32 = 2;
/// A block begins here that is to be atomic if the application called its method.
pub(crate) const LIBRARY_BLOCK: i32 = 4;
/// The acquire inside of a block that is looked for.
pub(crate) const AGAIN: i32 = 8;
/// The acquire in between that is looked for.
pub(crate) const BETWEEN: i32 = 16;
/// The site is in a class of the JDK whose locks matter, if it is the application that uses it.
pub(crate) const LIBRARY: i32 = 32;

const PUBLIC: u16 = 1;

/// Classes of the JDK whose locks matter to programs: collections and string buffers. What all others do with locks is their own
/// business.
const CONCERNING: &[&str] = &["java.lang.StringBuffer", "java.util."];
/// What is not, among them.
const UNCONCERNING: &[&str] = &[
    "java.util.Calendar",
    "java.util.concurrent.ConcurrentHashMap",
    "java.util.Currency",
    "java.util.Formatter",
    "java.util.Locale",
    "java.util.Random",
    "java.util.ResourceBundle",
    "java.util.ServiceLoader",
    "java.util.TimeZone",
    "java.util.jar.",
    "java.util.logging.",
    "java.util.prefs.",
    "java.util.spi.",
    "java.util.zip.",
];

/// What a site is, in a class with this name and of the application or not.
pub(crate) fn flags(
    site: &Site<'_>,
    class: &str,
    is_application: bool,
    is_jdk: bool,
    target: Option<&Pair>,
) -> i32 {
    let mut flags = 0;
    let begins_block = matches!(site.kind, SiteKind::Enter | SiteKind::EnterMethod | SiteKind::Block);
    // What the user asks to see is of interest.
    if !is_application && is_quiet(class, is_jdk) {
        flags |= QUIET;
    } else if begins_block && is_application {
        // What a thread does from its beginning to its end is not meant to be atomic.
        if site.kind != SiteKind::EnterMethod || site.method != "run" {
            flags |= BLOCK;
        }
    } else if begins_block && site.access & PUBLIC != 0 {
        flags |= LIBRARY_BLOCK;
    }
    if is_jdk {
        flags |= LIBRARY;
    }
    if target.is_some() {
        flags |= target_flags(&place(class, site.method, site.line.map(u32::from)), target);
    }
    flags
}

/// Whether a place is one of the two acquires that are looked for.
pub(crate) fn target_flags(place: &str, target: Option<&Pair>) -> i32 {
    let Some(target) = target else { return 0 };
    let again = if place == target.again { AGAIN } else { 0 };
    let between = if place == target.between { BETWEEN } else { 0 };
    again | between
}

/// Whether the locks of a class are of no interest.
pub(crate) fn is_quiet(class: &str, is_jdk: bool) -> bool {
    let begins = |list: &[&str]| list.iter().any(|prefix| class.starts_with(prefix));
    is_jdk && (!begins(CONCERNING) || begins(UNCONCERNING))
}

/// A place as users and other runs know it.
pub(crate) fn place(class: &str, method: &str, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{class}.{method}:{line}"),
        None => format!("{class}.{method}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, expected: bool) {
        assert_eq!(is_quiet(class, class.starts_with("java.")), expected, "{class}");
    }

    #[test]
    fn the_locks_of_collections_matter() {
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
