//! Parses schemas: the grammar of the paper's Section 3.1, collections as arguments, which its tables use beyond it, and `<` between groups
//! of sequences, each of which ends before the next one begins.
//!
//! ```
//! let schema: fissure_object::Schema = "[put(0,0)],[clear(); put(1,1); containsKey(1)]".parse().unwrap();
//! assert_eq!(schema.to_string(), "[put(0,0)], [clear(); put(1,1); containsKey(1)]");
//! ```

use std::str::FromStr;

use crate::{
    schema::{Invocation, Schema, SchemaError},
    value::Value,
};

/// Why a text is no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// The grammar expects something else at a character, counted from 1.
    #[error("expected {expected} at character {at}")]
    Expected {
        /// The expected text.
        expected: &'static str,
        /// The character.
        at: usize,
    },
    /// The syntax is valid, but the schema is not.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl FromStr for Schema {
    type Err = GrammarError;

    fn from_str(text: &str) -> Result<Self, GrammarError> {
        let mut parser = Parser { text: text.chars().collect(), at: 0 };
        let (sequences, order) = parser.schema()?;
        Ok(Schema::new(sequences, order)?)
    }
}

/// How deeply collections may be nested.
const DEPTH: usize = 16;

type Sequences = Vec<Vec<Invocation>>;

struct Parser {
    text: Vec<char>,
    at: usize,
}

impl Parser {
    fn schema(&mut self) -> Result<(Sequences, Vec<(usize, usize)>), GrammarError> {
        let mut sequences = vec![self.sequence()?];
        let mut order = Vec::new();
        // The first sequences of the last group and of the one before it.
        let (mut group, mut earlier) = (0, 0);
        loop {
            if self.eat('<') {
                (earlier, group) = (group, sequences.len());
            } else if !self.eat(',') {
                break;
            } else if group == 0 && self.eat('{') {
                order = self.order()?;
                break;
            }
            order.extend((earlier..group).map(|before| (before, sequences.len())));
            sequences.push(self.sequence()?);
        }
        match self.peek() {
            None => Ok((sequences, order)),
            Some(_) => Err(self.expected("the end")),
        }
    }

    fn sequence(&mut self) -> Result<Vec<Invocation>, GrammarError> {
        self.demand('[', "'['")?;
        let mut sequence = vec![self.invocation()?];
        while self.eat(';') {
            sequence.push(self.invocation()?);
        }
        self.demand(']', "';' or ']'")?;
        Ok(sequence)
    }

    fn order(&mut self) -> Result<Vec<(usize, usize)>, GrammarError> {
        let mut order = Vec::new();
        loop {
            let before = self.number()?;
            self.demand('<', "'<'")?;
            order.push((before, self.number()?));
            if !self.eat(',') {
                break;
            }
        }
        self.demand('}', "',' or '}'")?;
        Ok(order)
    }

    fn invocation(&mut self) -> Result<Invocation, GrammarError> {
        let mut method = self.name("a method's name")?;
        if self.eat('<') {
            method.push('<');
            while let Some(c) = self.peek().filter(|&c| c != '>') {
                method.push(c);
                self.at += 1;
            }
            self.demand('>', "'>'")?;
            method.push('>');
        }
        self.demand('(', "'('")?;
        let arguments = self.values(')', "',' or ')'", 0)?;
        Ok(Invocation { method, arguments })
    }

    /// Values with commas between them, up to the closing character.
    fn values(
        &mut self,
        close: char,
        expected: &'static str,
        depth: usize,
    ) -> Result<Vec<Value>, GrammarError> {
        let mut values = Vec::new();
        if self.eat(close) {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth)?);
            if !self.eat(',') {
                break;
            }
        }
        self.demand(close, expected)?;
        Ok(values)
    }

    fn value(&mut self, depth: usize) -> Result<Value, GrammarError> {
        if depth > DEPTH {
            return Err(self.expected("fewer brackets"));
        }
        match self.peek() {
            Some('[') => {
                self.at += 1;
                Ok(Value::List(self.values(']', "',' or ']'", depth + 1)?))
            }
            Some('{') => {
                self.at += 1;
                self.braces(depth + 1)
            }
            Some('"') => self.text(),
            Some(c) if c == '-' || c.is_ascii_digit() => self.integer(),
            _ => {
                let name = self.name("a value")?;
                Ok(match name.as_str() {
                    "null" => Value::Null,
                    "true" => Value::Boolean(true),
                    "false" => Value::Boolean(false),
                    _ => Value::Name(name),
                })
            }
        }
    }

    /// A map, or a collection as the paper sometimes writes it: `{0,1}`.
    fn braces(&mut self, depth: usize) -> Result<Value, GrammarError> {
        if self.eat('}') {
            return Ok(Value::Map(Vec::new()));
        }
        let first = self.value(depth)?;
        if !self.eat('=') {
            let mut items = vec![first];
            if self.eat(',') {
                items.extend(self.values('}', "',' or '}'", depth)?);
            } else {
                self.demand('}', "'=', ',' or '}'")?;
            }
            return Ok(Value::List(items));
        }
        let mut entries = vec![(first, self.value(depth)?)];
        while self.eat(',') {
            let key = self.value(depth)?;
            self.demand('=', "'='")?;
            entries.push((key, self.value(depth)?));
        }
        self.demand('}', "',' or '}'")?;
        Ok(Value::Map(entries))
    }

    fn text(&mut self) -> Result<Value, GrammarError> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let c = *self.text.get(self.at).ok_or_else(|| self.expected("'\"'"))?;
            self.at += 1;
            match c {
                '"' => return Ok(Value::Text(text)),
                '\\' => {
                    text.push(*self.text.get(self.at).ok_or_else(|| self.expected("a character"))?);
                    self.at += 1;
                }
                _ => text.push(c),
            }
        }
    }

    fn integer(&mut self) -> Result<Value, GrammarError> {
        let start = self.at;
        let mut digits = String::new();
        while let Some(&c) = self.text.get(self.at)
            && (c.is_ascii_digit() || (c == '-' && digits.is_empty()))
        {
            digits.push(c);
            self.at += 1;
        }
        digits
            .parse()
            .map(Value::Integer)
            .map_err(|_| GrammarError::Expected { expected: "a number", at: start + 1 })
    }

    fn number(&mut self) -> Result<usize, GrammarError> {
        self.peek();
        let at = self.at + 1;
        match self.integer()? {
            Value::Integer(number) if number >= 0 => Ok(number as usize),
            _ => Err(GrammarError::Expected { expected: "the number of a sequence", at }),
        }
    }

    fn name(&mut self, expected: &'static str) -> Result<String, GrammarError> {
        let start = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        if !self.peek().is_some_and(start) {
            return Err(self.expected(expected));
        }
        let mut name = String::new();
        while let Some(&c) = self.text.get(self.at)
            && (start(c) || c.is_numeric())
        {
            name.push(c);
            self.at += 1;
        }
        Ok(name)
    }

    /// The next character that is no white space.
    fn peek(&mut self) -> Option<char> {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn demand(&mut self, wanted: char, expected: &'static str) -> Result<(), GrammarError> {
        if self.eat(wanted) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn expected(&self, expected: &'static str) -> GrammarError {
        GrammarError::Expected { expected, at: self.at + 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let schema: Schema = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schema.to_string(), expected, "{text}");
    }

    fn check_error(text: &str, expected: &str) {
        let error = text.parse::<Schema>().expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }

    #[test]
    fn the_harnesses_of_the_paper_are_parsed() {
        check(
            "[put(0,0)],[clear();put(1,1);containsKey(1)]",
            "[put(0,0)], [clear(); put(1,1); containsKey(1)]",
        );
        check(
            "[ put( 0 , 0 ) ] , [ clear() ] , [put(3,1)], { 0 < 2 , 1 < 2 }",
            "[put(0,0)], [clear()] < [put(3,1)]",
        );
        check("[a()] < [b()], [c()] < [d()]", "[a()] < [b()], [c()] < [d()]");
        check("[a()], [b()], [c()], {0<1}", "[a()], [b()], [c()], {0<1}");
        check("[a()], [b()], [c()], {2<0,2<1}", "[c()] < [a()], [b()]");
        check("[putAll({0=1,1=0})], [get(0); remove(1)]", "[putAll({0=1,1=0})], [get(0); remove(1)]");
        check("[offer(0); containsAll({0,1})]", "[offer(0); containsAll([0,1])]");
        check("[a(null,true,-3,\"x\\\"y\",RED,[],{})]", "[a(null,true,-3,\"x\\\"y\",RED,[],{})]");
        check("[remove<int>(0)]", "[remove<int>(0)]");
    }

    #[test]
    fn invalid_schemas_are_rejected_with_a_position() {
        check_error("", "expected '[' at character 1");
        check_error("[a()", "expected ';' or ']' at character 5");
        check_error("[a(0,]", "expected a value at character 6");
        check_error("[a()] b", "expected the end at character 7");
        check_error("[a()] < [b()], {0<1}", "expected '[' at character 16");
        check_error("[a()], {0<}", "expected a number at character 11");
        check_error("[a()], {0<1}", "there is no sequence 1: they are counted from 0");
        check_error("[a()], [b()], {0<1,1<0}", "the order between the sequences has a cycle");
        check_error("[a(99999999999999999999)]", "expected a number at character 4");
        check_error(&format!("[a({})]", "[".repeat(40)), "expected fewer brackets at character 21");
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Boolean),
            any::<i64>().prop_map(Value::Integer),
            "[ -~]{0,6}".prop_map(Value::Text),
            "[A-Z][A-Z_]{0,4}".prop_map(Value::Name),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
                prop::collection::vec((inner.clone(), inner), 0..3).prop_map(Value::Map),
            ]
        })
    }

    fn schemas() -> impl Strategy<Value = Schema> {
        let invocation = ("[a-z][a-zA-Z0-9_$]{0,6}(<int>)?", prop::collection::vec(values(), 0..3))
            .prop_map(|(method, arguments)| Invocation { method, arguments });
        let sequence = prop::collection::vec(invocation, 1..4);
        (prop::collection::vec(sequence, 1..4), any::<u8>()).prop_map(|(sequences, mask)| {
            let pairs = [(0, 1), (0, 2), (1, 2)];
            let order = pairs
                .into_iter()
                .enumerate()
                .filter(|(bit, pair)| mask & (1 << bit) != 0 && pair.1 < sequences.len());
            let order = order.map(|(_, pair)| pair).collect();
            Schema::new(sequences, order).unwrap()
        })
    }

    proptest! {
        #[test]
        fn printed_schemas_are_parsed_back(schema in schemas()) {
            let text = schema.to_string();
            let parsed: Schema = text.parse().unwrap();
            prop_assert_eq!(parsed.to_string(), text);
            prop_assert_eq!(parsed.invocations(), schema.invocations());
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[\\[\\](){};,<=\"a0 -]{0,24}") {
            let _ = text.parse::<Schema>();
        }
    }
}
