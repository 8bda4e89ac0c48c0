//! The semantics of pointcuts, the messages for syntax errors, and laws that hold for all pointcuts.

use proptest::prelude::*;

use super::*;

/// A small program: `Savings` is an `Account`, which is a `com.acme.Record`; nothing is known about other classes.
struct Bank;

impl World for Bank {
    fn supertypes(&self, class: &str, is_found: &mut dyn FnMut(&str) -> bool) -> bool {
        let supertypes: &[&str] = match class {
            "com.acme.Savings" => &["com.acme.Account", "com.acme.Record", "java.lang.Object"],
            "com.acme.Account" => &["com.acme.Record", "java.lang.Object"],
            "com.acme.Record" | "com.acme.Teller" => &["java.lang.Object"],
            _ => return false,
        };
        let _ = supertypes.iter().any(|name| is_found(name));
        true
    }

    fn may_be_shared(&self, field: &FieldPoint<'_>, _class: Option<&str>) -> Answer {
        (field.name != "local").into()
    }
}

fn field<'a>(owner: &'a str, name: &'a str, of_type: &'a str, access: Option<u16>) -> FieldPoint<'a> {
    FieldPoint {
        owner,
        declaring: access.map(|_| owner),
        name,
        of_type: Some(of_type),
        access,
        is_static: access.is_some_and(|access| access & 8 != 0),
        is_element: false,
    }
}

fn at<'a>(kind: Kind<'a>, class: &'a str, target: Value<'a>) -> Point<'a> {
    Point { kind, class: Some(class), target, arguments: None }
}

fn check(text: &str, point: &Point<'_>, expected: Answer) {
    let pointcut: Pointcut = text.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(pointcut.evaluate(point, &Bank), expected, "{text} at {point:?}");
}

fn check_error(text: &str, column: usize, problem: &str) {
    let error = text.parse::<Pointcut>().expect_err(text);
    assert_eq!(error.column, column, "{error}");
    assert!(error.problem.contains(problem), "{error}");
    let shown = error.to_string();
    let mark = shown.lines().last().unwrap();
    assert_eq!(mark.chars().count(), column + 2, "{shown}");
    assert!(mark.ends_with('^') && shown.lines().count() == 3, "{shown}");
}

const TELLER: &str = "com.acme.Teller";

#[test]
fn fields_are_selected_by_type_owner_name_and_modifiers() {
    use Answer::{No, Open, Yes};
    let balance = field("com.acme.Account", "balance", "int", Some(0x0002));
    let get = at(Kind::Get(balance), TELLER, Value::Declared("com.acme.Account"));
    for (text, expected) in [
        ("get(int Account.*)", Yes),
        ("get(int com.acme.Account.balance)", Yes),
        ("get(int com.acme..*.balance)", Yes),
        ("get(com.acme..*)", Yes),
        ("get(* *)", Yes),
        ("get(*)", Yes),
        ("get(balance)", Yes),
        ("get(Account.bal*)", Yes),
        ("get(long Account.*)", No),
        ("get((int || long) Account.*)", Yes),
        ("get(!int Account.*)", No),
        ("get(int Teller.*)", No),
        ("get(int com.other..*)", No),
        ("get(private int Account.*)", Yes),
        ("get(!private int Account.*)", No),
        ("get(!static !volatile * *)", Yes),
        ("get(static * *)", No),
        ("get(int Record+.*)", Yes),
        ("get(int Record.*)", No),
        ("get(int[] Account.*)", No),
        ("set(int Account.*)", No),
        ("lock()", No),
        ("call(*)", No),
        ("get(*) && within(Teller)", Yes),
        ("get(*) && within(com.acme)", Yes),
        ("get(*) && !within(com.acme..*)", No),
        ("get(*) && static", No),
        ("get(*) && !static", Yes),
        ("get(*) && maybeShared()", Yes),
        ("get(*) && !element()", Yes),
        ("get(*) && target(Account)", Yes),
        ("get(*) && target(Record)", Yes),
        ("get(*) && target(Savings)", Open),
        ("get(*) && args()", Yes),
        ("get(*) && args(int)", No),
        ("get(*) || lock()", Yes),
        ("com.acme..*", Yes),
        ("Account", No),
    ] {
        check(text, &get, expected);
    }
    let unresolved = field("com.acme.Savings", "balance", "int", None);
    let get = at(Kind::Get(unresolved), TELLER, Value::Exactly("com.acme.Savings"));
    check("get(Account.balance)", &get, Open);
    check("get(Teller.balance)", &get, No);
    check("get(volatile *)", &get, Open);
    check("get(*) && target(Teller)", &get, No);
    let local = field("com.acme.Account", "local", "int", Some(8));
    check("set(*) && maybeShared()", &at(Kind::Set(local), TELLER, Value::None), No);
    check("set(*) && target(Account)", &at(Kind::Set(local), TELLER, Value::None), No);
    check("set(*) && args(int)", &at(Kind::Set(local), TELLER, Value::None), Yes);
    check("set(*) && args(long)", &at(Kind::Set(local), TELLER, Value::None), No);
}

#[test]
fn methods_are_selected_by_their_signatures() {
    use Answer::{No, Open, Yes};
    let parameters = ["int".to_owned(), "com.acme.Record".to_owned()];
    let add = MethodPoint {
        owner: "com.acme.Savings",
        name: "add",
        parameters: &parameters,
        result: "void",
        access: Some(1),
        is_static: false,
    };
    let call = at(Kind::Call(add), TELLER, Value::Declared("com.acme.Savings"));
    for (text, expected) in [
        ("call(void Savings.add(int, Record))", Yes),
        ("call(void Account.add(int, *))", Yes),
        ("call(* com.acme..*.a*(..))", Yes),
        ("call(Account.add)", Yes),
        ("call(* *(.., Record))", Yes),
        ("call(* *(int, .., Record))", Yes),
        ("call(* *(int))", No),
        ("call(* *())", No),
        ("call(* *(long, ..))", No),
        ("call(int Account.add(..))", No),
        ("call(public * *(..))", Yes),
        ("call(!public * *(..))", No),
        ("call(Account.new(..))", No),
        ("call(* Teller.*(..))", No),
        ("execution(* *(..))", No),
        ("call(*) && args(int, Record)", Yes),
        ("call(*) && args(int, Account)", Open),
        ("call(*) && args(.., Account)", Open),
        ("call(*) && args(long, ..)", No),
        ("call(*) && target(Savings)", Yes),
    ] {
        check(text, &call, expected);
    }
    let known =
        Point { arguments: Some(&[Value::Declared("int"), Value::Exactly("com.acme.Teller")]), ..call };
    check("call(*) && args(int, Account)", &known, No);
    check("call(*) && args(int, Object)", &known, Yes);
    let nothing = Point { arguments: Some(&[Value::Declared("int"), Value::Null]), ..call };
    check("call(*) && args(int, Object)", &nothing, No);
    let made = MethodPoint { owner: "com.acme.Account", name: "<init>", ..add };
    check("execution(Account.new(..))", &at(Kind::Execution(made), "com.acme.Account", Value::Unknown), Yes);
    check("execution(* Account.*(..))", &at(Kind::Execution(made), "com.acme.Account", Value::Unknown), No);
}

#[test]
fn lock_operations_are_selected_by_the_locked_object() {
    use Answer::{No, Open, Yes};
    let lock = at(Kind::Lock, "com.acme.Teller$1", Value::Unknown);
    check("lock()", &lock, Yes);
    check("unlock()", &lock, No);
    check("lock() && within(Teller)", &lock, Yes);
    check("lock() && within(Record+)", &lock, Open);
    check("lock() && args(Account)", &lock, Open);
    let known = Point { target: Value::Exactly("com.acme.Savings"), ..lock };
    check("lock() && args(Account)", &known, Yes);
    check("lock() && args(Teller)", &known, No);
    check("lock() && target(Account)", &known, Yes);
    check("(lock() || unlock()) && !args(Account)", &known, No);
}

#[test]
fn elements_belong_to_the_variable_that_holds_the_array() {
    use Answer::{No, Yes};
    let cells =
        FieldPoint { is_element: true, ..field("com.acme.Account", "cells", "com.acme.Record[]", Some(0)) };
    let set = at(Kind::Set(cells), TELLER, Value::Unknown);
    check("set(Account.cells)", &set, Yes);
    check("set(Record[] Account.*) && element()", &set, Yes);
    check("set(*) && !element()", &set, No);
    let fixed = at(Kind::Set(FieldPoint { access: Some(0x10), ..cells }), TELLER, Value::Unknown);
    check("set(!final *)", &fixed, Yes);
    check(
        "set(!volatile !final *)",
        &at(Kind::Set(FieldPoint { access: None, ..cells }), TELLER, Value::Unknown),
        Yes,
    );
    check("set(*) && args(Record)", &set, Yes);
}

#[test]
fn a_scope_restricts_only_the_kinds_of_points_it_mentions() {
    let check = |text: &str, point: &Point<'_>, expected: bool| {
        assert_eq!(text.parse::<Pointcut>().unwrap().may_cover(point, &Bank), expected, "{text} {point:?}");
    };
    let lock = at(Kind::Lock, TELLER, Value::Unknown);
    let balance = field("com.acme.Account", "balance", "int", Some(2));
    let get = at(Kind::Get(balance), TELLER, Value::Unknown);
    check("get(int Account.*)", &get, true);
    check("get(int Account.*)", &lock, true);
    check("set(int Account.*)", &get, false);
    check("set(int Account.*) && within(Account)", &lock, false);
    check("lock() && within(Teller)", &get, true);
    check("lock() && within(Account)", &get, false);
    check("lock() || get(*)", &lock, true);
    check("get(*) && target(Savings)", &get, true);
    let anything = at(Kind::Any, TELLER, Value::Unknown);
    check("get(int Account.*)", &anything, true);
    check("get(*) && within(com.other..*)", &anything, false);
    let owned = |owner| Point { class: None, ..at(Kind::Owned(owner), TELLER, Value::Unknown) };
    check("get(int Account.*)", &owned("com.acme.Account"), true);
    check("get(int Account.*)", &owned("com.acme.Teller"), false);
    check("within(Teller) && (get(*) || set(*))", &owned("com.acme.Account"), true);
    check("lock() && within(Teller)", &owned("com.acme.Account"), true);
    check("com.acme.Account", &owned("com.acme.Teller"), false);
}

#[test]
fn negated_parts_name_no_classes() {
    let check = |text: &str, class: &str, expected: bool| {
        assert_eq!(text.parse::<Pointcut>().unwrap().names(class), expected, "{text} {class}");
    };
    check("within(java.util..*)", "java.util.Vector", true);
    check("get(* java.util.Vector.*)", "java.util.Vector", true);
    check("get(*)", "java.util.Vector", false);
    check("!within(java.util..*)", "java.util.Vector", false);
    check("within(*)", "java.util.Vector", false);
    check("java.util", "java.util.Vector", true);
}

#[test]
fn errors_are_shown_at_their_column() {
    check_error("get(int Account.*", 18, "a ')' is missing");
    check_error("get(int Account.*) &&", 22, "something is missing here");
    check_error("get(int Account.*) & lock()", 20, "'and' is written '&&'");
    check_error("lock() | unlock()", 8, "'or' is written '||'");
    check_error("lock(", 6, "a ')' is missing");
    check_error("lock(Account)", 6, "takes nothing");
    check_error("locks()", 1, "there is no pointcut 'locks'");
    check_error("lock() && Account", 11, "'within(Account)'");
    check_error("get()", 5, "'get' needs a field");
    check_error("get(static)", 11, "a field must follow");
    check_error("call()", 6, "'call' needs a method");
    check_error("get(int[] )", 11, "a name must follow the type");
    check_error("get(a...b)", 5, "three dots");
    check_error("within(.a)", 8, "start or end with a dot");
    check_error("within(a.)", 8, "start or end with a dot");
    check_error("lock())", 7, "no '(' for this ')'");
    check_error("lock() unlock()", 8, "'&&' or '||' is missing");
    check_error("get(int a b)", 11, "a ')' is expected");
    check_error("args(int,)", 10, "a type is expected");
    check_error("a/b", 2, "has no meaning");
    check_error("get(int[ x)", 8, "written with '[]'");
    check_error("!lock", 6, "a '(' must follow");
    check_error("", 1, "it is empty");
    check_error(&"!".repeat(1000), 66, "nested more than");
}

#[test]
fn lists_are_split_outside_of_parentheses() {
    let read = |text: &str| -> Vec<String> {
        Pointcut::parse_list(text).unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(read("a.B,c..*"), ["a.B", "c..*"]);
    assert_eq!(read("call(* *(int, ..)), lock()"), ["call(* *(int, ..))", "lock()"]);
    assert!(Pointcut::parse_list("a,,b").is_err());
}

fn names() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "int",
        "long",
        "Account",
        "com.acme.Account",
        "com.acme..*",
        "*",
        "A*t",
        "java.lang.Object",
        "Savings",
    ])
    .prop_map(str::to_owned)
}

fn types() -> impl Strategy<Value = TypePattern> {
    let leaf = (names(), any::<bool>(), 0..2_usize)
        .prop_map(|(name, subtypes, dimensions)| TypePattern::Name { name, subtypes, dimensions });
    leaf.prop_recursive(2, 6, 3, |inner| {
        let several = proptest::collection::vec(inner.clone(), 2..3);
        prop_oneof![
            inner.prop_map(|inner| TypePattern::Not(Box::new(inner))),
            several.clone().prop_map(TypePattern::And),
            several.prop_map(TypePattern::Or),
        ]
    })
}

fn declaring() -> impl Strategy<Value = Option<TypePattern>> {
    proptest::option::of((names(), any::<bool>()).prop_map(|(name, subtypes)| TypePattern::Name {
        name,
        subtypes,
        dimensions: 0,
    }))
}

fn modifiers() -> impl Strategy<Value = Vec<(bool, Modifier)>> {
    proptest::collection::vec((any::<bool>(), proptest::sample::select(Modifier::ALL.to_vec())), 0..3)
}

fn parameters() -> impl Strategy<Value = Vec<Parameter>> {
    let one = prop_oneof![Just(Parameter::Rest), types().prop_map(Parameter::Of)];
    proptest::collection::vec(one, 0..3)
}

fn fields() -> impl Strategy<Value = FieldPattern> {
    let name = proptest::sample::select(vec!["balance", "*", "b*"]).prop_map(str::to_owned);
    (modifiers(), proptest::option::of(types()), declaring(), name).prop_map(
        |(modifiers, of_type, declaring, name)| FieldPattern { modifiers, of_type, declaring, name },
    )
}

fn methods() -> impl Strategy<Value = MethodPattern> {
    let name = proptest::sample::select(vec!["add", "*", "new"]).prop_map(str::to_owned);
    (modifiers(), proptest::option::of(types()), declaring(), name, proptest::option::of(parameters()))
        .prop_map(|(modifiers, result, declaring, name, parameters)| MethodPattern {
            modifiers,
            result,
            declaring,
            name,
            parameters,
        })
}

fn expressions() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        Just(Expression::Lock),
        Just(Expression::Unlock),
        Just(Expression::Static),
        Just(Expression::MaybeShared),
        Just(Expression::Element),
        fields().prop_map(Expression::Get),
        fields().prop_map(Expression::Set),
        methods().prop_map(Expression::Call),
        methods().prop_map(Expression::Execution),
        types().prop_map(Expression::Within),
        types().prop_map(Expression::Target),
        parameters().prop_map(Expression::Args),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let several = proptest::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.prop_map(|inner| Expression::Not(Box::new(inner))),
            several.clone().prop_map(Expression::And),
            several.prop_map(Expression::Or),
        ]
    })
}

/// Passes points of several kinds, with more and fewer known facts, to `check`.
fn with_points(mut check: impl FnMut(&Point<'_>)) {
    let parameters = ["int".to_owned(), "com.acme.Account".to_owned()];
    let balance = field("com.acme.Account", "balance", "int", Some(2));
    let unresolved = field("com.acme.Savings", "balance", "long", None);
    let add = MethodPoint {
        owner: "com.acme.Savings",
        name: "add",
        parameters: &parameters,
        result: "void",
        access: None,
        is_static: false,
    };
    for kind in [
        Kind::Any,
        Kind::Owned("com.acme.Account"),
        Kind::Lock,
        Kind::Unlock,
        Kind::Get(balance),
        Kind::Set(balance),
        Kind::Get(unresolved),
        Kind::Set(FieldPoint { is_element: true, of_type: Some("long[]"), ..unresolved }),
        Kind::Call(add),
        Kind::Execution(MethodPoint { name: "<init>", access: Some(1), ..add }),
    ] {
        for target in
            [Value::Unknown, Value::Exactly("com.acme.Savings"), Value::Declared("com.acme.Account")]
        {
            check(&at(kind, TELLER, target));
            check(&Point { class: None, ..at(kind, TELLER, target) });
        }
    }
}

proptest! {
    #[test]
    fn printed_expressions_parse_to_themselves(expression in expressions()) {
        let text = expression.to_string();
        let read: Pointcut = text.parse().map_err(|error| TestCaseError::fail(format!("{error}")))?;
        prop_assert_eq!(read.expression(), &expression, "{}", text);
    }

    #[test]
    fn the_laws_of_logic_hold(a in expressions(), b in expressions(), c in expressions()) {
        let not = |a: &Expression| Expression::Not(Box::new(a.clone()));
        let and = |a: &Expression, b: &Expression| Expression::And(vec![a.clone(), b.clone()]);
        let or = |a: &Expression, b: &Expression| Expression::Or(vec![a.clone(), b.clone()]);
        let mut laws = Vec::new();
        with_points(|point| {
            let is = |expression: &Expression| expression.evaluate(point, &Bank);
            laws.push(is(&not(&not(&a))) == is(&a));
            laws.push(is(&not(&and(&a, &b))) == is(&or(&not(&a), &not(&b))));
            laws.push(is(&and(&a, &b)) == is(&and(&b, &a)));
            laws.push(is(&and(&a, &or(&b, &c))) == is(&or(&and(&a, &b), &and(&a, &c))));
            laws.push(is(&or(&a, &not(&a))) != Answer::No && is(&and(&a, &not(&a))) != Answer::Yes);
            laws.push(is(&a) == Answer::No || a.may_cover(point, &Bank));
        });
        prop_assert!(laws.iter().all(|&holds| holds), "{} / {} / {}: {:?}", a, b, c, laws);
    }

    #[test]
    fn a_decided_answer_stays_the_same_when_more_facts_are_known(a in expressions()) {
        let open = field("com.acme.Savings", "balance", "int", None);
        let known = FieldPoint { declaring: Some("com.acme.Account"), access: Some(2), ..open };
        let before = at(Kind::Get(open), TELLER, Value::Declared("com.acme.Savings"));
        let after = at(Kind::Get(known), TELLER, Value::Exactly("com.acme.Savings"));
        let (first, second) = (a.evaluate(&before, &Bank), a.evaluate(&after, &Bank));
        prop_assert!(first == Answer::Open || first == second, "{}: {:?}, then {:?}", a, first, second);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-zA-Z0-9_$.*!&|()+,\\[\\] ü\u{0}-]{0,60}") {
        if let Err(error) = text.parse::<Pointcut>() {
            prop_assert!(error.column <= text.trim().chars().count() + 1, "{}", error);
        }
    }

    #[test]
    fn no_sequence_of_tokens_makes_the_parser_panic(words in proptest::collection::vec(proptest::sample::select(vec![
        "get(", "set(", "call(", "lock()", "within(", "args(", "static", "!", "&&", "||", "(", ")", "int", "a.B.*", "+",
        "[]", "..", ",", "new", " ", "private", ".x",
    ]), 0..30)) {
        let text: String = words.concat();
        if let Ok(read) = text.parse::<Pointcut>() {
            let again: Pointcut = read.expression().to_string().parse().map_err(|error| TestCaseError::fail(format!("{error}")))?;
            prop_assert_eq!(again.expression(), read.expression());
        }
    }
}
