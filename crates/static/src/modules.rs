//! Which modules of the JDK its core knows, that is, the classes that have rows in the table.
//!
//! A module does not see another that it does not require. What the core cannot name, it cannot make, call or look into, except by
//! reflection and by services, and services are what modules tell about themselves.

use fissure_classfile::module::read_module;
use rustc_hash::FxHashSet;

use crate::ClassSource;

/// Modules that have classes with rows.
const DESCRIBED: &[&str] =
    &["java.base", "java.logging", "java.management", "java.net.http", "jdk.unsupported"];

/// Services, by how their names begin, that code with rows does not ask for, or of which it gives out nothing but what its own types say.
///
/// Contents of addresses give up. Of providers of security, digests and random numbers are made; of consoles, readers and writers. The rest is
/// asked for by code without rows.
const NOT_ASKED_FOR: &[&str] = &[
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
    /// Those that code with a row knows: its own, what these require, and whoever provides services for them.
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
                    !NOT_ASKED_FOR.iter().any(|begin| service.starts_with(begin))
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
