//! Rewrites classes as the JVM loads them.

use std::sync::{Arc, atomic::Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use fissure_classfile::{
    AccessFlags, Accesses, Advice, Advised, Atomicity, Blocks, ClassSummary, Contents, Control,
    ControlledAccesses, ControlledCode, Detection, Environment, Foreign, MethodFacts, Outcome, Plan, Product,
    Script, Site, SiteKind, SiteTarget, Synchronization, read_summary, rewrite,
};
use fissure_model::{
    coverage::{Coverage, LeftAlone},
    pattern::Pattern,
    pointcut::{FieldPoint, Value},
    settings::{AccessPoints, Order, Watch},
};

use crate::{
    agent::{Agent, Code},
    blocks, control, explore,
    hook::{CONTROL, HOOK, THREAD_FIELDS},
    jdk,
    locality::{LocalClass, Locality},
    monitor::{self, Watcher},
    mutex::locked,
    origin::{Kind, Source},
    points::JoinPoint,
    registry::{Member, Resolved},
    scope::View,
    sites::{SiteInfo, target, type_name},
    world::field_point,
};

/// The number of further accesses per site that are remembered as covered by its check; two break any block.
const MOST_OTHERS: usize = 3;

/// Rewrites a class; `None` if it stays as it is. A JVM that executes several runs loads the program's classes again and again: the
/// result of the first time is remembered, with its sites.
pub(crate) fn transform(agent: &Agent, name: Option<&str>, source: &Source, bytes: &[u8]) -> Option<Vec<u8>> {
    let (Some(iterations), Some(name), true) = (&agent.iterations, name, source.loader != 0) else {
        return rewritten(agent, name, source, bytes);
    };
    if let Some(known) = iterations.rewritten.find(source.loader, name, bytes) {
        return known;
    }
    let result = rewritten(agent, Some(name), source, bytes);
    iterations.rewritten.add(source.loader, name, bytes, result.as_deref());
    result
}

fn rewritten(agent: &Agent, name: Option<&str>, source: &Source, bytes: &[u8]) -> Option<Vec<u8>> {
    let loader = source.loader;
    agent.counts.classes_loaded.fetch_add(1, Ordering::Relaxed);
    let summary;
    let name = match name {
        Some(name) => name,
        None => {
            summary = read_summary(bytes).ok()?;
            &summary.name
        }
    };
    if jdk::is_untouchable(name) {
        return None;
    }
    if agent.explorer.is_some() {
        return explore::transform(agent, name, loader, bytes);
    }
    let dotted = name.replace('/', ".");
    let kind = agent.scope.origins().note(&dotted, source);
    let monitor = agent.monitor.as_ref();
    let in_scope = agent.scope.covers(&dotted)
        || monitor.is_some_and(|monitor| agent.scope.may_be_named(&dotted) && monitor.names(&dotted));
    let is_named = agent.scope.is_given() && in_scope && !agent.scope.is_on_demand(&dotted);
    agent.scope.origins().count(&dotted, source, agent.scope.is_given().then_some(is_named));
    let is_controlled = agent.control.is_some();
    let detect = agent.settings.detect();
    let watches_fields = detect.is_some_and(|detect| detect.watch != Watch::Locks);
    let watches_elements = detect.is_some_and(|detect| detect.watch == Watch::All);
    let watched = watches_fields && in_scope;
    let atomizer = agent.settings.atomizer();
    let order = agent.settings.order();
    let view = if atomizer.is_some() { agent.scope.view(&dotted) } else { View::None };
    let control = agent.settings.control().filter(|_| in_scope);
    let has_points = control.is_some_and(|control| control.accesses != AccessPoints::None);
    let has_element_points = control.is_some_and(|control| control.accesses == AccessPoints::All);
    let has_units = control.is_some_and(|control| control.units);
    let has_interleavings = has_points && control.is_some_and(|control| control.patterns.interleavings);
    // Inside of a collection only its fields and elements matter, not its calls of other collections and atomics.
    let is_collection = agent.scope.is_on_demand(&dotted) && fissure_jdk::is_collection_code(&dotted);
    let has_uses = has_interleavings && !is_collection;
    let has_contents =
        has_element_points && has_units && control.is_some_and(|control| control.sets.contents);
    let probes = match is_controlled {
        true => control::probes(name, agent.settings.control()),
        false => jdk::probes(name, order, atomizer.is_some()),
    };
    let monitors = !fissure_jdk::keeps_its_monitors(name)
        && monitor.is_none_or(Watcher::needs_locks)
        && !(is_controlled && !in_scope && fissure_jdk::locks_for_the_collector(name));
    // The JDK's own volatile fields and conditions are known by the calls that use them.
    let synchronization = match order.has_synchronization() {
        true if kind != Kind::Jdk || in_scope => Synchronization::MonitorsAndVolatiles,
        true if order == Order::HappensBefore => Synchronization::Monitors,
        _ => Synchronization::Nothing,
    };
    let entries = in_scope && kind != Kind::Jdk && agent.counts_threads();
    let product = if is_controlled {
        let contents = match (has_uses, has_contents) {
            (true, _) => Contents::CollectionsAndAtomics,
            (false, true) => Contents::Collections,
            (false, false) => Contents::Nothing,
        };
        let accesses = has_points.then_some(ControlledAccesses { elements: has_element_points, contents });
        let inside = in_scope.then_some(ControlledCode { accesses, units: has_units, entries });
        let spinning = kind != Kind::Jdk;
        Product::Control(Control { scheduling: control::plan(name), monitors, inside, spinning })
    } else if monitor.is_some() {
        let advice = in_scope.then_some(Advice { lock_calls: jdk::lock_calls() });
        Product::Script(Script { monitors, advice })
    } else {
        Product::Detect(Detection {
            monitors,
            accesses: match (watched, watches_elements) {
                (false, _) => Accesses::Nothing,
                (true, true) => Accesses::FieldsAndElements,
                (true, false) => Accesses::Fields,
            },
            is_selective: watched && agent.scope.is_selective(),
            synchronization,
            clones: watches_fields,
            entries,
            atomicity: atomizer.map(|_| Atomicity {
                blocks: match view {
                    View::Application => Blocks::MonitorsAndMethods,
                    View::Library => Blocks::Monitors,
                    View::None => Blocks::Nothing,
                },
                announced: if kind == Kind::Jdk { &[] } else { jdk::announced() },
            }),
        })
    };
    let plan = Plan {
        hook: if is_controlled { CONTROL } else { HOOK },
        product,
        added_fields: if name == "java/lang/Thread" { THREAD_FIELDS } else { &[] },
        probes: &probes,
    };
    let trusted = agent.locality.as_ref().filter(|_| kind != Kind::Jdk);
    let analysed = trusted.and_then(|locality| locality.class(name, bytes));
    let local = analysed.filter(|_| watched || has_points);
    let asks_about_classes = agent.scope.is_selective() || monitor.is_some();
    let has_volatiles = synchronization == Synchronization::MonitorsAndVolatiles;
    let summary = if in_scope || is_controlled || view != View::None || asks_about_classes || has_volatiles {
        read_summary(bytes).ok()
    } else {
        None
    };
    let mut code = locked(&agent.code);
    if let Some(summary) = summary.as_ref().filter(|_| asks_about_classes) {
        code.classes.add(summary);
        if let Some(analysed) = analysed {
            code.classes.confine(&dotted, analysed.fields());
        }
    }
    let mut environment = ClassEnvironment {
        agent,
        code: &mut code,
        view,
        kind,
        has_blocks: kind != Kind::Library || agent.scope.view(&dotted) != View::None,
        loader,
        class: dotted.as_str().into(),
        file: summary.as_ref().and_then(|summary| summary.source_file.as_deref()).map(Arc::from),
        method: "".into(),
        local,
        is_continuation: summary.as_ref().is_some_and(is_continuation),
        is_claimed: false,
    };
    let result = rewrite(bytes, &plan, &mut environment);
    if in_scope {
        let counted = u64::from(!agent.scope.is_on_demand(&dotted));
        agent.counts.classes_in_scope.fetch_add(counted, Ordering::Relaxed);
        if kind == Kind::Jdk {
            agent.counts.jdk_classes_in_scope.fetch_add(counted, Ordering::Relaxed);
        }
        if let Some(summary) = &summary {
            let outcome = result.as_ref().ok().and_then(Option::as_ref);
            let following = match result {
                Err(_) => Following::Nothing,
                Ok(_) if is_controlled => Following::Points { volatiles: has_points },
                Ok(_) if watched => Following::State { volatiles: atomizer.is_some() || has_volatiles },
                Ok(_) => Following::Nothing,
            };
            let is_continuation = is_continuation(summary);
            let leaves = |name: &str, descriptor: &str| {
                is_continuation || trusted.is_some_and(|locality| locality.has_field(local, name, descriptor))
            };
            if monitor.is_some() {
                observe(&mut code, loader, summary);
            } else {
                register(&mut code, loader, summary, following, outcome, leaves);
            }
        }
    } else if let Some(summary) = summary.as_ref().filter(|_| has_volatiles && monitor.is_none()) {
        register_volatiles(&mut code, loader, summary);
    }
    match result {
        Ok(outcome) => {
            let outcome = outcome?;
            agent.counts.classes_rewritten.fetch_add(1, Ordering::Relaxed);
            agent.counts.methods_rewritten.fetch_add(u64::from(outcome.methods_rewritten), Ordering::Relaxed);
            for method in &outcome.left_alone {
                leave(agent, &mut code, &dotted, &method.name, &method.reason);
            }
            Some(outcome.bytes)
        }
        Err(error) => {
            leave(agent, &mut code, &dotted, "", &error.to_string());
            None
        }
    }
}

/// Whether a class holds the state of a Kotlin coroutine (`label`, `L$0`, `I$0` …). Only the thread that runs the coroutine accesses it, and
/// dispatchers hand it over with the coroutine, so its fields cannot race.
fn is_continuation(summary: &ClassSummary) -> bool {
    summary.super_name.as_deref().is_some_and(fissure_jdk::is_coroutine_state)
}

/// Counts a method, or with an empty name a class, that could not be rewritten.
pub(crate) fn leave(agent: &Agent, code: &mut Code, class: &str, method: &str, reason: &str) {
    agent.counts.methods_left_alone.fetch_add(1, Ordering::Relaxed);
    if code.left_alone.len() < Coverage::NAMED {
        code.left_alone.push(LeftAlone {
            class: class.to_owned(),
            method: method.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

/// How accesses to the fields of a class are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Following {
    Nothing,
    /// Every access is a scheduling point. Volatile fields are treated like plain ones if `volatiles` is set.
    Points {
        volatiles: bool,
    },
    /// Each field has a shadow word. Volatile fields are treated like plain ones if `volatiles` is set.
    State {
        volatiles: bool,
    },
}

impl Following {
    fn sets_volatiles_apart(self) -> bool {
        matches!(self, Following::Points { volatiles: false } | Following::State { volatiles: false })
    }
}

/// Registers how the fields of a class are followed. Static fields have their shadow words outside of the class, so they are
/// watched even if no code of the class had to be rewritten.
fn register(
    code: &mut Code,
    loader: i64,
    summary: &ClassSummary,
    following: Following,
    outcome: Option<&Outcome>,
    leaves: impl Fn(&str, &str) -> bool,
) {
    let mut members = FxHashMap::default();
    let mut volatiles = FxHashSet::default();
    for field in &summary.fields {
        let is_volatile = field.access.contains(AccessFlags::VOLATILE);
        if is_volatile {
            volatiles.insert((field.name.clone(), field.descriptor.clone()));
        }
        let plain = !field.access.contains(AccessFlags::FINAL);
        let member = match outcome {
            _ if following == Following::Nothing || leaves(&field.name, &field.descriptor) => {
                Member::Unwatched
            }
            _ if is_volatile && following.sets_volatiles_apart() => Member::Volatile,
            _ if matches!(following, Following::Points { .. }) => match plain {
                true => Member::Point,
                false => Member::Unwatched,
            },
            _ if plain && field.access.contains(AccessFlags::STATIC) => {
                Member::Cell(code.registry.cell(loader, &summary.name, &field.name, &field.descriptor))
            }
            Some(outcome) if plain => outcome
                .shadows
                .iter()
                .find(|shadow| shadow.name == field.name && shadow.descriptor == field.descriptor)
                .map_or(Member::Unwatched, |shadow| Member::Shadowed {
                    descriptor: if shadow.shadow_descriptor == "D" { "D" } else { "J" },
                    offset: None,
                }),
            _ => Member::Unwatched,
        };
        members.insert((field.name.clone(), field.descriptor.clone()), member);
    }
    code.registry.add(loader, &summary.name, summary.super_name.as_deref(), members, volatiles);
}

/// Registers the volatile fields of a class that is not in scope: its accesses cannot race, but they order others.
fn register_volatiles(code: &mut Code, loader: i64, summary: &ClassSummary) {
    let fields = summary.fields.iter().filter(|field| field.access.contains(AccessFlags::VOLATILE));
    let volatiles: FxHashSet<_> =
        fields.map(|field| (field.name.clone(), field.descriptor.clone())).collect();
    if !volatiles.is_empty() {
        let members = volatiles.iter().map(|field| (field.clone(), Member::Volatile)).collect();
        code.registry.add(loader, &summary.name, summary.super_name.as_deref(), members, volatiles);
    }
}

/// Registers the fields for which the monitor script may want accesses by variable handle.
fn observe(code: &mut Code, loader: i64, summary: &ClassSummary) {
    let members = summary.fields.iter().map(|field| {
        let is_plain = !field.access.intersects(AccessFlags::FINAL | AccessFlags::VOLATILE);
        let member = if is_plain { Member::Observed } else { Member::Unwatched };
        ((field.name.clone(), field.descriptor.clone()), member)
    });
    let members = members.collect();
    code.registry.add(loader, &summary.name, summary.super_name.as_deref(), members, FxHashSet::default());
}

/// Answers the rewriter's questions about one class.
struct ClassEnvironment<'a> {
    agent: &'a Agent,
    code: &'a mut Code,
    view: View,
    kind: Kind,
    /// Whether blocks of the class count if the application calls them.
    has_blocks: bool,
    loader: i64,
    class: Arc<str>,
    file: Option<Arc<str>>,
    /// The method of the last site: all sites of one method share this string.
    method: Arc<str>,
    /// The result of the static analysis for the class.
    local: Option<&'a LocalClass>,
    /// Whether the class holds the state of a Kotlin coroutine.
    is_continuation: bool,
    /// Whether the static analysis says that the next site is thread-local, and the run checks this claim.
    is_claimed: bool,
}

impl ClassEnvironment<'_> {
    fn add_site(&mut self, site: &Site<'_>) -> u32 {
        if &*self.method != site.method {
            self.method = site.method.into();
        }
        self.code.sites.add(SiteInfo {
            class: self.class.clone(),
            method: self.method.clone(),
            file: self.file.clone(),
            line: site.line.map(u32::from),
            loader: self.loader,
            kind: site.kind,
            target: target(&site.target),
            is_element: matches!(site.target, SiteTarget::ArrayElement { .. } | SiteTarget::Contents { .. }),
            called: match site.target {
                SiteTarget::Contents { called, .. } => Some(called.into()),
                _ => None,
            },
        })
    }

    /// Whether a site is, or may turn out to be, in scope.
    fn is_in_scope(&self, site: &Site<'_>) -> bool {
        let (scope, classes) = (&self.agent.scope, &self.code.classes);
        !scope.is_selective()
            || JoinPoint::of(site, &self.class)
                .with_point(classes, Value::Unknown, None, |point| scope.has(point, classes))
    }
}

impl Environment for ClassEnvironment<'_> {
    fn site(&mut self, site: Site<'_>) -> u32 {
        let number = self.add_site(&site);
        if number > 0 && self.agent.monitor.is_some() {
            let join_point = monitor::join_point_of(&site, &self.class);
            self.code.advised.insert(number, monitor::advised_site(join_point));
        }
        let is_access = matches!(site.target, SiteTarget::Field { .. } | SiteTarget::ArrayElement { .. });
        if let Some(locality) = self.agent.locality.as_ref().filter(|_| is_access && self.is_claimed) {
            locality.claim(number);
        }
        if self.agent.control.is_some() {
            // A class that is only instrumented because threads share its objects has accesses, but no blocks of the application.
            let is_access = matches!(site.kind, SiteKind::Read | SiteKind::Write);
            let is_own = is_access || !self.agent.scope.is_on_demand(&self.class);
            let is_application = is_own && self.agent.scope.covers(&self.class) && self.is_in_scope(&site);
            let flags = control::flags(
                &site,
                &self.class,
                is_application,
                self.kind == Kind::Jdk,
                self.has_blocks,
                &self.agent.aim(),
            );
            self.agent.offsets.set_i32(number as usize, flags);
        }
        let flags = blocks::flags(self.view, site.kind, site.method, site.descriptor);
        if number > 0 && flags != 0 {
            self.agent.flags.set_bits(number as usize, flags);
        }
        let is_initialisation = site.kind == SiteKind::Write && site.method == "<init>";
        if is_initialisation && self.agent.settings.atomizer().is_some() {
            locked(&self.agent.machine).add_constructor(number);
        }
        number
    }

    fn advise(&mut self, site: &Site<'_>) -> Option<Advised> {
        let monitor = self.agent.monitor.as_ref()?;
        if !self.is_in_scope(site) {
            return None;
        }
        let join_point = monitor::join_point_of(site, &self.class);
        let advised = monitor.advise(self.code, &join_point)?;
        let number = self.add_site(site);
        if number == 0 {
            return None;
        }
        self.code.advised.insert(number, monitor::advised_site(join_point));
        Some(Advised { site: number, ..advised })
    }

    fn is_selected(&mut self, site: &Site<'_>) -> bool {
        let is_wanted = |monitor: &Watcher| {
            monitor.advise(self.code, &monitor::join_point_of(site, &self.class)).is_some()
        };
        self.is_in_scope(site) && self.agent.monitor.as_ref().is_none_or(is_wanted)
    }

    fn is_followed(&mut self, field: &str, descriptor: &str, access: AccessFlags) -> bool {
        let of_type = type_name(descriptor);
        let point = FieldPoint {
            declaring: Some(&self.class),
            access: Some(access.bits()),
            ..field_point(
                &self.code.classes,
                &self.class,
                field,
                descriptor,
                &of_type,
                access.contains(AccessFlags::STATIC),
            )
        };
        self.agent.scope.has_field(point, &self.code.classes)
    }

    fn leaves_field(&mut self, name: &str, descriptor: &str) -> bool {
        let locality = self.agent.locality.as_ref();
        self.is_continuation
            || locality.is_some_and(|locality| locality.leaves_field(self.local, name, descriptor))
    }

    fn leaves_out(&mut self, position: &fissure_classfile::CodePosition<'_>) -> bool {
        let Some(locality) = &self.agent.locality else { return false };
        let is_local = Locality::is_local(self.local, position.method, position.descriptor, position.pc);
        if is_local {
            locality.count(position.is_element, true);
        }
        self.is_claimed = is_local && !locality.leaves_out();
        is_local && locality.leaves_out()
    }

    fn keeps(&mut self, position: &fissure_classfile::CodePosition<'_>) {
        if let Some(locality) = self.agent.locality.as_ref().filter(|_| !self.is_claimed) {
            locality.count(position.is_element, false);
        }
    }

    fn stands_for(&mut self, site: u32, other: u32) {
        let kind = |number| self.code.sites.get(number).map(|site| site.kind);
        if let (Some(first), Some(second)) = (kind(site), kind(other)) {
            let others = self.code.manifold.entry(site).or_default();
            if others.len() < MOST_OTHERS {
                others.push(other);
                blocks::mark_manifold(&self.agent.flags, site, first, second);
            }
        }
    }

    fn is_atomic(&mut self, method: &MethodFacts<'_>) -> bool {
        let atomic = self.agent.settings.atomic();
        let names = |pattern: &Pattern| pattern.names_method(&self.class, method.name);
        let covers = |pattern: &Pattern| pattern.matches_method(&self.class, method.name);
        // A pattern or annotation for a whole class or package does not mean `run` and `main`, nor methods that the compiler made.
        let is_thread_body =
            matches!((method.name, method.descriptor), ("run", "()V") | ("main", "([Ljava/lang/String;)V"));
        let is_meant = !is_thread_body && !method.access.contains(AccessFlags::SYNTHETIC);
        method.is_annotated && (is_meant || !method.is_class_annotated)
            || atomic.iter().any(names)
            || is_meant && atomic.iter().any(covers)
    }

    fn cell(&mut self, field: &str, descriptor: &str) -> u32 {
        let class = self.class.replace('.', "/");
        self.code.registry.cell(self.loader, &class, field, descriptor)
    }

    fn is_volatile(&mut self, class: &str, name: &str, descriptor: &str) -> bool {
        match self.code.registry.resolve(self.loader, class, name, descriptor, |_| false) {
            Resolved::Known(number, _) => self.code.registry.class(number).has_volatile(name, descriptor),
            _ => false,
        }
    }

    fn foreign(&mut self, class: &str, name: &str, descriptor: &str, _is_static: bool) -> Foreign {
        let scope = &self.agent.scope;
        let in_scope = |class: &str| scope.covers(&class.replace('/', "."));
        match self.code.registry.resolve(self.loader, class, name, descriptor, in_scope) {
            Resolved::Unwatched => Foreign::Ignore,
            Resolved::Known(_, Member::Volatile) => Foreign::Volatile,
            // A class of the same loader that is loaded already and declares the field itself: the name cannot mean another class,
            // so its shadow field can be accessed directly.
            Resolved::Known(number, Member::Shadowed { .. })
                if self.code.registry.class(number).is(self.loader, class) =>
            {
                Foreign::Shadowed
            }
            Resolved::Known(..) | Resolved::NotLoaded => Foreign::Resolve,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_coroutines_is_recognised() {
        let check = |parent: Option<&str>, expected: bool| {
            let summary = ClassSummary {
                name: "a/B$work$1".to_owned(),
                super_name: parent.map(str::to_owned),
                interfaces: Vec::new(),
                access: AccessFlags::PUBLIC,
                major: 52,
                source_file: None,
                fields: Vec::new(),
            };
            assert_eq!(is_continuation(&summary), expected, "{parent:?}");
        };
        check(Some("kotlin/coroutines/jvm/internal/SuspendLambda"), true);
        check(Some("kotlin/coroutines/jvm/internal/ContinuationImpl"), true);
        check(Some("kotlin/jvm/internal/Lambda"), false);
        check(None, false);
    }
}
