//! Which fields of a whole program only one thread can ever touch, from its class files alone.
//!
//! This is the analysis behind `maybeShared()` of "Racer: Effective Race Detection Using AspectJ" (Bodden and Havelund,
//! ISSTA 2008), which uses the thread-local objects analysis of "Component-Based Lock Allocation" (Halpert, Pickett and
//! Verbrugge, PACT 2007): a call graph, summaries of how data flows through methods, and the spreading of "shared" to a
//! fixed point.
//!
//! What is kept: the question, the stages and the answer for each field and each access. Where it differs:
//!
//! - Alias sets by unification (`graph`), copied from callees to callers, stand for points-to sets and summaries at once, in
//!   time that is nearly linear. After Ruf, "Effective Synchronization Removal for Java" (PLDI 2000).
//! - There is no thread by thread classification, but one question: which code may other threads than the first run
//!   (`solve`)? A field is shared if such code accesses it in an object that other threads may know of.
//! - The core of the JDK is not analysed but described (`jdk`). What the description does not name is analysed like a library.
//!
//! The result is sound as long as the classes that were analysed are those that run. Reflection, class loading, native code
//! and the like make everything of the program reachable for anybody; they are counted.
//!
//! Pure: class files come through [`ClassSource`], and nothing here makes a thread or touches a file.

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

/// Changes whenever results do, so that remembered ones are not taken for new ones.
pub const VERSION: u32 = 4;

/// Where a class is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The program, its libraries included.
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

    /// The module of the JDK that a class belongs to; none for other classes.
    fn module(&self, name: &str) -> Option<&str>;

    /// The descriptors of the JDK's modules.
    fn descriptors(&self) -> Vec<Vec<u8>>;
}

/// Where the program begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Internal name of the class with `main`.
    pub main: String,
    /// Internal names of classes that the JDK may make by itself: services, agents, and what options name.
    pub made: Vec<String>,
    /// Internal names of classes that are made if the program asks for services: all that are registered as such.
    pub providers: Vec<String>,
}

/// How far the analysis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Looking for what can be reached.
    Reaching,
    /// So many methods of so many were looked into.
    Methods(usize, usize),
    /// Putting everything together.
    Solving,
}

/// Why a program cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalysisError {
    /// The class with `main` is not there or is none.
    NoMain,
}

/// Finds out which fields and accesses of a program are thread-local.
pub fn analyse(
    source: &mut dyn ClassSource,
    entry: &Entry,
    progress: &mut dyn FnMut(Progress),
) -> Result<Locality, AnalysisError> {
    progress(Progress::Reaching);
    let mut world = World::new(source, Follow::Undescribed);
    let mut reach = reach_all(&mut world, entry)?;
    if reach.is_open {
        // Whoever may call anything calls the JDK, too, so that its code has nothing more to tell.
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
        bodies.component(component);
        done += component.len();
        progress(Progress::Methods(done, methods.len()));
    }
    progress(Progress::Solving);
    Ok(solve::solve(&mut bodies))
}

/// What the program can reach from where it begins.
fn reach_all(world: &mut World<'_>, entry: &Entry) -> Result<Reach, AnalysisError> {
    let main = world.load(&entry.main);
    let mut roots = Vec::new();
    // The method may be inherited; newer JVMs take one of an object, without arguments or not public as well.
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
    let made: Vec<_> = entry.made.iter().map(|name| world.load(name)).collect();
    Ok(Reach::new(world, &roots, &made, &entry.providers))
}
