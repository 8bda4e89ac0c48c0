//! The headers of programs: comment lines at the top of a source that begin with `// fissure:` and say how to run the program, and what
//! Fissure must find in it.
//!
//! Programs for `fissure detect`:
//!
//! - `must-find ANALYSIS KIND SUBJECT`: reported, and not as ordered.
//! - `may-find ANALYSIS KIND SUBJECT`: depends on the schedule, so both results are right.
//! - `must-find-ordered ANALYSIS SUBJECT`: reported as ordered by thread start or join.
//! - `must-not-find-ordered SUBJECT`: not even reported as ordered. Other ordered findings are always right.
//! - `rule RULE SUBJECT`: Atomizer does not report the block because of this rule, and reports it without the rule.
//! - `must-leave-alone CLASS`: the coverage lists the class as not instrumented.
//! - `static-fields NUMBER`: so many plain fields are left to watch with `--static`.
//! - `detect OPTION…`: options of Fissure.
//! - `service NAME CLASS`: the class is registered as a provider of the service.
//! - `args ARGUMENT…`: the arguments of the program.
//!
//! Programs for `fissure hunt`, where KIND is the kind of a finding, or the number of a pattern of atomic sets:
//!
//! - `must-be-bug KIND SUBJECT`: made to happen, with a failure that no reference run shows.
//! - `must-confirm KIND SUBJECT`: made to happen.
//! - `must-warn KIND SUBJECT`: possible, and never made to happen.
//! - `cause WORD…`: a bug has a proved cause whose description in JSON contains all these words; there are no other proved causes.
//! - `not-cause WORD`: no proved cause contains this word.
//! - `repair`: a repair is suggested.
//! - `hunt OPTION…`: options of Fissure.
//! - `runs NUMBER`: a hunt must find the bug in so many runs, if the usual number is too small.
//!
//! Both also have `program-exit CODE` (how the program ends; in a hunt, some run ends so), `java OPTION…`, `stdin LINE` and
//! `release NUMBER`: it is compiled for this release by a JDK that has it, and older JVMs do not run it. Programs that show what could
//! differ from run to run may have `release NUMBER` too.
//!
//! Programs with atomic sets, where PATTERN is a number from 1 to 11 or `race`:
//!
//! - `must-be-bug PATTERN SUBJECT`, `must-confirm PATTERN SUBJECT`: as above.
//! - `may-confirm PATTERN SUBJECT`: allowed as well.
//! - `only-unit METHOD`: in all findings, the unit of work whose atomicity is violated is this one.
//! - `nothing-predicted`: there is not even a warning.
//! - `correct`: the program has no broken twin.
//! - `strategy NAME`: instead of assetfuzzer.
//! - `config LINE`: a line of the configuration, in its section about atomic sets.
//!
//! Classes for `fissure object`:
//!
//! - `object OPTION…`: options of Fissure.
//! - `non-atomic METHOD…`: found, with a harness that shows it. `atomic METHOD…`: not found.
//! - `not-tested METHOD…`: listed as left out, with a reason.
//!
//! A `*` at a subject's end stands for any rest. Any finding that the header does not name is a false alarm.

use crate::{
    claim::{Analysis, Claim},
    programs::Folder,
};

/// What the line of a header begins with.
const MARK: &str = "// fissure:";

/// What a header says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Options of the command of Fissure.
    pub options: Vec<String>,
    /// Options of the JVM.
    pub java_options: Vec<String>,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// The standard input of the program.
    pub stdin: String,
    /// The exit codes of the program.
    pub exits: Vec<i32>,
    /// The release to compile for, if not the oldest.
    pub release: Option<u32>,
    /// Services, and the classes that provide them.
    pub services: Vec<(String, String)>,
    /// Findings of `detect` that are not ordered.
    pub must_find: Vec<Claim>,
    /// Findings of `detect` that depend on the schedule.
    pub may_find: Vec<Claim>,
    /// Findings of `detect` that start or join orders.
    pub must_find_ordered: Vec<Claim>,
    /// Subjects of findings that `detect` must not even report as ordered.
    pub must_not_find_ordered: Vec<String>,
    /// Rules of Atomizer on which the program depends.
    pub rules: Vec<Rule>,
    /// Classes that must not be instrumented.
    pub must_leave_alone: Vec<String>,
    /// How many plain fields are left to watch with `--static`.
    pub static_fields: Option<u64>,
    /// Findings of `hunt` that lead to a failure.
    pub must_be_bug: Vec<Claim>,
    /// Findings of `hunt` that are made to happen.
    pub must_confirm: Vec<Claim>,
    /// Findings of `hunt` that may be made to happen.
    pub may_confirm: Vec<Claim>,
    /// Findings of `hunt` that are possible and never made to happen.
    pub must_warn: Vec<Claim>,
    /// The proved causes of bugs, each by words of its description.
    pub causes: Vec<Vec<String>>,
    /// Words that no proved cause contains.
    pub not_causes: Vec<String>,
    /// Whether a repair is suggested.
    pub has_repair: bool,
    /// The unit of work of all findings.
    pub only_unit: Option<String>,
    /// Whether the hunt must not even warn.
    pub nothing_predicted: bool,
    /// Whether the program is correct and has no broken twin.
    pub correct: bool,
    /// The number of runs in which a hunt must find the bug, if it is not the usual one.
    pub runs: Option<u32>,
    /// The strategy of the hunt, if the program is for a certain one.
    pub strategy: Option<String>,
    /// Lines of the configuration about atomic sets.
    pub config: String,
    /// Methods that are not atomic.
    pub non_atomic: Vec<String>,
    /// Methods that are atomic.
    pub atomic: Vec<String>,
    /// Methods that cannot be tested.
    pub not_tested: Vec<String>,
}

/// A rule of Atomizer, and the finding that it suppresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name as in `--atomizer-without`.
    pub name: String,
    /// The subject of the finding.
    pub subject: String,
}

/// A header that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// The line of the file, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Header {
    /// Reads the header of a program of a folder. An unknown line, a line for programs of another folder, and lines that contradict
    /// each other are errors.
    pub fn parse(folder: Folder, text: &str) -> Result<Self, HeaderError> {
        let mut header = Header::default();
        let end = text.lines().take_while(|line| line.starts_with("//")).count();
        for (number, line) in text.lines().enumerate() {
            let wrong = |problem: String| HeaderError { line: number + 1, problem };
            let Some(directive) = line.trim_start().strip_prefix(MARK) else { continue };
            if number >= end || !line.starts_with(MARK) {
                return Err(wrong("this line belongs to the comment at the top of the file".to_owned()));
            }
            header.add(folder, directive.trim()).map_err(wrong)?;
            // The line that completes a contradiction is the one to name.
            header.contradiction().map_or(Ok(()), |problem| Err(wrong(problem)))?;
        }
        Ok(header)
    }

    /// Whether Fissure must find something in the program.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let claims = [&self.must_find, &self.must_be_bug, &self.must_confirm];
        claims.iter().any(|claims| !claims.is_empty()) || !self.non_atomic.is_empty()
    }

    /// The file that configures atomic sets for the program.
    #[must_use]
    pub fn config_file(&self) -> String {
        format!("[atomic-sets]\n{}", self.config)
    }

    fn add(&mut self, folder: Folder, directive: &str) -> Result<(), String> {
        let words: Vec<&str> = directive.split_whitespace().collect();
        let (word, rest) = words.split_first().ok_or("the line says nothing")?;
        if !allowed(word).contains(&folder) {
            return Err(format!("'{word}' is not known in headers of programs/{}", folder.name()));
        }
        match (*word, rest) {
            ("must-find", [analysis, kind, subject]) => {
                self.must_find.push(Claim::new(kind, subject).by(parse_analysis(analysis)?));
            }
            ("may-find", [analysis, kind, subject]) => {
                self.may_find.push(Claim::new(kind, subject).by(parse_analysis(analysis)?));
            }
            ("must-find-ordered", [analysis, subject]) => {
                self.must_find_ordered.push(Claim::new("data-race", subject).by(parse_analysis(analysis)?));
            }
            ("must-not-find-ordered", [subject]) => self.must_not_find_ordered.push((*subject).to_owned()),
            ("rule", [name, subject]) => {
                self.rules.push(Rule { name: (*name).to_owned(), subject: (*subject).to_owned() });
            }
            ("must-leave-alone", [class]) => self.must_leave_alone.push((*class).to_owned()),
            ("static-fields", [number]) => once(&mut self.static_fields, word, parse(number)?)?,
            ("release", [number]) => once(&mut self.release, word, parse(number)?)?,
            ("service", [service, class]) => {
                self.services.push(((*service).to_owned(), (*class).to_owned()));
            }
            // Only a hunt has several runs, which may end in several ways.
            ("program-exit", [_]) if folder != Folder::Hunt && !self.exits.is_empty() => {
                return Err("'program-exit' is there twice".to_owned());
            }
            ("program-exit", [code]) => self.exits.push(parse(code)?),
            ("must-be-bug", [kind, subject]) => self.must_be_bug.push(hunted(folder, kind, subject)?),
            ("must-confirm", [kind, subject]) => self.must_confirm.push(hunted(folder, kind, subject)?),
            ("may-confirm", [kind, subject]) => self.may_confirm.push(hunted(folder, kind, subject)?),
            ("must-warn", [kind, subject]) => self.must_warn.push(hunted(folder, kind, subject)?),
            ("cause", [_, ..]) => self.causes.push(rest.iter().map(|&word| word.to_owned()).collect()),
            ("not-cause", [word]) => self.not_causes.push((*word).to_owned()),
            ("repair", []) => self.has_repair = true,
            ("only-unit", [unit]) => once(&mut self.only_unit, word, (*unit).to_owned())?,
            ("nothing-predicted", []) => self.nothing_predicted = true,
            ("correct", []) => self.correct = true,
            ("runs", [number]) => once(&mut self.runs, word, parse(number)?)?,
            ("strategy", [name]) => once(&mut self.strategy, word, (*name).to_owned())?,
            ("config", [_, ..]) => {
                self.config.push_str(directive[word.len()..].trim_start());
                self.config.push('\n');
            }
            ("stdin", words) if self.stdin.is_empty() => self.stdin = format!("{}\n", words.join(" ")),
            ("detect" | "hunt" | "object", [_, ..]) => many(&mut self.options, word, rest)?,
            ("java", [_, ..]) => many(&mut self.java_options, word, rest)?,
            ("args", [_, ..]) => many(&mut self.arguments, word, rest)?,
            ("non-atomic", [_, ..]) => many(&mut self.non_atomic, word, rest)?,
            ("atomic", [_, ..]) => many(&mut self.atomic, word, rest)?,
            ("not-tested", [_, ..]) => many(&mut self.not_tested, word, rest)?,
            ("stdin", _) => return Err("'stdin' is there twice".to_owned()),
            _ => return Err(format!("'{word}' takes other words than '{}'", rest.join(" "))),
        }
        Ok(())
    }

    /// Two lines of which at most one can be true.
    fn contradiction(&self) -> Option<String> {
        let exclusive: [&[&Vec<Claim>]; 2] = [
            &[&self.must_find, &self.may_find],
            &[&self.must_be_bug, &self.must_confirm, &self.may_confirm, &self.must_warn],
        ];
        for lists in exclusive {
            let claims: Vec<&Claim> = lists.iter().copied().flatten().collect();
            if let Some(claim) = first_twice(&claims) {
                return Some(format!("{claim} is claimed twice"));
            }
        }
        let ordered = self.must_find_ordered.iter().map(|claim| &claim.subject);
        if let Some(subject) =
            ordered.into_iter().find(|subject| self.must_not_find_ordered.contains(subject))
        {
            return Some(format!("{subject} must and must not be found as ordered"));
        }
        let methods: Vec<&String> =
            self.non_atomic.iter().chain(&self.atomic).chain(&self.not_tested).collect();
        if let Some(method) = first_twice(&methods) {
            return Some(format!("there are two expectations of the method {method}"));
        }
        let is_named = |word: &&String| self.causes.iter().flatten().any(|known| known == *word);
        if let Some(word) = self.not_causes.iter().find(is_named) {
            return Some(format!("{word} must and must not be a cause"));
        }
        for (is_said, word) in [(self.nothing_predicted, "nothing-predicted"), (self.correct, "correct")] {
            if is_said && self.is_broken() {
                return Some(format!("'{word}' is said of a program in which something must be found"));
            }
        }
        None
    }
}

/// The folders whose headers may have lines that begin with a word.
fn allowed(word: &str) -> &'static [Folder] {
    use Folder::{Assets, Atomicity, Behaviour, Determinism, Hunt, Object, Race, Sharing};
    match word {
        "must-find"
        | "may-find"
        | "must-find-ordered"
        | "must-not-find-ordered"
        | "rule"
        | "must-leave-alone"
        | "static-fields"
        | "detect"
        | "service"
        | "args" => &Folder::DETECT,
        "release" => &[Race, Atomicity, Sharing, Behaviour, Hunt, Determinism],
        "program-exit" | "java" | "stdin" => &[Race, Atomicity, Sharing, Behaviour, Hunt],
        "must-be-bug" | "must-confirm" => &[Hunt, Assets],
        "must-warn" | "hunt" | "cause" | "not-cause" | "repair" => &[Hunt],
        "runs" => &[Hunt],
        "may-confirm" | "only-unit" | "nothing-predicted" | "correct" | "strategy" | "config" => &[Assets],
        "object" | "non-atomic" | "atomic" | "not-tested" => &[Object],
        _ => &[],
    }
}

fn hunted(folder: Folder, kind: &str, subject: &str) -> Result<Claim, String> {
    match (folder, kind) {
        (Folder::Assets, "race") => Ok(Claim::new("data-race", subject)),
        (Folder::Assets, number) => match number.parse() {
            Ok(number @ 1..=11) => {
                Ok(Claim { pattern: Some(number), ..Claim::new("atomic-set-violation", subject) })
            }
            _ => Err(format!("'{number}' is no pattern from 1 to 11, and not 'race'")),
        },
        (_, kind) => Ok(match kind.parse() {
            Ok(number @ 1..=11) => {
                Claim { pattern: Some(number), ..Claim::new("atomic-set-violation", subject) }
            }
            _ => Claim::new(kind, subject),
        }),
    }
}

fn parse_analysis(name: &str) -> Result<Analysis, String> {
    Analysis::named(name).ok_or_else(|| format!("there is no analysis '{name}'"))
}

fn parse<T: std::str::FromStr>(number: &str) -> Result<T, String> {
    number.parse().map_err(|_| format!("'{number}' is not a number that fits"))
}

fn once<T>(place: &mut Option<T>, word: &str, value: T) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("'{word}' is there twice")),
    }
}

fn many(place: &mut Vec<String>, word: &str, values: &[&str]) -> Result<(), String> {
    if !place.is_empty() {
        return Err(format!("'{word}' is there twice"));
    }
    place.extend(values.iter().map(|&value| value.to_owned()));
    Ok(())
}

fn first_twice<'a, T: PartialEq>(items: &[&'a T]) -> Option<&'a T> {
    items.iter().enumerate().find(|(at, item)| items[..*at].contains(item)).map(|(_, item)| *item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_wrong(folder: Folder, lines: &[&str], line: usize, part: &str) {
        let text: String = lines.iter().map(|line| format!("// fissure: {line}\n")).collect();
        let error = Header::parse(folder, &text).expect_err(&text);
        assert_eq!(error.line, line, "{text}{}", error.problem);
        assert!(error.problem.contains(part), "{text}{}", error.problem);
    }

    #[test]
    fn headers_for_detect_are_parsed() {
        let text = "// Words.\n// fissure: must-find racer data-race a.B$C.d\n// fissure: must-find-ordered eraser E.f\n\
                    // fissure: program-exit 3\n// fissure: java -Xmx16m -Xint\n// fissure: stdin two words\nclass B {}";
        let expected = Header {
            must_find: vec![Claim::new("data-race", "a.B$C.d").by(Analysis::Racer)],
            must_find_ordered: vec![Claim::new("data-race", "E.f").by(Analysis::Eraser)],
            exits: vec![3],
            java_options: vec!["-Xmx16m".to_owned(), "-Xint".to_owned()],
            stdin: "two words\n".to_owned(),
            ..Header::default()
        };
        assert_eq!(Header::parse(Folder::Behaviour, text), Ok(expected));
    }

    #[test]
    fn headers_for_hunts_are_parsed() {
        let text = "// fissure: must-be-bug deadlock a.B$C.d\n// fissure: must-warn atomicity-violation E.f:*\n\
                    // fissure: hunt --atomic A.b\nclass B {}";
        let expected = Header {
            must_be_bug: vec![Claim::new("deadlock", "a.B$C.d")],
            must_warn: vec![Claim::new("atomicity-violation", "E.f:*")],
            options: vec!["--atomic".to_owned(), "A.b".to_owned()],
            ..Header::default()
        };
        assert_eq!(Header::parse(Folder::Hunt, text), Ok(expected));
    }

    #[test]
    fn headers_about_atomic_sets_are_parsed() {
        let text = "// fissure: must-be-bug 9 A$B\n// fissure: may-confirm race A.b\n// fissure: config a = 'b  c'\n";
        let header = Header::parse(Folder::Assets, text).unwrap();
        let violation = Claim { pattern: Some(9), ..Claim::new("atomic-set-violation", "A$B") };
        assert_eq!(header.must_be_bug, [violation]);
        assert_eq!(header.may_confirm, [Claim::new("data-race", "A.b")]);
        assert_eq!(header.config_file(), "[atomic-sets]\na = 'b  c'\n");
    }

    #[test]
    fn headers_about_classes_are_parsed() {
        let text =
            "// fissure: object --core add,get\n// fissure: non-atomic a b\n// fissure: atomic c\nclass C {}";
        let header = Header::parse(Folder::Object, text).unwrap();
        assert_eq!((header.options.len(), header.is_broken()), (2, true));
        assert_eq!((header.non_atomic.len(), header.atomic.len()), (2, 1));
    }

    #[test]
    fn lines_that_are_not_understood_are_errors() {
        use Folder::{Assets, Hunt, Object, Race};
        check_wrong(Race, &["must-find X.y"], 1, "takes other words");
        check_wrong(Race, &["must-find magic data-race X.y"], 1, "no analysis 'magic'");
        check_wrong(Race, &["find racer X.y"], 1, "'find' is not known in headers of programs/race");
        check_wrong(Race, &["program-exit zero"], 1, "not a number");
        check_wrong(Race, &["detect"], 1, "takes other words");
        check_wrong(Race, &[""], 1, "says nothing");
        check_wrong(Race, &["must-be-bug deadlock X.y"], 1, "'must-be-bug' is not known");
        check_wrong(Hunt, &["must-be-bug X.y"], 1, "takes other words");
        check_wrong(Hunt, &["must-find racer data-race X.y"], 1, "not known in headers of programs/hunt");
        check_wrong(Hunt, &["program-exit"], 1, "takes other words");
        check_wrong(Assets, &["must-confirm 12 A"], 1, "no pattern");
        check_wrong(Assets, &["must-confirm x A"], 1, "no pattern");
        check_wrong(Assets, &["strategy"], 1, "takes other words");
        check_wrong(Hunt, &["runs 40", "runs 50"], 2, "'runs' is there twice");
        check_wrong(Object, &["hunt --runs 3"], 1, "not known in headers of programs/object");
    }

    #[test]
    fn lines_that_contradict_each_other_are_errors() {
        use Folder::{Assets, Hunt, Object, Race, Sharing};
        let found = "must-find racer data-race X.y";
        check_wrong(Race, &[found, "may-find racer data-race X.y"], 2, "claimed twice");
        check_wrong(Race, &[found, "program-exit 0", found], 3, "claimed twice");
        check_wrong(Race, &["must-find-ordered racer X.y", "must-not-find-ordered X.y"], 2, "and must not");
        check_wrong(Race, &["program-exit 0", "program-exit 1"], 2, "'program-exit' is there twice");
        check_wrong(Sharing, &["release 17", "release 21"], 2, "'release' is there twice");
        check_wrong(Hunt, &["must-be-bug deadlock A", "must-confirm deadlock A"], 2, "claimed twice");
        check_wrong(Hunt, &["hunt --runs 3", "hunt --seed 2"], 2, "'hunt' is there twice");
        check_wrong(Hunt, &["stdin a", "stdin b"], 2, "'stdin' is there twice");
        check_wrong(Assets, &["nothing-predicted", "must-confirm 3 A"], 2, "'nothing-predicted'");
        check_wrong(Assets, &["must-be-bug 3 A", "correct"], 2, "'correct'");
        check_wrong(Object, &["atomic a b", "non-atomic b"], 2, "two expectations of the method b");
    }

    #[test]
    fn lines_outside_of_the_header_are_errors() {
        for text in ["class A {}\n// fissure: stdin x\n", "// A.\n    // fissure: stdin x\n"] {
            assert_eq!(Header::parse(Folder::Hunt, text).map_err(|error| error.line), Err(2), "{text}");
        }
    }
}
