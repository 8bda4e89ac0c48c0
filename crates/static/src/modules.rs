//! Computes which modules of the JDK can be used by its core, that is, by the classes that have rows in the table.
//!
//! A module cannot access another that it does not require. So the core cannot instantiate, call or read classes of such a
//! module, except by reflection and through services, and module descriptors declare their services.

use fissure_classfile::module::read_module;
use rustc_hash::FxHashSet;

use crate::ClassSource;

/// Modules with classes that have rows.
const DESCRIBED: &[&str] =
    &["java.base", "java.logging", "java.management", "java.net.http", "jdk.unsupported"];

/// Prefixes of services that code with rows does not load, or whose objects it returns only as types that have rows.
///
/// The row of `getContent` already assumes that anything may happen. Security providers only supply digests and random
/// numbers to code with rows, and console providers readers and writers. The other services are loaded by code without rows.
const NOT_LOADED: &[&str] = &[
    "java/net/ContentHandlerFactory",
    "java/security/Provider",
    "java/util/spi/ToolProvider",
    "javax/management/remote/",
    "javax/security/auth/spi/",
    "jdk/internal/io/JdkConsoleProvider",
];

/// The modules of the JDK.
#[derive(Debug)]
pub(crate) struct Modules {
    /// Modules that code with a row can use: its own, the modules that these require, and providers of their services.
    pub(crate) inner: FxHashSet<String>,
    pub(crate) provides: Vec<(String, Vec<String>)>,
}

impl Modules {
    pub(crate) fn new(source: &dyn ClassSource) -> Self {
        let descriptors = source.descriptors();
        let all: Vec<_> = descriptors.iter().filter_map(|bytes| read_module(bytes).ok().flatten()).collect();
        let mut inner: FxHashSet<String> = DESCRIBED.iter().map(|&name| name.to_owned()).collect();
        loop {
            let before = inner.len();
            for module in &all {
                let is_provider = module.provides.iter().any(|(service, _)| {
                    !NOT_LOADED.iter().any(|prefix| service.starts_with(prefix))
                        && source.module(service).is_some_and(|owner| inner.contains(owner))
                });
                if is_provider || inner.contains(&module.name) {
                    inner.insert(module.name.clone());
                    inner.extend(module.requires.iter().cloned());
                }
            }
            if inner.len() == before {
                let provides = all.into_iter().flat_map(|module| module.provides).collect();
                return Modules { inner, provides };
            }
        }
    }
}
