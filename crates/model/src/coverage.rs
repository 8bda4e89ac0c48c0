//! Coverage: what was instrumented and what was not. A run that observed nothing must not look like a run that found nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A method that could not be instrumented.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftAlone {
    /// The class, with dots.
    pub class: String,
    /// The method's name, empty if the whole class could not be instrumented.
    pub method: String,
    /// The reason.
    pub reason: String,
}

/// How much a static analysis left to instrument in the loaded classes in scope.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticCoverage {
    /// Plain fields.
    pub fields: u64,
    /// Plain fields that several threads may access.
    pub fields_watched: u64,
    /// Sites that access plain fields.
    pub sites: u64,
    /// Sites whose plain field several threads may access.
    pub sites_watched: u64,
    /// Sites that access array elements.
    pub elements: u64,
    /// Sites whose array several threads may access.
    pub elements_watched: u64,
    /// Classes that were not analysed, or that have changed since.
    pub classes_unknown: u64,
    /// The constructs for which the analysis had to assume the worst case, by kind, with the number of sites.
    #[serde(default)]
    pub conservative: BTreeMap<String, u64>,
}

/// The role of the classes of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OriginKind {
    /// Classes that the user's scope names.
    Scope,
    /// The application's own classes.
    Application,
    /// Classes of a library.
    Library,
}

/// Classes that were loaded from one directory, archive or module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The directory, archive or module. Paths below the working directory are relative to it.
    pub root: String,
    /// The role of the classes.
    pub kind: OriginKind,
    /// The number of classes.
    pub classes: u64,
    /// The package that contains all of them; empty if there is none.
    pub package: String,
}

impl Origin {
    /// The number of origins that are kept; further ones are merged into one per kind.
    pub const MOST: usize = 400;
    /// The name of the merged origin.
    pub const OTHERS: &str = "other places";

    /// Sorts by the role of the classes, then by their number.
    pub fn sort(origins: &mut [Origin]) {
        origins.sort_by(|left, right| {
            let order = left.kind.cmp(&right.kind).then(right.classes.cmp(&left.classes));
            order.then_with(|| left.root.cmp(&right.root))
        });
    }
}

/// The coverage of one JVM, or of several together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// JVMs that were observed.
    pub jvms: u64,
    /// Classes that were loaded while Fissure was active.
    pub classes_loaded: u64,
    /// Classes that were instrumented, including the JDK's.
    pub classes_rewritten: u64,
    /// Classes whose fields are in scope.
    pub classes_in_scope: u64,
    /// Hidden classes (such as lambdas): the JVM never passes their code to an agent.
    pub classes_hidden: u64,
    /// Methods that were instrumented.
    pub methods_rewritten: u64,
    /// Methods or classes that could not be instrumented.
    pub methods_left_alone: u64,
    /// The names of the first of them.
    pub left_alone: Vec<LeftAlone>,
    /// Threads of the program that were observed.
    pub threads: u64,
    /// Threads that accessed at least one instrumented location.
    pub threads_accessing: u64,
    /// Threads that executed methods of the classes in scope; counting stops at two. `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_in_scope: Option<u64>,
    /// Field and array access sites in the instrumented code.
    pub access_sites: u64,
    /// Lock acquires.
    pub lock_operations: u64,
    /// Memory locations that were accessed (a field of an object, a static field, an array element).
    pub locations: u64,
    /// Accesses that the in-process filter passed to the analysis.
    pub accesses_analysed: u64,
    /// Sites of blocks that should be atomic and were executed.
    #[serde(default)]
    pub atomic_blocks: u64,
    /// Executions of these blocks.
    #[serde(default)]
    pub block_executions: u64,
    /// Blocks that were atomic in each execution.
    #[serde(default)]
    pub always_atomic: u64,
    /// How much a static analysis left to instrument, if there was one.
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    pub locality: Option<StaticCoverage>,
    /// The origins of the classes outside of the JDK, and their roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    /// Other limits on what the result means, by reason, with a count.
    pub limits: BTreeMap<String, u64>,
}

impl Coverage {
    /// The end of every reason of a limit that makes a run without findings meaningless: a table of fixed size overflowed.
    pub const OVERFLOW: &str = "beyond the number that can be told apart";

    /// How many names of methods that could not be instrumented are kept.
    pub const NAMED: usize = 100;

    /// Adds another JVM's coverage to this one.
    pub fn add(&mut self, other: &Coverage) {
        self.jvms += other.jvms;
        self.classes_loaded += other.classes_loaded;
        self.classes_rewritten += other.classes_rewritten;
        self.classes_in_scope += other.classes_in_scope;
        self.classes_hidden += other.classes_hidden;
        self.methods_rewritten += other.methods_rewritten;
        self.methods_left_alone += other.methods_left_alone;
        for left in &other.left_alone {
            if self.left_alone.len() < Self::NAMED && !self.left_alone.contains(left) {
                self.left_alone.push(left.clone());
            }
        }
        self.threads += other.threads;
        self.threads_accessing += other.threads_accessing;
        // Threads of different JVMs share no memory, so their numbers are not added.
        self.threads_in_scope = self.threads_in_scope.max(other.threads_in_scope);
        self.access_sites += other.access_sites;
        self.lock_operations += other.lock_operations;
        self.locations += other.locations;
        self.accesses_analysed += other.accesses_analysed;
        self.atomic_blocks += other.atomic_blocks;
        self.block_executions += other.block_executions;
        self.always_atomic += other.always_atomic;
        if let Some(other) = &other.locality {
            let locality = self.locality.get_or_insert_default();
            locality.fields += other.fields;
            locality.fields_watched += other.fields_watched;
            locality.sites += other.sites;
            locality.sites_watched += other.sites_watched;
            locality.elements += other.elements;
            locality.elements_watched += other.elements_watched;
            locality.classes_unknown += other.classes_unknown;
            for (kind, count) in &other.conservative {
                *locality.conservative.entry(kind.clone()).or_default() += count;
            }
        }
        self.add_origins(&other.origins);
        for (reason, count) in &other.limits {
            *self.limits.entry(reason.clone()).or_default() += count;
        }
    }

    /// Adds the classes of other JVMs to those from the same origins.
    fn add_origins(&mut self, others: &[Origin]) {
        for other in others {
            let is_same = |known: &&mut Origin| known.root == other.root && known.kind == other.kind;
            if let Some(known) = self.origins.iter_mut().find(is_same) {
                known.classes += other.classes;
                known.package = common_package(&known.package, &other.package).to_owned();
            } else if self.origins.len() < Origin::MOST {
                self.origins.push(other.clone());
            } else {
                let is_rest = |known: &Origin| known.root == Origin::OTHERS && known.kind == other.kind;
                match self.origins.iter_mut().find(|known| is_rest(known)) {
                    Some(rest) => rest.classes += other.classes,
                    None => self.origins.push(Origin {
                        root: Origin::OTHERS.to_owned(),
                        package: String::new(),
                        ..other.clone()
                    }),
                }
            }
        }
        Origin::sort(&mut self.origins);
    }
}

/// The innermost package that contains both of these packages, or equals them.
fn common_package<'a>(left: &'a str, right: &str) -> &'a str {
    let mut common = left;
    while !common.is_empty() {
        let rest = right.strip_prefix(common);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            break;
        }
        common = common.rsplit_once('.').map_or("", |(above, _)| above);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(root: &str, kind: OriginKind, classes: u64, package: &str) -> Origin {
        Origin { root: root.to_owned(), kind, classes, package: package.to_owned() }
    }

    #[test]
    fn classes_of_several_jvms_are_added_by_their_origin() {
        let own = |classes, package| origin("target/classes", OriginKind::Application, classes, package);
        let library = |classes| origin("pool.jar", OriginKind::Library, classes, "org.pool");
        let mut sum = Coverage { origins: vec![own(2, "com.acme.bank"), library(9)], ..Coverage::default() };
        sum.add(&Coverage { origins: vec![own(3, "com.acme.shop")], ..Coverage::default() });
        assert_eq!(sum.origins, [own(5, "com.acme"), library(9)]);
        let many = (0..1000).map(|number| origin(&format!("{number}.jar"), OriginKind::Library, 1, "x"));
        sum.add(&Coverage { origins: many.collect(), ..Coverage::default() });
        assert!(sum.origins.len() <= Origin::MOST + OriginKind::Library as usize);
        assert_eq!(sum.origins.iter().map(|origin| origin.classes).sum::<u64>(), 1014);
    }

    #[test]
    fn packages_have_a_common_part() {
        assert_eq!(common_package("com.acme.bank", "com.acme.shop"), "com.acme");
        assert_eq!(common_package("com.acme", "com.acmeother"), "com");
        assert_eq!(common_package("com.acme", "org"), "");
    }
}
