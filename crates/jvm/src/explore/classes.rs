//! The instrumentation of classes for exploring harnesses.

use std::sync::Arc;

use fissure_classfile::{
    Call, Environment, Exploration, Foreign, Plan, Probe, ProbeArguments, ProbePoint, Product, Scheduling,
    Site, SiteTarget, read_summary, rewrite,
};
use fissure_jdk::{LockOperation, Member, PointKind, ThreadEvent};

use crate::{
    agent::Agent,
    classes::leave,
    control,
    hook::{EXPLORE, THREAD_FIELDS},
    jdk,
    mutex::locked,
    sites::{SiteInfo, Sites, target},
};

use ProbeArguments::This;
use ProbePoint::{Entry, Return};

/// The probes to insert into a JDK class, by its internal name. Every operation of a lock, a semaphore or a latch is one step, also one that
/// only shows the state.
fn probes(class: &str) -> Vec<Probe<'static>> {
    let threads = fissure_jdk::thread_methods(class).iter().flat_map(|member| match member.role {
        ThreadEvent::Start => vec![
            jdk::probe(member, Entry, "threadStarting", This),
            jdk::probe(member, Return, "threadStarted", This),
        ],
        ThreadEvent::Interrupt => vec![jdk::probe(member, Return, "interrupted", This)],
        ThreadEvent::Join | ThreadEvent::Uncaught => Vec::new(),
    });
    let starts = fissure_jdk::virtual_thread_methods(class).iter();
    let starts = starts.filter(|member| member.role == ThreadEvent::Start);
    let virtual_threads = starts.map(|member| jdk::probe(member, Entry, "threadStarting", This));
    let reflection = fissure_jdk::reflection_methods(class).iter().filter_map(jdk::reflection_probe);
    let is_step = |member: &&Member<LockOperation>| {
        !matches!(member.role, LockOperation::Made | LockOperation::ReleaseInside)
    };
    let locks = fissure_jdk::lock_methods(class).iter().filter(is_step).map(step);
    let is_call = |member: &&Member<PointKind>| member.role != PointKind::Made;
    let points = fissure_jdk::semaphore_points(class).iter().filter(is_call).map(step);
    threads.chain(virtual_threads).chain(reflection).chain(locks).chain(points).collect()
}

fn step<T>(member: &Member<T>) -> Probe<'static> {
    jdk::probe(member, Entry, "steps", This)
}

/// Whether the accesses in a class's code are scheduling points; the name is with dots.
fn has_points(agent: &Agent, class: &str) -> bool {
    if !fissure_jdk::is_jdk_name(class) {
        return !class.starts_with("fissure.object.");
    }
    fissure_jdk::is_building_block(class) || agent.settings.scope.iter().any(|pointcut| pointcut.names(class))
}

/// Rewrites a class; `None` if it stays as it is.
pub(crate) fn transform(agent: &Agent, name: &str, loader: i64, bytes: &[u8]) -> Option<Vec<u8>> {
    let dotted = name.replace('/', ".");
    let has_points = has_points(agent, &dotted);
    // The hooks call `Thread` to sleep for real; these calls must not be redirected to the hooks. Its only other calls wait for the end of
    // a thread.
    let waits: Vec<Call<'_>>;
    let scheduling = match name {
        "java/lang/Thread" => {
            let all = control::plan_for_exploring();
            waits = all.calls.iter().filter(|call| call.hook_method == "waitOn").copied().collect();
            Scheduling { calls: &waits, ..all }
        }
        _ => control::plan_for_exploring(),
    };
    let monitors = !fissure_jdk::keeps_its_monitors(name);
    let plan = Plan {
        hook: EXPLORE,
        product: Product::Explore(Exploration { scheduling, monitors, points: has_points }),
        added_fields: if name == "java/lang/Thread" { THREAD_FIELDS } else { &[] },
        probes: &probes(name),
    };
    let file = read_summary(bytes).ok().and_then(|summary| summary.source_file).map(Arc::from);
    let mut code = locked(&agent.code);
    let mut environment =
        ExploredClass { sites: &mut code.sites, loader, class: dotted.as_str().into(), file };
    match rewrite(bytes, &plan, &mut environment) {
        Ok(outcome) => outcome.map(|outcome| outcome.bytes),
        Err(error) => {
            tracing::warn!(class = dotted, %error, "a class is not explored, because it cannot be rewritten");
            leave(agent, &mut code, &dotted, "", &error.to_string());
            None
        }
    }
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
            called: None,
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
        let hook: [&[u8]; 2] = [
            include_bytes!("../../hook/classes/java/lang/FissureExplore.class"),
            include_bytes!("../../hook/classes/java/lang/FissureScheduled.class"),
        ];
        let has = |name: &str| hook.concat().windows(name.len()).any(|part| part == name.as_bytes());
        for class in ["java/lang/Thread", "java/util/concurrent/locks/StampedLock"] {
            probes(class).iter().for_each(|probe| assert!(has(probe.hook_method), "{probe:?}"));
        }
        for point in ["pointRead", "pointWrite", "pointElementRead", "pointUnsafeWrite"] {
            assert!(has(point), "{point}");
        }
    }
}
