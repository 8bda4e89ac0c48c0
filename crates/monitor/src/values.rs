//! The values through which scripts access an event.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use fissure_model::finding::{Frame, Site};
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Map};
use rustc_hash::FxHashMap;

use crate::{
    error::function_error,
    event::{Event, EventSite},
    memory::Charged,
};

/// The state that a script keeps with an object, with a thread or globally, by names.
#[derive(Debug, Clone, Default)]
pub(crate) struct State(Rc<RefCell<FxHashMap<ImmutableString, Dynamic>>>);

/// The whole state of a script.
#[derive(Debug, Default)]
pub(crate) struct Store {
    objects: FxHashMap<i64, State>,
    /// For classes, which have static members.
    classes: FxHashMap<String, State>,
    threads: FxHashMap<u32, State>,
    global: State,
}

impl Store {
    /// Drops the state of an object that was garbage-collected.
    pub(crate) fn forget(&mut self, object: i64) {
        self.objects.remove(&object);
    }
}

/// The site and thread of an event, which a script may keep for a later report.
#[derive(Debug, Clone)]
pub(crate) struct Place(pub(crate) Rc<PlaceFacts>);

#[derive(Debug)]
pub(crate) struct PlaceFacts {
    pub(crate) event: Charged<Arc<Event>>,
    pub(crate) stack: Charged<Option<Rc<[Frame]>>>,
}

impl PlaceFacts {
    /// The site as reports show it.
    pub(crate) fn site(&self) -> Site {
        let site = &self.event.site;
        let here = Frame {
            class: site.class.clone(),
            method: site.method.clone(),
            file: site.file.clone(),
            line: site.line,
        };
        let mut stack = self.stack.as_deref().unwrap_or_default().to_vec();
        if stack.first().is_none_or(|frame| frame.class != here.class || frame.method != here.method) {
            stack.insert(0, here);
        }
        let role = match site.kind {
            "get" => "read",
            "set" => "write",
            "lock" => "acquire",
            "unlock" => "release",
            kind => kind,
        };
        Site {
            role: role.to_owned(),
            thread: self.event.thread_name.to_string(),
            class: site.class.clone(),
            method: site.method.clone(),
            file: site.file.clone(),
            line: site.line,
            stack,
            locks: self.event.locks.to_vec(),
        }
    }
}

/// An event, as scripts access it.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence(pub(crate) Rc<Facts>);

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) event: Charged<Arc<Event>>,
    pub(crate) place: Place,
    pub(crate) store: Rc<RefCell<Store>>,
}

impl Facts {
    fn text(text: &str) -> Dynamic {
        Dynamic::from(ImmutableString::from(text))
    }

    fn locks(&self, shared: bool) -> Dynamic {
        let locks = self.event.locks.iter().filter(|lock| lock.shared == shared);
        let mut names: Array = Vec::new();
        for lock in locks {
            // A lock may be held several times.
            let name = Facts::text(&lock.name);
            let is_known = |known: &Dynamic| {
                known.read_lock::<ImmutableString>().is_some_and(|known| *known == lock.name)
            };
            if !names.iter().any(is_known) {
                names.push(name);
            }
        }
        Dynamic::from_array(names)
    }

    fn variable(&self) -> Dynamic {
        match (self.event.index, self.event.site.member.as_str()) {
            (Some(index), _) => Facts::text(&format!("[{index}]")),
            (None, "") => Dynamic::UNIT,
            (None, member) => Facts::text(member),
        }
    }

    fn site(&self) -> String {
        site(&self.event.site)
    }

    fn object_state(&self) -> State {
        let mut store = self.store.borrow_mut();
        match &self.event.object {
            Some(object) => store.objects.entry(object.number).or_default().clone(),
            None => {
                let class = self.event.site.member.rsplit_once('.').map_or("", |(class, _)| class);
                store.classes.entry(class.to_owned()).or_default().clone()
            }
        }
    }
}

/// `com.acme.Account.add:12`.
pub(crate) fn site(site: &EventSite) -> String {
    match site.line {
        Some(line) => format!("{}.{}:{line}", site.class, site.method),
        None => format!("{}.{}", site.class, site.method),
    }
}

/// Registers the types and their properties.
pub(crate) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<State>("State");
    engine.register_indexer_get(|state: &mut State, name: ImmutableString| -> Dynamic {
        state.0.borrow().get(&name).cloned().unwrap_or(Dynamic::UNIT)
    });
    engine.register_indexer_set(|state: &mut State, name: ImmutableString, value: Dynamic| {
        if value.is_unit() {
            state.0.borrow_mut().remove(&name);
        } else {
            state.0.borrow_mut().insert(name, value);
        }
    });
    engine.register_fn("contains", |state: &mut State, name: ImmutableString| {
        state.0.borrow().contains_key(&name)
    });
    engine.register_fn("remove", |state: &mut State, name: ImmutableString| -> Dynamic {
        state.0.borrow_mut().remove(&name).unwrap_or(Dynamic::UNIT)
    });
    engine.register_fn("keys", |state: &mut State| -> Array {
        let mut keys: Vec<ImmutableString> = state.0.borrow().keys().cloned().collect();
        keys.sort();
        keys.into_iter().map(Dynamic::from).collect()
    });

    engine.register_type_with_name::<Place>("Place");
    engine.register_get("thread", |place: &mut Place| place.0.event.thread_name.to_string());
    engine.register_get("thread_id", |place: &mut Place| i64::from(place.0.event.thread));
    engine.register_get("site", |place: &mut Place| site(&place.0.event.site));
    engine.register_get("kind", |place: &mut Place| place.0.event.site.kind);
    engine.register_fn("to_string", |place: &mut Place| site(&place.0.event.site));

    engine.register_type_with_name::<Occurrence>("Event");
    let mut getter = |name: &str, get: fn(&Facts) -> Dynamic| {
        engine.register_get(name, move |occurrence: &mut Occurrence| get(&occurrence.0));
    };
    getter("kind", |facts| Facts::text(facts.event.site.kind));
    getter("thread", |facts| Facts::text(&facts.event.thread_name));
    getter("thread_id", |facts| Dynamic::from(i64::from(facts.event.thread)));
    getter("object", |facts| match &facts.event.object {
        Some(object) => Facts::text(&object.name),
        None => Dynamic::UNIT,
    });
    getter("field", |facts| match facts.event.site.kind {
        "get" | "set" => Facts::text(&facts.event.site.member),
        _ => Dynamic::UNIT,
    });
    getter("method", |facts| match facts.event.site.kind {
        "call" | "execution" => Facts::text(&facts.event.site.member),
        _ => Dynamic::UNIT,
    });
    getter("variable", Facts::variable);
    getter("index", |facts| facts.event.index.map_or(Dynamic::UNIT, |index| Dynamic::from(i64::from(index))));
    getter("site", |facts| Facts::text(&facts.site()));
    getter("class_name", |facts| Facts::text(&facts.event.site.class));
    getter("line", |facts| {
        facts.event.site.line.map_or(Dynamic::UNIT, |line| Dynamic::from(i64::from(line)))
    });
    getter("is_static", |facts| facts.event.site.is_static.into());
    getter("in_constructor", |facts| facts.event.site.in_constructor.into());
    getter("initializing", |facts| facts.event.is_initializing.into());
    getter("locks", |facts| facts.locks(false));
    getter("shared_locks", |facts| facts.locks(true));
    getter("place", |facts| Dynamic::from(facts.place.clone()));
    getter("object_state", |facts| Dynamic::from(facts.object_state()));
    getter("thread_state", |facts| {
        Dynamic::from(facts.store.borrow_mut().threads.entry(facts.event.thread).or_default().clone())
    });
    getter("global_state", |facts| Dynamic::from(facts.store.borrow().global.clone()));
}

/// A report of a script, checked.
#[derive(Debug, Default)]
pub(crate) struct ScriptReport {
    pub(crate) message: String,
    pub(crate) subject: Option<String>,
    pub(crate) places: Vec<Place>,
    pub(crate) ordered: bool,
}

impl ScriptReport {
    pub(crate) fn from_map(map: Map) -> Result<ScriptReport, Box<EvalAltResult>> {
        let mut report = ScriptReport::default();
        for (key, value) in map {
            let kind = value.type_name();
            let wrong = |expected: &str| {
                function_error(format!("'{key}' of a report must be {expected}, not {kind}"))
            };
            match key.as_str() {
                "message" => report.message = value.into_string().map_err(|_| wrong("a text"))?,
                "subject" => report.subject = Some(value.into_string().map_err(|_| wrong("a text"))?),
                "ordered" => report.ordered = value.as_bool().map_err(|_| wrong("true or false"))?,
                "places" => {
                    report.places = places(value.into_array().map_err(|_| wrong("an array of places"))?)?
                }
                _ => {
                    return Err(function_error(format!(
                        "a report has no '{key}'; it has message, subject, places and ordered"
                    )));
                }
            }
        }
        if report.message.is_empty() {
            return Err(function_error("a report needs a message".to_owned()));
        }
        Ok(report)
    }
}

/// Checks that values are places that a script kept.
pub(crate) fn places(values: Array) -> Result<Vec<Place>, Box<EvalAltResult>> {
    values
        .into_iter()
        .map(|value| {
            let kind = value.type_name();
            value.try_cast::<Place>().ok_or_else(|| {
                function_error(format!(
                    "a report's places are what 'e.place' gave, and this is of type {kind}"
                ))
            })
        })
        .collect()
}
