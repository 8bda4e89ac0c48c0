//! Decides whether a run saw enough for a result, and which exit code follows.

use std::process::ExitCode;

use fissure_model::{
    coverage::{Coverage, Origin, OriginKind},
    finding::{Finding, Kind, Status},
    pointcut::Pointcut,
    record::Refusal,
};
use fissure_report::{Exit, Report};

use crate::{args::FailOn, collect::Jvm};

/// Fissure's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// Nothing that counts was found.
    Clean = 0,
    /// Something was found.
    Findings = 1,
    /// Fissure was misused, failed, or could not see anything.
    Error = 2,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> ExitCode {
        ExitCode::from(code as u8)
    }
}

/// The program, and how it was watched.
#[derive(Debug)]
pub(crate) struct WatchedProgram<'a> {
    /// The first word of COMMAND.
    pub(crate) program: &'a str,
    /// Whether that is `java` itself.
    pub(crate) java: bool,
    /// The classes and pointcuts to watch.
    pub(crate) scope: &'a [Pointcut],
    /// The least that a run must have seen for a result.
    pub(crate) needs: Needs,
}

/// The least that a run must have seen for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// A JVM: the run only measures costs, and there is nothing to find.
    Jvm,
    /// Code in scope in two threads.
    Threads,
    /// A join point that the monitor script asks for.
    JoinPoints,
}

/// Why a run says nothing about the program, as one sentence with the next step.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Blindness {
    #[error(
        "'{0}' started no JVM that Fissure could reach: put the command that runs Java after `--`; if it clears \
         JAVA_TOOL_OPTIONS or leaves the work to a daemon or a container, start that JVM itself under Fissure"
    )]
    NoJvm(String),
    #[error(
        "'{0}' ended before its JVM was up, so nothing was watched: the JVM's own message above says why"
    )]
    NotUp(String),

    #[error(
        "only build tools' own JVMs were started, and those are not watched: make the build run its tests or program in a \
         forked JVM, without an earlier daemon and even if they are up to date (`gradle --no-daemon cleanTest test`), or run \
         the program directly"
    )]
    OnlyBuildTools,

    #[error(
        "'{0}' ran only tools of the JDK such as compilers, which are not watched whatever the scope: put the command that runs \
         the program after `--`"
    )]
    OnlyJdkTools(String),

    #[error("the JVM cannot be watched: {0}")]
    Unsupported(String),

    #[error(
        "the JVM ended before Fissure could see anything of it: its own message above says why; if it ran out of memory, raise -Xmx"
    )]
    NothingSeen,

    #[error("the program {0} before Fissure could see anything of it: find out what killed it")]
    Killed(Exit),

    #[error(
        "no class of the application was loaded, so nothing could be found: if the program failed, its own message is \
         above; {0}"
    )]
    NothingLoaded(String),

    #[error(
        "no class matched the scope ({0}), so nothing could be found: check --scope; a package is written 'com.acme..*'"
    )]
    NothingInScope(String),

    #[error(
        "Fissure itself failed while the program ran, and saw nothing of the rest; the program went on. Please report the error \
         at the top of this report"
    )]
    Failed,

    #[error("the monitor script {0}; the program went on without it: correct the script and try again")]
    Stopped(String),

    #[error(
        "the program reached no join point that the pointcuts of the monitor script match: check them, and --scope for code \
         that is not the application's own"
    )]
    NothingMatched,

    #[error(
        "nothing could be found: only one thread of the program ran; run something that uses several threads"
    )]
    OneThread,

    #[error("nothing could be found: code in scope ran in {threads}; {advice}")]
    OneThreadInScope {
        /// How many threads there were, and in how many of them code in scope ran.
        threads: String,
        /// The next step.
        advice: String,
    },

    #[error(
        "nothing was found, but not everything could be watched ({0}): narrow --scope to the classes that matter"
    )]
    Overflow(String),
}

/// Why the JVMs of a run showed too little for a result, if they did.
pub(crate) fn blindness(program: &WatchedProgram<'_>, jvms: &[Jvm]) -> Option<Blindness> {
    if jvms.is_empty() {
        let name = program.program.to_owned();
        return Some(if program.java { Blindness::NotUp(name) } else { Blindness::NoJvm(name) });
    }
    let watched: Vec<&Jvm> = jvms.iter().filter(|jvm| jvm.watched()).collect();
    if watched.is_empty() {
        let unsupported = jvms.iter().find_map(|jvm| match jvm.refusal() {
            Some(Refusal::Unsupported { text }) => Some(Blindness::Unsupported(text.clone())),
            _ => None,
        });
        let of_build_tools = || match jvms.iter().all(is_jdk_tool) {
            true => Blindness::OnlyJdkTools(program.program.to_owned()),
            false => Blindness::OnlyBuildTools,
        };
        return Some(unsupported.unwrap_or_else(of_build_tools));
    }
    if watched.iter().any(|jvm| !jvm.internal_errors.is_empty()) {
        return Some(Blindness::Failed);
    }
    if let Some(stopped) = watched.iter().flat_map(|jvm| &jvm.stopped).next() {
        return Some(Blindness::Stopped(stopped.clone()));
    }
    if watched.iter().any(|jvm| !jvm.findings.is_empty()) {
        return None;
    }
    let coverages: Vec<_> = watched.iter().filter_map(|jvm| jvm.coverage.as_ref()).collect();
    if coverages.is_empty() {
        return Some(Blindness::NothingSeen);
    }
    if program.needs == Needs::Jvm {
        return None;
    }
    if coverages.iter().all(|coverage| coverage.classes_in_scope == 0) {
        let scope: Vec<String> = program.scope.iter().map(ToString::to_string).collect();
        return Some(if scope.is_empty() {
            Blindness::NothingLoaded(advice(&coverages))
        } else {
            Blindness::NothingInScope(scope.join(", "))
        });
    }
    if program.needs == Needs::JoinPoints {
        let is_blind = coverages.iter().all(|coverage| coverage.accesses_analysed == 0);
        return is_blind.then_some(Blindness::NothingMatched);
    }
    // Threads of different JVMs share no fields, so one JVM needs two threads.
    let threads = coverages.iter().map(|coverage| coverage.threads).max().unwrap_or_default();
    if threads < 2 {
        return Some(Blindness::OneThread);
    }
    let full = |reason: &&String| reason.ends_with(Coverage::OVERFLOW);
    let overflow = coverages.iter().flat_map(|coverage| coverage.limits.keys()).find(full);
    match overflow {
        Some(reason) => Some(Blindness::Overflow(reason.clone())),
        None => one_thread_in_scope(&coverages, threads),
    }
}

/// Whether a JVM ran a tool of the JDK itself: javac, jar, keytool.
fn is_jdk_tool(jvm: &Jvm) -> bool {
    /// Beginnings of their main classes, with or without the module.
    const TOOLS: [&str; 3] = ["jdk.", "com.sun.tools.", "java.base/sun."];
    let command = jvm.hello.as_ref().map_or("", |hello| &hello.command);
    TOOLS.iter().any(|tool| command.starts_with(tool))
}

/// The reason if code in scope ran in fewer than two of so many threads.
pub(crate) fn one_thread_in_scope(coverages: &[&Coverage], threads: u64) -> Option<Blindness> {
    // If a JVM did not count them, there may have been many.
    let ran = coverages.iter().map(|coverage| coverage.threads_in_scope.unwrap_or(u64::MAX)).max();
    let ran = match ran {
        Some(0) => "none",
        Some(1) => "only one",
        _ => return None,
    };
    Some(Blindness::OneThreadInScope {
        threads: format!("{ran} of the program's {threads} threads"),
        advice: format!("run something that uses it in several threads, or {}", widening(coverages)),
    })
}

/// The next step if no class of the application was loaded, with the origins that were taken for libraries.
fn advice(coverages: &[&Coverage]) -> String {
    let mut sum = Coverage::default();
    coverages.iter().for_each(|coverage| sum.add(coverage));
    let libraries: Vec<&Origin> = sum.origins.iter().collect();
    if libraries.is_empty() {
        return "otherwise name the classes to watch with --scope".to_owned();
    }
    let origins = fissure_report::origins::list(&libraries);
    format!("all its classes were taken for those of libraries: {origins}; {}", widening(coverages))
}

/// How to widen the scope, with a package that was loaded if there is one.
fn widening(coverages: &[&Coverage]) -> String {
    let origins = || coverages.iter().flat_map(|coverage| &coverage.origins);
    // The application is in scope unless the user gives another scope.
    let is_given = origins().any(|origin| origin.kind == OriginKind::Scope);
    let is_outside = |kind| kind == OriginKind::Library || is_given && kind == OriginKind::Application;
    let others = origins().filter(|origin| is_outside(origin.kind) && !origin.package.is_empty());
    // A top-level package such as `org` would be too wide.
    let largest = others.max_by_key(|origin| {
        (origin.package.contains('.'), origin.kind == OriginKind::Library, origin.classes)
    });
    match largest {
        Some(origin) => format!(
            "name what to watch with --scope, for example --scope '{}..*' for {}",
            origin.package, origin.root
        ),
        None => "name what to watch with --scope".to_owned(),
    }
}

/// The note about a run that found nothing because nearly nothing of the program was in scope. `jvms` is the number of JVMs that ran
/// the same program.
pub(crate) fn scarcity(scope: &[Pointcut], coverage: &Coverage, jvms: u64) -> Option<String> {
    /// A program with fewer library classes does not consist mostly of libraries.
    const MANY: u64 = 100;
    /// Fewer than one application class in so many is nearly nothing.
    const SHARE: u64 = 50;
    let sum = |kind| {
        let of_kind = coverage.origins.iter().filter(|origin| origin.kind == kind);
        of_kind.map(|origin| origin.classes).sum::<u64>().div_ceil(jvms.max(1))
    };
    let (own, libraries) = (sum(OriginKind::Application), sum(OriginKind::Library));
    let is_scarce = scope.is_empty() && libraries >= MANY && own * SHARE < libraries;
    is_scarce.then(|| {
        format!(
            "nearly nothing of the program was in scope: {own} of {} classes outside the JDK; the others came from \
             libraries; if the code under test is among them, {}",
            own + libraries,
            widening(&[coverage])
        )
    })
}

/// The note about a run that found nothing although several threads ran: they shared no location that is watched.
pub(crate) fn reservation(program: &WatchedProgram<'_>, jvms: &[Jvm]) -> Option<String> {
    if program.needs != Needs::Threads || jvms.iter().any(|jvm| !jvm.findings.is_empty()) {
        return None;
    }
    let accessing =
        jvms.iter().filter_map(|jvm| jvm.coverage.as_ref()).map(|coverage| coverage.threads_accessing);
    let threads = match accessing.max() {
        // The static analysis removed unshared locations on purpose.
        _ if jvms.iter().any(has_unwatched_locations) => return None,
        None | Some(0) => "no thread",
        Some(1) => "only one thread",
        Some(_) => return None,
    };
    Some(format!(
        "{threads} accessed plain fields or array elements in scope (volatile and final fields and atomics cannot race); \
         if that is not what you expect, widen --scope"
    ))
}

/// Whether the static analysis removed locations.
fn has_unwatched_locations(jvm: &Jvm) -> bool {
    let locality = jvm.coverage.as_ref().and_then(|coverage| coverage.locality.as_ref());
    locality.is_some_and(|locality| {
        locality.sites_watched < locality.sites || locality.elements_watched < locality.elements
    })
}

/// The exit code of a run that saw enough.
pub(crate) fn code(report: &Report, fail_on: FailOn) -> Code {
    let counting = |finding: &Finding| counts(finding, fail_on) && report.triage.is_news(finding);
    if report.findings.iter().any(counting) { Code::Findings } else { Code::Clean }
}

/// Whether a finding counts for the exit code, if it is new.
pub(crate) fn counts(finding: &Finding, fail_on: FailOn) -> bool {
    match fail_on {
        FailOn::Warning => !finding.ordered,
        FailOn::Ordered => true,
        FailOn::Confirmed => finding.status >= Status::Confirmed,
        FailOn::ConfirmedOrFailed => {
            let is_common = matches!(finding.kind, Kind::DataRace | Kind::AtomicSetViolation);
            finding.status >= if is_common { Status::Bug } else { Status::Confirmed }
        }
        FailOn::Bug => finding.status >= Status::Bug,
        FailOn::Never => false,
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::record::Hello;

    use super::*;
    use crate::collect::tests::{finding, hello};

    fn jvm(classes_in_scope: u64, threads: u64, findings: Vec<Finding>) -> Jvm {
        let coverage = Some(Coverage { jvms: 1, classes_in_scope, threads, ..Coverage::default() });
        Jvm { hello: Some(hello(None)), findings, coverage, ended: true, ..Jvm::default() }
    }

    fn nothing_loaded() -> Blindness {
        Blindness::NothingLoaded("otherwise name the classes to watch with --scope".to_owned())
    }

    fn origin(root: &str, kind: OriginKind, classes: u64, package: &str) -> Origin {
        Origin { root: root.to_owned(), kind, classes, package: package.to_owned() }
    }

    fn refused(refusal: Refusal) -> Jvm {
        Jvm { hello: Some(hello(Some(refusal))), ..Jvm::default() }
    }

    fn check(jvms: &[Jvm], expected: Option<Blindness>) {
        let program = WatchedProgram { program: "run.sh", java: false, scope: &[], needs: Needs::Threads };
        assert_eq!(blindness(&program, jvms), expected, "{jvms:?}");
    }

    fn check_code(findings: &[bool], fail_on: FailOn, expected: Code) {
        let findings: Vec<Finding> = findings.iter().map(|&ordered| finding("a", 1, ordered)).collect();
        let report = Report { findings, ..Report::default() };
        assert_eq!(code(&report, fail_on), expected, "{report:?} {fail_on:?}");
    }

    #[test]
    fn runs_that_saw_too_little_are_distinguished() {
        let old = || Refusal::Unsupported { text: "too old".to_owned() };
        let unsupported = || Some(Blindness::Unsupported("too old".to_owned()));
        check(&[], Some(Blindness::NoJvm("run.sh".to_owned())));
        check(&[refused(Refusal::BuildTool)], Some(Blindness::OnlyBuildTools));
        let tool = |command: &str| {
            let hello = Hello { command: command.to_owned(), ..hello(Some(Refusal::BuildTool)) };
            Jvm { hello: Some(hello), ..Jvm::default() }
        };
        let javac = || tool("jdk.compiler/com.sun.tools.javac.Main -d classes Main.java");
        let gradle = || tool("org.gradle.launcher.GradleMain test");
        check(&[javac()], Some(Blindness::OnlyJdkTools("run.sh".to_owned())));
        check(&[javac(), gradle()], Some(Blindness::OnlyBuildTools));
        check(&[refused(old())], unsupported());
        check(&[refused(Refusal::BuildTool), refused(old())], unsupported());
        check(&[Jvm::default()], Some(Blindness::NothingSeen));
        check(&[jvm(0, 0, Vec::new())], Some(nothing_loaded()));
        check(&[jvm(1, 1, Vec::new())], Some(Blindness::OneThread));
        check(&[jvm(1, 1, Vec::new()), jvm(1, 1, Vec::new())], Some(Blindness::OneThread));
        check(&[jvm(1, 2, Vec::new())], None);
        check(&[refused(Refusal::BuildTool), refused(old()), jvm(1, 2, Vec::new())], None);
        check(&[jvm(1, 1, vec![finding("a", 1, true)])], None);
        let killed = Jvm { findings: vec![finding("a", 1, false)], ..Jvm::default() };
        check(&[killed], None);
    }

    #[test]
    fn code_in_scope_must_run_in_two_threads() {
        let ran = |threads_in_scope| {
            let mut jvm = jvm(1, 9, Vec::new());
            let coverage = jvm.coverage.as_mut().unwrap();
            coverage.threads_in_scope = threads_in_scope;
            coverage.origins = vec![origin("pool.jar", OriginKind::Library, 70, "org.pool")];
            jvm
        };
        check(&[ran(None)], None);
        check(&[ran(Some(2))], None);
        check(&[ran(Some(1)), ran(Some(2))], None);
        let one = Blindness::OneThreadInScope {
            threads: "only one of the program's 9 threads".to_owned(),
            advice: "run something that uses it in several threads, or name what to watch with --scope, for example \
                     --scope 'org.pool..*' for pool.jar"
                .to_owned(),
        };
        check(&[ran(Some(1))], Some(one));
        let mut found = ran(Some(1));
        found.findings = vec![finding("a", 1, true)];
        check(&[found], None);
    }

    #[test]
    fn libraries_are_listed_if_there_is_no_application() {
        let mut jvm = jvm(0, 2, Vec::new());
        jvm.coverage.as_mut().unwrap().origins = vec![
            origin("lib.jar", OriginKind::Library, 12, "com.acme"),
            origin("b.jar", OriginKind::Library, 1, "b"),
        ];
        let blindness = blindness(
            &WatchedProgram { program: "java", java: true, scope: &[], needs: Needs::Threads },
            &[jvm],
        );
        let text = blindness.unwrap().to_string();
        assert!(text.contains("those of libraries: lib.jar (12 classes), b.jar (1 class); name"), "{text}");
        assert!(text.contains("--scope 'com.acme..*' for lib.jar"), "{text}");
    }

    #[test]
    fn a_scope_with_nearly_nothing_is_noted() {
        let scarce = |own, libraries| {
            let origins = vec![
                origin("classes", OriginKind::Application, own, "com.acme"),
                origin("pool.jar", OriginKind::Library, libraries, "org.pool"),
            ];
            scarcity(&[], &Coverage { origins, ..Coverage::default() }, 1)
        };
        assert_eq!(scarce(1, 20), None);
        assert_eq!(scarce(40, 1000), None);
        assert!(
            scarce(2, 3098).unwrap().starts_with("nearly nothing of the program was in scope: 2 of 3100")
        );
    }

    #[test]
    fn a_run_without_findings_is_an_error_if_tables_overflowed() {
        let reason = &format!("lock sets {}", Coverage::OVERFLOW);
        let mut full = jvm(1, 2, Vec::new());
        full.coverage.as_mut().unwrap().limits.insert(reason.to_owned(), 1);
        check(&[full], Some(Blindness::Overflow(reason.to_owned())));
        let mut cut = jvm(1, 2, Vec::new());
        cut.coverage.as_mut().unwrap().limits.insert("arrays too large to watch".to_owned(), 1);
        check(&[cut], None);
    }

    #[test]
    fn threads_that_share_no_watched_location_are_noted() {
        let program = WatchedProgram { program: "java", java: true, scope: &[], needs: Needs::Threads };
        let accessing = |threads_accessing| {
            let mut jvm = jvm(1, 2, Vec::new());
            jvm.coverage.as_mut().unwrap().threads_accessing = threads_accessing;
            [jvm]
        };
        assert!(reservation(&program, &accessing(0)).unwrap().starts_with("no thread"));
        assert!(reservation(&program, &accessing(1)).unwrap().starts_with("only one thread"));
        assert_eq!(reservation(&program, &accessing(2)), None);
        assert_eq!(reservation(&program, &[jvm(1, 2, vec![finding("a", 1, false)])]), None);
    }

    #[test]
    fn the_reason_depends_on_command_and_scope() {
        let scope = ["a.B".parse().unwrap(), "c..*".parse().unwrap()];
        let program = WatchedProgram { program: "java", java: true, scope: &scope, needs: Needs::Threads };
        assert_eq!(blindness(&program, &[]), Some(Blindness::NotUp("java".to_owned())));
        let nothing = Some(Blindness::NothingInScope("a.B, c..*".to_owned()));
        assert_eq!(blindness(&program, &[jvm(0, 0, Vec::new())]), nothing);
        let measuring = WatchedProgram { needs: Needs::Jvm, ..program };
        assert_eq!(blindness(&measuring, &[jvm(0, 0, Vec::new())]), None);
    }

    #[test]
    fn the_exit_code_follows_fail_on() {
        check_code(&[], FailOn::Warning, Code::Clean);
        check_code(&[true], FailOn::Warning, Code::Clean);
        check_code(&[true, false], FailOn::Warning, Code::Findings);
        check_code(&[], FailOn::Ordered, Code::Clean);
        check_code(&[true], FailOn::Ordered, Code::Findings);
        check_code(&[false], FailOn::Never, Code::Clean);
        check_code(&[false], FailOn::Confirmed, Code::Clean);
        let proven = Finding { status: Status::Confirmed, ..finding("a", 1, false) };
        assert!(counts(&proven, FailOn::Warning) && counts(&proven, FailOn::Confirmed));
        assert!(!counts(&proven, FailOn::Bug));
        let violation = Finding { kind: Kind::AtomicSetViolation, ..proven.clone() };
        assert!(!counts(&violation, FailOn::ConfirmedOrFailed));
        let violation = Finding { status: Status::Bug, ..violation };
        assert!(counts(&violation, FailOn::ConfirmedOrFailed));
        let violation = Finding { kind: Kind::AtomicityViolation, status: Status::Confirmed, ..violation };
        assert!(counts(&violation, FailOn::ConfirmedOrFailed));
    }
}
