//! Computes which modules of the JDK can be used by its core, that is, by the classes that have rows in the table.
//!
//! A module cannot access another that it does not require. So the core cannot instantiate, call or read classes of such a
//! module, except by reflection and through services, and module descriptors declare their services.

use fissure_classfile::module::read_module;
use rustc_hash::FxHashSet;

use crate::ClassSource;

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
        let mut inner: FxHashSet<String> = fissure_jdk::described_modules().map(str::to_owned).collect();
        loop {
            let before = inner.len();
            for module in &all {
                let is_provider = module.provides.iter().any(|(service, _)| {
                    !fissure_jdk::is_not_loaded(service)
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
