//! The instrumentation of classes for exploring harnesses.

use std::sync::Arc;

use fissure_classfile::{
    Environment, Exploration, Foreign, Plan, Probe, ProbeArguments, ProbePoint, Product, Scheduling, Site,
    SiteTarget, read_summary, rewrite,
};

use crate::{
    agent::Agent,
    control,
    hook::{EXPLORE, THREAD_FIELDS},
    jdk,
    mutex::locked,
    scope,
    sites::{SiteInfo, Sites, target},
};

use ProbeArguments::{MapResult, This};
use ProbePoint::{Entry, Return};

/// JDK packages whose classes objects may be built from. Lock classes are not among them: each of their operations is one step.
const BUILDING_BLOCKS: &[&str] = &["java.util.", "java.util.concurrent.", "java.util.concurrent.atomic."];

const fn probe(
    method: &'static str,
    at: ProbePoint,
    hook_method: &'static str,
    argument: ProbeArguments,
) -> Probe<'static> {
    Probe { method, descriptor: None, at, hook_method, argument }
}

const fn step(method: &'static str) -> Probe<'static> {
    probe(method, Entry, "steps", This)
}

const THREAD: &[Probe<'static>] =
    &[probe("start", Entry, "threadStarting", This), probe("interrupt", Return, "interrupted", This)];

const REFLECTION: &[Probe<'static>] = &[Probe {
    method: "filterFields",
    descriptor: Some("(Ljava/lang/Class;[Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;"),
    at: Return,
    hook_method: "visibleFields",
    argument: MapResult,
}];

const LOCK: &[Probe<'static>] = &[
    step("lock"),
    step("lockInterruptibly"),
    step("tryLock"),
    step("unlock"),
    step("isLocked"),
    step("isHeldByCurrentThread"),
    step("hasQueuedThreads"),
    step("getHoldCount"),
];

const STAMPED_LOCK: &[Probe<'static>] = &[
    step("writeLock"),
    step("tryWriteLock"),
    step("writeLockInterruptibly"),
    step("readLock"),
    step("tryReadLock"),
    step("readLockInterruptibly"),
    step("tryOptimisticRead"),
    step("validate"),
    step("unlockWrite"),
    step("unlockRead"),
    step("unlock"),
    step("tryUnlockWrite"),
    step("tryUnlockRead"),
    step("tryConvertToWriteLock"),
    step("tryConvertToReadLock"),
    step("tryConvertToOptimisticRead"),
];

const SEMAPHORE: &[Probe<'static>] = &[
    step("acquire"),
    step("acquireUninterruptibly"),
    step("tryAcquire"),
    step("release"),
    step("availablePermits"),
    step("drainPermits"),
];

const LATCH: &[Probe<'static>] = &[step("countDown"), step("await"), step("getCount")];

fn probes(class: &str) -> &'static [Probe<'static>] {
    match class {
        "java/lang/Thread" => THREAD,
        "jdk/internal/reflect/Reflection" => REFLECTION,
        "java/util/concurrent/locks/ReentrantLock"
        | "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock"
        | "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock" => LOCK,
        "java/util/concurrent/locks/StampedLock" => STAMPED_LOCK,
        "java/util/concurrent/Semaphore" => SEMAPHORE,
        "java/util/concurrent/CountDownLatch" => LATCH,
        _ => &[],
    }
}

/// Whether the accesses in a class's code are scheduling points; the name is with dots.
fn has_points(agent: &Agent, class: &str) -> bool {
    if !scope::is_jdk_name(class) {
        return !class.starts_with("fissure.object.");
    }
    let package = class.rfind('.').map_or("", |end| &class[..=end]);
    BUILDING_BLOCKS.contains(&package) || agent.settings.scope.iter().any(|pointcut| pointcut.names(class))
}

/// Rewrites a class; `None` if it stays as it is.
pub(crate) fn transform(agent: &Agent, name: &str, loader: i64, bytes: &[u8]) -> Option<Vec<u8>> {
    let dotted = name.replace('/', ".");
    let has_points = has_points(agent, &dotted);
    // The hooks call `Thread` to sleep for real; these calls must not be redirected to the hooks.
    let scheduling = match name {
        "java/lang/Thread" => Scheduling { calls: &[], ..control::plan_for_exploring() },
        _ => control::plan_for_exploring(),
    };
    let monitors = !jdk::keeps_its_monitors(name);
    let plan = Plan {
        hook: EXPLORE,
        product: Product::Explore(Exploration { scheduling, monitors, points: has_points }),
        added_fields: if name == "java/lang/Thread" { THREAD_FIELDS } else { &[] },
        probes: probes(name),
    };
    let file = read_summary(bytes).ok().and_then(|summary| summary.source_file).map(Arc::from);
    let mut code = locked(&agent.code);
    let mut environment =
        ExploredClass { sites: &mut code.sites, loader, class: dotted.as_str().into(), file };
    rewrite(bytes, &plan, &mut environment).ok()?.map(|outcome| outcome.bytes)
}

struct ExploredClass<'a> {
    sites: &'a mut Sites,
    loader: i64,
    class: Arc<str>,
    file: Option<Arc<str>>,
}

impl Environment for ExploredClass<'_> {
    fn site(&mut self, site: Site<'_>) -> u32 {
        self.sites.add(SiteInfo {
            class: self.class.clone(),
            method: site.method.into(),
            file: self.file.clone(),
            line: site.line.map(u32::from),
            loader: self.loader,
            kind: site.kind,
            target: target(&site.target),
            is_element: matches!(site.target, SiteTarget::ArrayElement { .. }),
        })
    }

    fn cell(&mut self, _field: &str, _descriptor: &str) -> u32 {
        0
    }

    fn foreign(&mut self, _class: &str, _name: &str, _descriptor: &str, _is_static: bool) -> Foreign {
        Foreign::Ignore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hook class must have all methods that rewritten code calls: without them the JVM would not even start.
    #[test]
    fn the_hook_class_has_all_called_methods() {
        let hook = include_bytes!("../../hook/classes/java/lang/FissureExplore.class");
        let has = |name: &str| hook.windows(name.len()).any(|part| part == name.as_bytes());
        for call in control::plan_for_exploring().calls {
            let is_own = call.class == Some("java/lang/Thread") && call.name.ends_with('0');
            assert!(is_own || has(call.hook_method) && has(call.hook_descriptor), "{call:?}");
        }
        for class in ["java/lang/Thread", "java/util/concurrent/locks/StampedLock"] {
            probes(class).iter().for_each(|probe| assert!(has(probe.hook_method), "{probe:?}"));
        }
        for point in ["pointRead", "pointWrite", "pointElementRead", "pointUnsafeWrite"] {
            assert!(has(point), "{point}");
        }
    }
}
