//! Rewrites a set of classes at full instrumentation, as if all of them had been loaded and instrumented already.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use fissure_classfile::{
    AccessFlags, Accesses, Advice, Advised, Atomicity, Blocks, Call, ClassSummary, Contents, Control,
    ControlledAccesses, ControlledCode, Detection, Environment, Exploration, FieldSummary, Foreign, LockCall,
    MethodFacts, Plan, Product, Region, Scheduling, Script, Site, Synchronization, VolatileRead,
    read_summary, rewrite,
};

use super::{ClassFile, dotted, java::HOOK};

/// The root of all classes; fields must not be added to it.
const ROOT: &str = "java/lang/Object";

/// Calls of a lock of the library, which are reported as lock operations.
const LOCK_CALLS: &[(&str, &[(&str, LockCall)])] = &[(
    "java/util/concurrent/locks/ReentrantLock",
    &[("lock", LockCall::Acquire), ("tryLock", LockCall::Try), ("unlock", LockCall::Release)],
)];

/// The call that a hook replaces in controlled runs.
pub(crate) const WAIT: Call<'static> = Call {
    class: None,
    name: "wait",
    descriptor: "(J)V",
    hook_method: "waitOn",
    hook_descriptor: "(Ljava/lang/Object;JI)V",
    site: true,
};

/// The purpose of the instrumentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To observe threads, with everything that any analysis needs.
    Watch,
    /// To control threads, with all scheduling points.
    Control,
    /// To explore the schedules of harnesses, with all scheduling points.
    Explore,
    /// To report both sides of each join point, with its arguments, to a monitor script.
    MonitorScript,
}

impl Purpose {
    fn plan(self) -> Plan<'static> {
        let scheduling = Scheduling {
            calls: &[WAIT],
            regions: &[Region { method: "loadClass", descriptor: None }],
            volatile_reads: &[VolatileRead { class: "java/lang/invoke/VarHandle", name: "getAcquire" }],
        };
        let product = match self {
            Purpose::Watch => Product::Detect(Detection {
                monitors: true,
                accesses: Accesses::FieldsAndElements,
                is_selective: false,
                synchronization: Synchronization::MonitorsAndVolatiles,
                clones: true,
                entries: true,
                atomicity: Some(Atomicity { blocks: Blocks::MonitorsAndMethods, announced: &[] }),
            }),
            Purpose::Control => {
                let contents = Contents::CollectionsAndAtomics;
                let accesses = Some(ControlledAccesses { elements: true, contents });
                let inside = Some(ControlledCode { accesses, units: true, entries: true });
                Product::Control(Control { scheduling, monitors: true, inside, spinning: true })
            }
            Purpose::Explore => Product::Explore(Exploration { scheduling, monitors: true, points: true }),
            Purpose::MonitorScript => {
                let advice = Some(Advice { lock_calls: LOCK_CALLS });
                Product::Script(Script { monitors: true, advice })
            }
        };
        Plan::new(HOOK, product)
    }
}

/// The rewritten classes.
#[derive(Debug, Default)]
pub(crate) struct Rewriting {
    /// The classes that were changed, by internal name.
    pub(crate) classes: BTreeMap<String, Vec<u8>>,
    pub(crate) methods: u32,
    /// Methods that were not rewritten as planned, by reason.
    pub(crate) left_alone: BTreeMap<String, Vec<String>>,
    /// The time for rewriting, without reading and writing files.
    pub(crate) time: Duration,
}

impl Rewriting {
    /// Rewrites the classes.
    pub(crate) fn of(classes: &[ClassFile], purpose: Purpose) -> Result<Self> {
        let mut world = World::default();
        for class in classes.iter().filter(|class| class.name != ROOT) {
            let summary =
                read_summary(&class.bytes).with_context(|| format!("cannot read {}", class.name))?;
            world.classes.insert(class.name.clone(), summary);
        }
        let mut rewriting = Self::default();
        for class in classes {
            if class.name == ROOT {
                rewriting.leave("the root of all classes is not rewritten", dotted(ROOT));
            } else {
                rewriting.add(class, &purpose.plan(), &mut world);
            }
        }
        Ok(rewriting)
    }

    fn add(&mut self, class: &ClassFile, plan: &Plan<'_>, world: &mut World) {
        let start = Instant::now();
        let result = rewrite(&class.bytes, plan, world);
        self.time += start.elapsed();
        let outcome = match result {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return,
            Err(error) => return self.leave(&error.to_string(), dotted(&class.name)),
        };
        for left in outcome.left_alone {
            self.leave(&left.reason, format!("{}.{}{}", dotted(&class.name), left.name, left.descriptor));
        }
        if outcome.bytes != class.bytes {
            self.methods += outcome.methods_rewritten;
            self.classes.insert(class.name.clone(), outcome.bytes);
        }
    }

    fn leave(&mut self, reason: &str, what: String) {
        self.left_alone.entry(reason.to_owned()).or_default().push(what);
    }
}

/// All classes that are rewritten, by internal name.
#[derive(Debug, Default)]
struct World {
    classes: HashMap<String, ClassSummary>,
    sites: u32,
    cells: u32,
}

impl World {
    /// The field that a reference through `class` resolves to, with its declaring class.
    fn declaration(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Option<(&ClassSummary, &FieldSummary)> {
        let mut class = self.classes.get(class);
        while let Some(summary) = class {
            let field =
                summary.fields.iter().find(|field| field.name == name && field.descriptor == descriptor);
            if let Some(field) = field {
                return Some((summary, field));
            }
            class = summary.super_name.as_ref().and_then(|name| self.classes.get(name));
        }
        None
    }
}

impl Environment for World {
    fn site(&mut self, _site: Site<'_>) -> u32 {
        self.sites += 1;
        self.sites
    }

    fn advise(&mut self, _site: &Site<'_>) -> Option<Advised> {
        self.sites += 1;
        Some(Advised { site: self.sites, before: true, after: true, arguments: true })
    }

    fn cell(&mut self, _field: &str, _descriptor: &str) -> u32 {
        self.cells += 1;
        self.cells
    }

    /// Every method is treated as an atomic block, so that each gets the instrumentation of blocks.
    fn is_atomic(&mut self, _method: &MethodFacts<'_>) -> bool {
        true
    }

    fn foreign(&mut self, class: &str, name: &str, descriptor: &str, is_static: bool) -> Foreign {
        match self.declaration(class, name, descriptor) {
            None => Foreign::Resolve,
            Some((_, field)) if field.access.intersects(AccessFlags::FINAL | AccessFlags::VOLATILE) => {
                Foreign::Ignore
            }
            Some(_) if is_static => Foreign::Resolve,
            // A shadow field has the name of its original, so of two fields with one name only one can have a shadow.
            Some((declaring, _))
                if declaring.fields.iter().filter(|field| field.name == name).count() > 1 =>
            {
                Foreign::Ignore
            }
            Some(_) => Foreign::Shadowed,
        }
    }
}
