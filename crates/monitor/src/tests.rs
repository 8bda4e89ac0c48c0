//! Tests of the abilities of scripts, the errors for scripts that cannot be loaded, and how scripts that fail are stopped.

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Duration};

use fissure_model::finding::{Finding, HeldLock};

use crate::{Event, EventSite, Limits, Monitor, Object, Outside, memory::Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Listener {
    lines: RefCell<Vec<String>>,
    findings: RefCell<Vec<Finding>>,
}

impl Outside for Listener {
    fn print(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }

    fn found(&self, finding: Finding) {
        self.findings.borrow_mut().push(finding);
    }

    fn is_before(&self, earlier: u32, later: u32) -> bool {
        earlier < later
    }
}

fn load(source: &str) -> (Result<Monitor, String>, Rc<Listener>) {
    let listener = Rc::new(Listener::default());
    let limits = Limits { operations: 20_000, memory: 1 << 20, time: Duration::from_secs(60) };
    let monitor = Monitor::load("test.rhai", source, limits, listener.clone());
    (monitor.map_err(|error| error.to_string()), listener)
}

fn event(kind: &'static str, thread: u32, object: i64, locks: &[&str]) -> Event {
    Event {
        advices: Arc::new([0]),
        site: Arc::new(EventSite {
            number: 7,
            kind,
            class: "com.acme.Teller".to_owned(),
            method: "pay".to_owned(),
            file: Some("Teller.java".to_owned()),
            line: Some(12),
            member: if kind == "lock" { String::new() } else { "com.acme.Account.balance".to_owned() },
            field_type: Some("int".to_owned()),
            is_static: object == 0,
            in_constructor: false,
        }),
        thread,
        thread_name: format!("T{thread}").into(),
        segment: thread,
        object: (object != 0)
            .then(|| Object { number: object, name: format!("com.acme.Account@{object}").into() }),
        index: None,
        locks: locks
            .iter()
            .map(|&name| HeldLock { name: name.to_owned(), shared: name.starts_with('r') })
            .collect(),
        is_initializing: false,
        stack: None,
    }
}

fn check_printed(source: &str, events: &[Event], expected: &[&str]) {
    let (monitor, listener) = load(source);
    let mut monitor = monitor.unwrap();
    for event in events {
        monitor.handle(event.clone()).unwrap();
    }
    monitor.finish().unwrap();
    assert_eq!(*listener.lines.borrow(), expected, "{source}");
}

fn check_refused(source: &str, expected: &str) {
    let error = load(source).0.unwrap_err();
    assert!(error.starts_with(expected), "{error}");
}

fn check_stopped(body: &str, expected: &str) {
    let (monitor, listener) = load(&format!("let all = [];\nbefore(\"get(*)\", |e| {{\n{body}\n}});"));
    let mut monitor = monitor.unwrap();
    let stopped = (0..20_000).find_map(|at| monitor.handle(event("get", 1, at + 1, &["a"])).err());
    let stopped = stopped.unwrap_or_else(|| panic!("{body} was not stopped")).to_string();
    assert!(stopped.contains(expected), "{stopped}");
    monitor.handle(event("get", 1, 1, &[])).unwrap();
    monitor.finish().unwrap();
    assert!(listener.findings.borrow().is_empty());
}

#[test]
fn events_have_thread_object_member_and_site() {
    let get = event("get", 1, 3, &["a", "b", "a", "r"]);
    for (expression, expected) in [
        ("e.kind", "get"),
        ("e.thread", "T1"),
        ("e.thread_id", "1"),
        ("e.object", "com.acme.Account@3"),
        ("e.field", "com.acme.Account.balance"),
        ("e.variable", "com.acme.Account.balance"),
        ("e.site", "com.acme.Teller.pay:12"),
        ("e.class_name", "com.acme.Teller"),
        ("e.line", "12"),
        ("e.locks", "[\"a\", \"b\"]"),
        ("e.shared_locks", "[\"r\"]"),
        ("e.method", ""),
        ("e.index", ""),
        ("e.is_static", "false"),
        ("e.place", "com.acme.Teller.pay:12"),
        ("e.place.thread", "T1"),
    ] {
        check_printed(
            &format!("before(\"get(*)\", |e| print({expression}))"),
            std::slice::from_ref(&get),
            &[expected],
        );
    }
    let element = Event { index: Some(4), ..get };
    check_printed("before(\"get(*)\", |e| print(`${e.variable} ${e.index}`))", &[element], &["[4] 4"]);
}

#[test]
fn state_is_kept_with_objects_with_threads_and_globally() {
    let events = [event("get", 1, 1, &[]), event("get", 2, 1, &[]), event("get", 1, 2, &[])];
    let count = |of: &str| {
        format!(
            "before(\"get(*)\", |e| {{ if e.{of}.n == () {{ e.{of}.n = 0; }} e.{of}.n += 1; print(e.{of}.n) }})"
        )
    };
    check_printed(&count("object_state"), &events, &["1", "2", "1"]);
    check_printed(&count("thread_state"), &events, &["1", "1", "2"]);
    check_printed(&count("global_state"), &events, &["1", "2", "3"]);
    let captured = "let n = 0; before(\"get(*)\", |e| { n += 1; }); finish(|| print(n))";
    check_printed(captured, &events, &["3"]);
    let lists = "before(\"get(*)\", |e| { let s = e.object_state; if !s.contains(\"l\") { s.l = []; } s.l.push(e.thread); print(s.l.len) })";
    check_printed(lists, &events, &["1", "2", "1"]);
    let (monitor, listener) = load(&count("object_state"));
    let mut monitor = monitor.unwrap();
    monitor.handle(events[0].clone()).unwrap();
    monitor.forget(&[1]);
    monitor.handle(events[0].clone()).unwrap();
    assert_eq!(*listener.lines.borrow(), ["1", "1"]);
}

#[test]
fn reports_become_findings_with_their_places() {
    let source = "before(\"get(*)\", |e| {
        let s = e.object_state;
        if s.first == () { s.first = e.place; }
        else { report(#{ message: \"seen twice\", places: [s.first], ordered: ordered(s.first, e.place) }); }
    })";
    let (monitor, listener) = load(source);
    let mut monitor = monitor.unwrap();
    for (thread, object) in [(2, 1), (3, 1), (2, 2), (1, 2), (1, 2), (2, 3), (1, 3)] {
        monitor.handle(event("get", thread, object, &["a"])).unwrap();
    }
    monitor.finish().unwrap();
    let findings = listener.findings.borrow();
    // The first is ordered, the second is not, and the last has the final count.
    assert_eq!(findings.iter().map(|finding| finding.ordered).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(findings.iter().map(|finding| finding.hits).collect::<Vec<_>>(), [1, 1, 2]);
    let last = &findings[2];
    assert_eq!((last.subject.as_str(), last.analysis.as_str()), ("com.acme.Account.balance", "test.rhai"));
    assert_eq!(last.reason.as_deref(), Some("seen twice"));
    let threads: Vec<&str> = last.sites.iter().map(|site| site.thread.as_str()).collect();
    assert_eq!(threads, ["T2", "T1"]);
    assert_eq!((last.sites[0].role.as_str(), last.sites[0].line), ("read", Some(12)));
    assert_eq!(last.sites[0].locks.len(), 1);
}

#[test]
fn scripts_that_cannot_be_loaded_are_rejected_with_line_and_column() {
    check_refused("before(", "line 1, column 8: ");
    check_refused("\n  let = 3;", "line 2, column 7: ");
    check_refused(
        "before(\"get(int A.*\", |e| 0);",
        "line 1, column 1: no pointcut: a ')' is missing (column 12)",
    );
    check_refused("let x = 1;", "it has no advice");
    check_refused("throw \"no\";", "line 1, column 1: it threw 'no'");
    check_refused("loop {}", "line 1");
    check_refused("eval(\"1\")", "line 1, column 1: ");
    check_refused("nothing(1)", "line 1, column 1: Function not found");
}

#[test]
fn scripts_that_fail_are_stopped_with_the_reason() {
    check_stopped("throw \"enough\";", "line 3, column 1: it threw 'enough'");
    check_stopped("loop {}", "did not come to an end");
    check_stopped("let x = 1 / 0;", "Division by zero");
    check_stopped("all.push(e.object);", "too much memory");
    check_stopped("let s = \"x\"; loop { s += s; }", "too much memory");
    check_stopped("e.object_state.text = \"0123456789abcdef\".to_upper() + e.object;", "too much memory");
    check_stopped("e.object_state.place = e.place;", "too much memory");
    check_stopped("[].pad(1000000000, 1);", "have no pad");
    check_stopped("let s = \"\"; s.pad(1000000000, 'x');", "have no pad");
    check_stopped("let s = \"a\"; loop { s.replace(\"a\", s + s); }", "too much memory");
    check_stopped("blob(1000000000, 1);", "have no blob");
    check_stopped("loop { all.push(1); }", "did not come to an end");
    check_stopped("report(#{ message: \"m\", what: 1 });", "a report has no 'what'");
    check_stopped("report(#{ message: \"m\", places: [1] });", "'e.place'");
    check_stopped("before(\"lock()\", |e| 0);", "belongs at the top level");
    check_stopped("fn_that_is_not_there();", "Function not found");
}

#[test]
fn freed_memory_does_not_count() {
    let (monitor, _) = load(
        "before(\"get(*)\", |e| { e.thread_state.last = e.place; e.object_state.text = `${e.locks}`; })",
    );
    let mut monitor = monitor.unwrap();
    for at in 1..20_000_i64 {
        monitor.handle(event("get", 1, at, &["a", "b", "c"])).unwrap();
        monitor.forget(&[at]);
    }
}
