//! The lexer of pointcuts.

use super::error::PointcutError;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a keyword or a pattern of names: `int`, `com.acme..*`, `..`.
    Word(String),
    And,
    Or,
    Not,
    Open,
    Close,
    Comma,
    Plus,
    /// `[]`
    Brackets,
    End,
}

/// A token and the column in which it begins, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) column: usize,
}

/// Whether a character may be part of a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_$.*".contains(c)
}

/// The tokens of a text; the last one is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, PointcutError> {
    let mut tokens = Vec::new();
    let mut characters = text.chars().enumerate().peekable();
    while let Some((at, c)) = characters.next() {
        let column = at + 1;
        let fail =
            |problem: &str| PointcutError { text: text.to_owned(), column, problem: problem.to_owned() };
        let mut twice = |token, problem: &str| match characters.next_if(|&(_, next)| next == c) {
            Some(_) => Ok(token),
            None => Err(fail(problem)),
        };
        let token = match c {
            c if c.is_whitespace() => continue,
            '&' => twice(Token::And, "'and' is written '&&'")?,
            '|' => twice(Token::Or, "'or' is written '||'")?,
            '!' => Token::Not,
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            '+' => Token::Plus,
            '[' => match characters.next_if(|&(_, next)| next == ']') {
                Some(_) => Token::Brackets,
                None => return Err(fail("an array type is written with '[]'")),
            },
            c if is_word(c) => {
                let mut word = String::from(c);
                while let Some((_, next)) = characters.next_if(|&(_, next)| is_word(next)) {
                    word.push(next);
                }
                Token::Word(word)
            }
            _ => return Err(fail(&format!("'{}' has no meaning here", c.escape_debug()))),
        };
        tokens.push(Placed { token, column });
    }
    tokens.push(Placed { token: Token::End, column: text.chars().count() + 1 });
    Ok(tokens)
}
