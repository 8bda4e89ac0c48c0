//! The language of monitor scripts: Rhai without the parts that scripts do not need, and with advice and reports.

use std::rc::Rc;

use fissure_model::pointcut::Pointcut;
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext, Position, Token,
};

use crate::{
    error::function_error,
    event::When,
    monitor::{Advice, Ending, Limits, Shared, is_beyond},
    values::{self, Place, ScriptReport, places},
};

/// The clock is checked once in so many operations.
const OPERATIONS_PER_CLOCK_CHECK: u64 = 256;
/// How deeply functions may call each other.
const DEEPEST_CALLS: usize = 64;

/// An engine whose functions work on `shared`.
pub(crate) fn engine(shared: &Rc<Shared>, limits: Limits) -> Engine {
    let mut engine = Engine::new();
    // Rhai reserves the word `thread` without using it; events have threads. Rhai marks `on_parse_token` as deprecated because
    // its interface may change.
    #[allow(deprecated)]
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if word.as_str() == "thread" => Token::Identifier(word),
        token => token,
    });
    engine
        .disable_symbol("eval")
        .set_max_operations(limits.operations)
        .set_max_call_levels(DEEPEST_CALLS)
        .set_max_expr_depths(128, 64);
    let progress = shared.clone();
    engine.on_progress(move |operations| {
        if is_beyond(limits.memory) {
            progress.ending.set(Ending::Memory);
            return Some(Dynamic::UNIT);
        }
        if operations.is_multiple_of(OPERATIONS_PER_CLOCK_CHECK)
            && progress.began.get().elapsed() > limits.time
        {
            progress.ending.set(Ending::Time);
            return Some(Dynamic::UNIT);
        }
        None
    });
    bounded(&mut engine, limits.memory);
    let printing = shared.clone();
    engine.on_print(move |line| printing.outside.print(line));
    let debugging = shared.clone();
    engine.on_debug(move |line, _, _| debugging.outside.print(line));
    values::register(&mut engine);
    advices(&mut engine, shared);
    reports(&mut engine, shared);
    engine
}

/// Bounds the memory of a script. Memory is checked between operations, so operations that can fill it at once are removed, or check the
/// size of their result. (Rhai's own bounds on sizes walk through a whole array each time an element is added to it.)
fn bounded(engine: &mut Engine, memory: usize) {
    type Refusal = Result<(), Box<EvalAltResult>>;
    fn refuse(name: &str) -> Refusal {
        Err(function_error(format!("monitor scripts have no {name}(…)")))
    }
    engine.register_fn("pad", |_: &mut Array, _: i64, _: Dynamic| refuse("pad"));
    engine.register_fn("pad", |_: &mut ImmutableString, _: i64, _: char| refuse("pad"));
    engine.register_fn("pad", |_: &mut ImmutableString, _: i64, _: ImmutableString| refuse("pad"));
    engine.register_fn("blob", |_: i64| refuse("blob"));
    engine.register_fn("blob", |_: i64, _: i64| refuse("blob"));
    let replaced = move |text: &mut ImmutableString, from: &str, to: &str| -> Refusal {
        let size = text.len().saturating_add(text.matches(from).count().saturating_mul(to.len()));
        if size > memory {
            return Err(function_error("it used too much memory".to_owned()));
        }
        *text = text.replace(from, to).into();
        Ok(())
    };
    engine.register_fn(
        "replace",
        move |text: &mut ImmutableString, from: ImmutableString, to: ImmutableString| {
            replaced(text, &from, &to)
        },
    );
    engine.register_fn("replace", move |text: &mut ImmutableString, from: char, to: ImmutableString| {
        replaced(text, from.encode_utf8(&mut [0; 4]), &to)
    });
}

fn advices(engine: &mut Engine, shared: &Rc<Shared>) {
    for (name, when) in [("before", When::Before), ("after", When::After)] {
        let shared = shared.clone();
        engine.register_fn(
            name,
            move |context: NativeCallContext<'_>, pointcut: ImmutableString, function: FnPtr| {
                let position = context.call_position();
                declare(&shared, name, position)?;
                let pointcut: Pointcut =
                    pointcut.parse().map_err(|error| raise(format!("{error}"), position))?;
                shared.advices.borrow_mut().push((Advice { when, pointcut }, function));
                Ok::<(), Box<EvalAltResult>>(())
            },
        );
    }
    let ending = shared.clone();
    engine.register_fn("finish", move |context: NativeCallContext<'_>, function: FnPtr| {
        declare(&ending, "finish", context.call_position())?;
        ending.endings.borrow_mut().push(function);
        Ok::<(), Box<EvalAltResult>>(())
    });
}

/// Advice must be declared before the program starts, because the join points to instrument are decided then.
fn declare(shared: &Shared, name: &str, position: Position) -> Result<(), Box<EvalAltResult>> {
    if shared.is_loading.get() {
        return Ok(());
    }
    Err(raise(format!("{name}(…) belongs at the top level of the script"), position))
}

fn raise(problem: String, position: Position) -> Box<EvalAltResult> {
    let mut error = function_error(problem);
    error.set_position(position);
    error
}

fn reports(engine: &mut Engine, shared: &Rc<Shared>) {
    let order = shared.clone();
    engine.register_fn("ordered", move |earlier: Place, later: Place| {
        order.outside.is_before(earlier.0.event.segment, later.0.event.segment)
    });
    let plain = shared.clone();
    engine.register_fn("report", move |message: ImmutableString| {
        report(&plain, ScriptReport { message: message.to_string(), ..ScriptReport::default() });
    });
    let with_place = shared.clone();
    engine.register_fn("report", move |message: ImmutableString, place: Place| {
        report(
            &with_place,
            ScriptReport { message: message.to_string(), places: vec![place], ..ScriptReport::default() },
        );
    });
    let with_places = shared.clone();
    engine.register_fn(
        "report",
        move |message: ImmutableString, kept: Array| -> Result<(), Box<EvalAltResult>> {
            report(
                &with_places,
                ScriptReport {
                    message: message.to_string(),
                    places: places(kept)?,
                    ..ScriptReport::default()
                },
            );
            Ok(())
        },
    );
    let full = shared.clone();
    engine.register_fn("report", move |map: Map| -> Result<(), Box<EvalAltResult>> {
        report(&full, ScriptReport::from_map(map)?);
        Ok(())
    });
}

fn report(shared: &Shared, script_report: ScriptReport) {
    let now = shared.now.borrow().clone();
    let found = shared.findings.borrow_mut().add(&shared.name, script_report, now.as_deref());
    if let Some(finding) = found {
        shared.outside.found(finding);
    }
}
