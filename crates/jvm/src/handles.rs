//! Finds the field that a variable handle, `Unsafe` or reflection accesses.
//!
//! They identify a field by its offset. Only watched fields are compared with it, so that classes out of scope are not inspected.

use std::sync::atomic::Ordering;

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong};

use crate::{
    agent::{Agent, guarded},
    monitor,
    mutex::locked,
    points::JoinPoint,
    registry::Member,
    sites::{SiteInfo, Target},
    vm::{DeclaredField, Jni},
};

/// The field of an access, as far as the call identifies it.
struct Wanted {
    offset: i64,
    /// The descriptor of its type, if it is known.
    descriptor: Option<String>,
    is_static: bool,
}

/// The native method of the hook class `FissureEngine`: the site for accesses to one field by the call at another site.
pub(crate) extern "system" fn site_of(
    environment: *mut JNIEnv,
    _class: jclass,
    call: jint,
    owner: jclass,
    offset: jlong,
    field_type: jclass,
    is_static: jboolean,
) -> jint {
    guarded(0, |agent| {
        let descriptor = if field_type.is_null() { None } else { agent.tool.class_descriptor(field_type) };
        let wanted = Wanted { offset, descriptor, is_static: is_static != 0 };
        let site = find(agent, Jni::new(environment), call as u32, owner, &wanted);
        site.map_or(0, u32::cast_signed)
    })
}

fn find(agent: &Agent, jni: Jni, call: u32, owner: jclass, wanted: &Wanted) -> Option<u32> {
    let mut class = owner;
    loop {
        let name = agent.tool.class_name(class)?;
        let loader = agent.tool.class_loader(class)?;
        let loader = if loader.is_null() { 0 } else { agent.object_number(loader) };
        let fields = agent.tool.fields(class);
        for (field, member) in watched(agent, loader, &name, &fields, wanted) {
            if offset(agent, jni, class, field) != Some(wanted.offset) {
                continue;
            }
            let state_at = match member {
                Member::Cell(cell) => cell.cast_signed(),
                Member::Shadowed { descriptor, .. } => {
                    let is_shadow =
                        |other: &&DeclaredField| other.name == field.name && other.descriptor == descriptor;
                    let shadow = fields.iter().find(is_shadow)?;
                    i32::try_from(offset(agent, jni, class, shadow)?).ok()?
                }
                Member::Observed => 0,
                Member::Volatile | Member::Point | Member::Unwatched => return None,
            };
            let target = Target::Field {
                class: name.as_str().into(),
                name: field.name.as_str().into(),
                descriptor: field.descriptor.as_str().into(),
            };
            let mut code = locked(&agent.code);
            let site = code.sites.derived(call, loader, target)?;
            if agent.monitor.is_some()
                && let Some(info) = code.sites.get(site).cloned()
            {
                let join_point = JoinPoint::of_access(&info, wanted.is_static, false);
                code.advised.entry(site).or_insert_with(|| monitor::advised_site(join_point));
                return Some(site);
            }
            let is_initialisation = code.sites.get(site).is_some_and(SiteInfo::is_initialisation);
            drop(code);
            if is_initialisation && agent.settings.atomizer().is_some() {
                locked(&agent.machine).add_constructor(site);
            }
            if site != 0 {
                agent.offsets.set_i32(site as usize, state_at);
            }
            return Some(site);
        }
        class = jni.superclass(class)?;
    }
}

/// The watched fields of a class that match.
fn watched<'f>(
    agent: &Agent,
    loader: i64,
    class: &str,
    fields: &'f [DeclaredField],
    wanted: &Wanted,
) -> Vec<(&'f DeclaredField, Member)> {
    let code = locked(&agent.code);
    let followed = |field: &'f DeclaredField| {
        let is_other = wanted.descriptor.as_ref().is_some_and(|descriptor| *descriptor != field.descriptor);
        if is_other || field.is_static != wanted.is_static {
            return None;
        }
        let member = code.registry.declared(loader, class, &field.name, &field.descriptor)?;
        let fits = match member {
            Member::Cell(_) | Member::Shadowed { .. } | Member::Observed => true,
            Member::Volatile | Member::Point | Member::Unwatched => false,
        };
        fits.then(|| (field, member.clone()))
    };
    fields.iter().filter_map(followed).collect()
}

fn offset(agent: &Agent, jni: Jni, class: jclass, field: &DeclaredField) -> Option<i64> {
    let reflected = jni.reflect(class, field)?;
    let engine = agent.engine.load(Ordering::Acquire) as jclass;
    let offset = jni.long_from(engine, c"offset", c"(Ljava/lang/reflect/Field;)J", reflected);
    jni.forget(reflected);
    offset
}
