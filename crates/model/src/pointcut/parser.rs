//! The parser of pointcuts: recursive descent, with a specific message for each syntax error.

use super::{
    error::PointcutError,
    expression::{Expression, FieldPattern, MethodPattern, Modifier, Parameter, TypePattern},
    lexer::{Placed, Token, tokens},
};
use crate::pattern::Pattern;

/// The greatest nesting depth of parentheses and exclamation marks: untrusted text must not overflow the stack.
const DEEPEST: usize = 64;

const KINDS: &str = "lock(), unlock(), get(…), set(…), call(…), execution(…), within(…), args(…), target(…), static, \
                     maybeShared() or element()";

/// Reads a pointcut or a plain class pattern.
pub(super) fn parse(text: &str) -> Result<Expression, PointcutError> {
    if text != "static"
        && let Ok(pattern) = text.parse::<Pattern>()
    {
        return Ok(Expression::Classes(pattern));
    }
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
    if *parser.token() == Token::End {
        return Err(parser.fail("it is empty; name a class, a package as in 'com.acme..*', or points"));
    }
    let expression = parser.either()?;
    match parser.token() {
        Token::End => Ok(expression),
        Token::Close => Err(parser.fail("there is no '(' for this ')'")),
        _ => Err(parser.fail("'&&' or '||' is missing before this")),
    }
}

/// The class that declares a member, and its name.
type Member = (Option<TypePattern>, String);

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        // The list ends with `End`, and `next` never moves beyond it.
        &self.tokens[self.at].token
    }

    fn next(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_there = self.token() == token;
        if is_there {
            self.next();
        }
        is_there
    }

    fn fail(&self, problem: impl Into<String>) -> PointcutError {
        self.fail_at(self.at, problem)
    }

    fn fail_at(&self, at: usize, problem: impl Into<String>) -> PointcutError {
        let column = self.tokens[at].column;
        PointcutError { text: self.text.to_owned(), column, problem: problem.into() }
    }

    /// Calls `read` one nesting level deeper.
    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, PointcutError>,
    ) -> Result<T, PointcutError> {
        if self.depth == DEEPEST {
            return Err(self.fail(format!("it is nested more than {DEEPEST} levels deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn close(&mut self) -> Result<(), PointcutError> {
        match self.token() {
            Token::Close => {
                self.next();
                Ok(())
            }
            Token::End => Err(self.fail("a ')' is missing")),
            _ => Err(self.fail("a ')' is expected here")),
        }
    }

    fn open(&mut self, after: &str) -> Result<(), PointcutError> {
        if self.takes(&Token::Open) {
            return Ok(());
        }
        Err(self.fail(format!("a '(' must follow '{after}'")))
    }

    fn either(&mut self) -> Result<Expression, PointcutError> {
        let mut parts = vec![self.both()?];
        while self.takes(&Token::Or) {
            parts.push(self.both()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Or(parts) })
    }

    fn both(&mut self) -> Result<Expression, PointcutError> {
        let mut parts = vec![self.single()?];
        while self.takes(&Token::And) {
            parts.push(self.single()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::And(parts) })
    }

    fn single(&mut self) -> Result<Expression, PointcutError> {
        match self.token().clone() {
            Token::Not => {
                self.next();
                Ok(Expression::Not(Box::new(self.deeper(Self::single)?)))
            }
            Token::Open => {
                self.next();
                let inner = self.deeper(Self::either)?;
                self.close()?;
                Ok(inner)
            }
            Token::Word(word) => {
                let expression = self.primitive(&word)?;
                Ok(expression)
            }
            Token::End => Err(self.fail(format!("something is missing here: {KINDS}"))),
            _ => Err(self.fail(format!("a pointcut is expected here: {KINDS}"))),
        }
    }

    fn primitive(&mut self, word: &str) -> Result<Expression, PointcutError> {
        let begin = self.at;
        self.next();
        let empty = |parser: &mut Self, expression| {
            parser.open(word)?;
            if *parser.token() != Token::Close && *parser.token() != Token::End {
                return Err(parser.fail(format!("'{word}()' takes nothing in its parentheses")));
            }
            parser.close().map(|()| expression)
        };
        match word {
            "static" => Ok(Expression::Static),
            "lock" => empty(self, Expression::Lock),
            "unlock" => empty(self, Expression::Unlock),
            "maybeShared" => empty(self, Expression::MaybeShared),
            "element" => empty(self, Expression::Element),
            "get" => self.field(word).map(Expression::Get),
            "set" => self.field(word).map(Expression::Set),
            "call" => self.method(word).map(Expression::Call),
            "execution" => self.method(word).map(Expression::Execution),
            "within" => {
                self.open(word)?;
                let within = self.types()?;
                self.close()?;
                Ok(Expression::Within(within))
            }
            "target" => {
                self.open(word)?;
                let target = self.types()?;
                self.close()?;
                Ok(Expression::Target(target))
            }
            "args" => {
                self.open(word)?;
                let parameters = self.parameters()?;
                Ok(Expression::Args(parameters))
            }
            _ if *self.token() == Token::Open => {
                Err(self.fail_at(begin, format!("there is no pointcut '{word}'; use {KINDS}")))
            }
            // The user most likely meant a class.
            _ => Err(self.check_name(word, begin).err().unwrap_or_else(|| {
                self.fail_at(
                    begin,
                    format!(
                        "'{word}' is not a pointcut; write 'within({word})' to select a class, or use {KINDS}"
                    ),
                )
            })),
        }
    }

    fn modifiers(&mut self) -> Vec<(bool, Modifier)> {
        let mut modifiers = Vec::new();
        loop {
            let is_not = *self.token() == Token::Not;
            let Some(Placed { token: Token::Word(word), .. }) =
                self.tokens.get(self.at + usize::from(is_not))
            else {
                return modifiers;
            };
            let Some(modifier) = Modifier::ALL.into_iter().find(|modifier| modifier.word() == word) else {
                return modifiers;
            };
            modifiers.push((is_not, modifier));
            self.at += 1 + usize::from(is_not);
        }
    }

    fn field(&mut self, word: &str) -> Result<FieldPattern, PointcutError> {
        self.open(word)?;
        let begin = self.at;
        let modifiers = self.modifiers();
        if *self.token() == Token::Close {
            let problem = if begin == self.at {
                format!("'{word}' needs a field, such as '{word}(int Account.*)', or '{word}(*)' for all")
            } else {
                "a field must follow, such as '*' for all".to_owned()
            };
            return Err(self.fail(problem));
        }
        let (of_type, (declaring, name)) = self.typed_member(&[Token::Close])?;
        self.close()?;
        if name == "new" {
            return Err(self.fail_at(begin, "no field is called 'new'"));
        }
        Ok(FieldPattern { modifiers, of_type, declaring, name })
    }

    fn method(&mut self, word: &str) -> Result<MethodPattern, PointcutError> {
        self.open(word)?;
        let modifiers = self.modifiers();
        if *self.token() == Token::Close {
            let problem = format!(
                "'{word}' needs a method, such as '{word}(void Account.add(int))', or '{word}(*)' for all"
            );
            return Err(self.fail(problem));
        }
        let (result, (declaring, name)) = self.typed_member(&[Token::Close, Token::Open])?;
        let parameters = if self.takes(&Token::Open) { Some(self.parameters()?) } else { None };
        self.close()?;
        Ok(MethodPattern { modifiers, result, declaring, name, parameters })
    }

    /// Parses a type and a member, or a member alone. The first name is a member if one of `ends` follows it.
    fn typed_member(&mut self, ends: &[Token]) -> Result<(Option<TypePattern>, Member), PointcutError> {
        let begin = self.at;
        if matches!(self.token(), Token::Word(_))
            && let Ok(member) = self.member()
            && (ends.contains(self.token()) || *self.token() == Token::End)
        {
            return Ok((None, member));
        }
        self.at = begin;
        let of_type = self.deeper(Self::one_type)?;
        if *self.token() == Token::Close || *self.token() == Token::End {
            return Err(self.fail("a name must follow the type, such as 'Account.*' or '*'"));
        }
        let member = self.member()?;
        Ok((Some(of_type), member))
    }

    /// Parses `Account.name`, `com.acme..*.name`, `Account+.name` or `name`.
    fn member(&mut self) -> Result<Member, PointcutError> {
        let Token::Word(word) = self.token().clone() else {
            return Err(self.fail("a name is expected here, such as 'Account.*'"));
        };
        let begin = self.at;
        self.next();
        if *self.token() == Token::Plus {
            let plus = self.at;
            self.next();
            let name = match self.token().clone() {
                Token::Word(rest) => rest.strip_prefix('.').map(str::to_owned),
                _ => None,
            };
            let Some(name) = name else {
                return Err(self.fail_at(plus, "after a type with '+', '.name' must follow"));
            };
            self.check_name(&word, begin)?;
            self.check_simple(&name, self.at)?;
            self.next();
            let declaring = TypePattern::Name { name: word, subtypes: true, dimensions: 0 };
            return Ok((Some(declaring), name));
        }
        self.check_name(&word, begin)?;
        let Some((class, name)) = word.rsplit_once('.') else { return Ok((None, word)) };
        // The first part of `com.acme..*` still ends with a dot: all members of all classes below that package.
        let class = if class.ends_with('.') { format!("{class}.*") } else { class.to_owned() };
        let declaring = TypePattern::Name { name: class, subtypes: false, dimensions: 0 };
        Ok((Some(declaring), name.to_owned()))
    }

    /// Parses the rest of a parameter list, including its ')'.
    fn parameters(&mut self) -> Result<Vec<Parameter>, PointcutError> {
        let mut parameters = Vec::new();
        if self.takes(&Token::Close) {
            return Ok(parameters);
        }
        loop {
            if *self.token() == Token::Word("..".to_owned()) {
                self.next();
                parameters.push(Parameter::Rest);
            } else {
                parameters.push(Parameter::Of(self.types()?));
            }
            if !self.takes(&Token::Comma) {
                self.close()?;
                return Ok(parameters);
            }
        }
    }

    fn types(&mut self) -> Result<TypePattern, PointcutError> {
        self.deeper(Self::either_type)
    }

    fn either_type(&mut self) -> Result<TypePattern, PointcutError> {
        let mut parts = vec![self.both_types()?];
        while self.takes(&Token::Or) {
            parts.push(self.both_types()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { TypePattern::Or(parts) })
    }

    fn both_types(&mut self) -> Result<TypePattern, PointcutError> {
        let mut parts = vec![self.one_type()?];
        while self.takes(&Token::And) {
            parts.push(self.one_type()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { TypePattern::And(parts) })
    }

    fn one_type(&mut self) -> Result<TypePattern, PointcutError> {
        match self.token().clone() {
            Token::Not => {
                self.next();
                Ok(TypePattern::Not(Box::new(self.deeper(Self::one_type)?)))
            }
            Token::Open => {
                self.next();
                let inner = self.types()?;
                self.close()?;
                Ok(inner)
            }
            Token::Word(word) => {
                let begin = self.at;
                self.next();
                let (name, mut dimensions) = match word.strip_suffix("...") {
                    Some(name) => (name.to_owned(), 1),
                    None => (word, 0),
                };
                self.check_name(&name, begin)?;
                let subtypes = self.takes(&Token::Plus);
                while self.takes(&Token::Brackets) {
                    dimensions += 1;
                }
                Ok(TypePattern::Name { name, subtypes, dimensions })
            }
            _ => Err(self.fail("a type is expected here, such as 'int', 'Account' or 'com.acme..*'")),
        }
    }

    fn check_name(&self, name: &str, at: usize) -> Result<(), PointcutError> {
        let problem = if name.contains("...") {
            "three dots in a row; use '..' to match any packages"
        } else if name.is_empty() || name.starts_with('.') || name.ends_with('.') {
            "a name cannot start or end with a dot; a package is written 'com.acme..*'"
        } else if name.split('.').any(|part| part.starts_with(|c: char| c.is_numeric())) {
            "a name cannot start with a digit"
        } else {
            return Ok(());
        };
        Err(self.fail_at(at, problem))
    }

    fn check_simple(&self, name: &str, at: usize) -> Result<(), PointcutError> {
        if name.contains('.') {
            return Err(self.fail_at(at, "one name must follow here, without a dot"));
        }
        self.check_name(name, at)
    }
}
