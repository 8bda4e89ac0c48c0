//! Finds the fields of a whole program that only one thread can ever access, from its class files alone.
//!
//! This is the analysis behind `maybeShared()` of "Racer: Effective Race Detection Using AspectJ" (Bodden and Havelund,
//! ISSTA 2008), which uses the thread-local objects analysis of "Component-Based Lock Allocation" (Halpert, Pickett and
//! Verbrugge, PACT 2007): a call graph, summaries of how data flows through methods, and the propagation of "shared" to
//! a fixed point.
//!
//! The stages and the results, one for each field and each access, are those of the papers. Deviations:
//!
//! - Unification-based alias sets (`graph`), copied from callees to callers, replace both points-to sets and summaries, in
//!   nearly linear time. After Ruf, "Effective Synchronization Removal for Java" (PLDI 2000).
//! - Threads are not classified one by one. The analysis only computes which code threads other than the first may run
//!   (`solve`). A field is shared if such code accesses it in an object that other threads may reach.
//! - The core of the JDK is not analysed but described by a table (`jdk`). JDK classes without a row in the table are
//!   analysed like a library.
//!
//! The result is sound as long as the analysed classes are those that run. If reflection, class loading, native code and the
//! like can occur, all of the program counts as reachable from any thread; their sites are counted.
//!
//! The crate is pure: it gets class files through [`ClassSource`], starts no threads and opens no files.

#[cfg(test)]
mod analysis_tests;
mod bodies;
pub mod comparands;
pub mod effects;
mod frame;
mod graph;
mod jdk;
mod modules;
mod reach;
mod solve;
mod table;
mod walk;
mod world;

use std::borrow::Cow;

use fissure_model::locality::Locality;

pub use crate::table::{TableCheck, check_modules, check_table};
use crate::{
    bodies::Bodies,
    reach::Reach,
    world::{Follow, World},
};

/// Incremented whenever results change, so that cached results of earlier versions are not used.
pub const VERSION: u32 = 4;

/// The origin of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The program and its libraries.
    Application,
    /// The JDK.
    Jdk,
}

/// The class files.
pub trait ClassSource {
    /// The class of this internal name, as the program would load it.
    fn find(&mut self, name: &str) -> Option<(Origin, Cow<'_, [u8]>)>;

    /// The internal names of all classes of the program.
    fn application(&mut self) -> Vec<String>;

    /// The JDK module that a class belongs to; `None` for other classes.
    fn module(&self, name: &str) -> Option<&str>;

    /// The descriptors of the JDK's modules.
    fn descriptors(&self) -> Vec<Vec<u8>>;
}

/// The entry points of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Internal name of the class with `main`.
    pub main: String,
    /// Internal names of classes that the JDK may instantiate by itself: services, agents, and classes named by options.
    pub made: Vec<String>,
    /// Internal names of all registered service providers; they are instantiated if the program loads services.
    pub providers: Vec<String>,
}

/// The progress of the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Computing the reachable methods.
    Reaching,
    /// The number of methods analysed so far, and of all reachable methods.
    Methods(usize, usize),
    /// Computing which objects are shared.
    Solving,
}

/// The program cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalysisError {
    /// The main class was not found or has no `main` method.
    NoMain,
}

/// Computes which fields and accesses of a program are thread-local.
pub fn analyse(
    source: &mut dyn ClassSource,
    entry: &Entry,
    progress: &mut dyn FnMut(Progress),
) -> Result<Locality, AnalysisError> {
    progress(Progress::Reaching);
    let mut world = World::new(source, Follow::Undescribed);
    let mut reach = reach_all(&mut world, entry)?;
    if reach.is_open {
        // Unknown code may call any method, so analysing code of the JDK would add nothing.
        let found = reach.conservative;
        world = World::new(source, Follow::Nothing);
        reach = reach_all(&mut world, entry)?;
        reach.keep(found);
    }
    let methods = reach.methods.clone();
    let components = solve::components(&methods, |method| reach.callees(&mut world, method));
    let mut bodies = Bodies::new(&mut world, &mut reach);
    let mut done = 0;
    for component in &components {
        bodies.analyse_component(component);
        done += component.len();
        progress(Progress::Methods(done, methods.len()));
    }
    progress(Progress::Solving);
    Ok(solve::solve(&mut bodies))
}

/// The methods that the program can reach from its entry points.
fn reach_all(world: &mut World<'_>, entry: &Entry) -> Result<Reach, AnalysisError> {
    let main = world.load(&entry.main);
    let mut roots = Vec::new();
    // `main` may be inherited; newer JVMs also accept an instance method, one without parameters or one that is not public.
    for class in world.supertypes(main).iter() {
        for descriptor in ["([Ljava/lang/String;)V", "()V"] {
            roots.extend(world.declared_named(*class, "main", descriptor));
        }
    }
    if roots.is_empty() {
        return Err(AnalysisError::NoMain);
    }
    if roots.iter().any(|&root| !world.method(root).is_static) {
        roots.extend(world.declared_named(main, "<init>", "()V"));
    }
    let exposed: Vec<_> = entry.made.iter().map(|name| world.load(name)).collect();
    Ok(Reach::new(world, &roots, &exposed, &entry.providers))
}
