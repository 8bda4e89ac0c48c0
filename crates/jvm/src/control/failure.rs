//! Failures of the program as the hook classes report them.

use fissure_control::Thrown;
use fissure_model::{finding::Frame, record::Cause};

use crate::tested;

/// An exception with this stack, or an exit of the program.
pub(super) fn thrown(cause: Cause, stack: &str, is_test: bool) -> Thrown {
    let stack = frames(stack);
    let test = if is_test { tested::test_of(&stack) } else { None };
    Thrown { cause, stack, is_test, test }
}

/// Parses a stack: lines of class, method, file and line number.
pub(crate) fn frames(stack: &str) -> Vec<Frame> {
    stack.lines().filter_map(frame).collect()
}

/// Parses a frame from its line; `None` for frames that are not shown. A name with a line break or a tab, which class files and frames that
/// a program makes itself may have, gives lines of another form; these are left out.
fn frame(line: &str) -> Option<Frame> {
    let mut parts = line.split('\t');
    let (class, method) = (parts.next()?, parts.next()?);
    let file = parts.next().filter(|file| *file != "null").map(str::to_owned);
    let line = parts.next().and_then(|line| line.parse().ok());
    let is_shown = !class.starts_with("java.lang.Fissure") && !fissure_jdk::is_exit_frame(class, method);
    is_shown.then(|| Frame { class: class.to_owned(), method: method.to_owned(), file, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_parsed_from_lines() {
        let check = |line: &str, expected: Option<(&str, Option<u32>)>| {
            let frame = frame(line);
            let parsed = frame.as_ref().map(|frame| (frame.method.as_str(), frame.line));
            assert_eq!(parsed, expected, "{line}");
        };
        check("a.B\tm\tB.java\t7", Some(("m", Some(7))));
        check("a.B\tm\tnull\t-2", Some(("m", None)));
        check("java.lang.FissureControl\texit\tFissureControl.java\t7", None);
        check("java.lang.Runtime\texit\tRuntime.java\t7", None);
        check("nothing", None);
    }
}
