//! Why tests cannot be hunted in, each as one sentence with the next step.

/// Why tests cannot be hunted in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    #[error(
        "there is no pom.xml, build.gradle or build.gradle.kts in {0}: go to the project's folder, or name the class path of the tests \
         with --classpath"
    )]
    NoBuildFile(String),

    #[error(
        "there is no java in JAVA_HOME or on PATH: install a JDK from version 11 on, or name it with --java"
    )]
    NoJava,

    #[error(
        "{tool} cannot be started ({reason}): install it, or name the class path of the tests with --classpath"
    )]
    NoBuildTool { tool: String, reason: String },

    #[error(
        "the build failed ({tool}): {reason}; repair it, or name the class path of the tests with --classpath"
    )]
    BuildFailed { tool: String, reason: String },

    #[error("{tool} did not tell the class path of the tests: name it with --classpath")]
    NoClassPath { tool: String },

    #[error("--classpath: {0} does not exist")]
    NoEntry(String),

    #[error("there are no compiled test classes in {0}: {1}")]
    NoTestClasses(String, &'static str),

    #[error(
        "there is no test framework on the class path of the tests: add JUnit (junit-jupiter, or junit 4) or TestNG to the project's \
         test dependencies"
    )]
    NoFramework,

    #[error(
        "the class path has {engine} but not {missing}, and it could not be fetched: add it to the project's test dependencies, or run \
         the build tool's tests once"
    )]
    NoLauncher { engine: String, missing: String },

    #[error(
        "the classes are for Java {needed}, but {java} is Java {there}: name a newer java with --java, or set JAVA_HOME"
    )]
    TooNew { needed: u32, there: u32, java: String },

    #[error("the tests cannot be listed: {0}")]
    Listing(String),

    #[error("no test was found in {0}: check that the test classes are public enough for their framework")]
    NoTests(String),

    #[error("no test matches {selector}: the nearest names are {nearest}")]
    NoMatch { selector: String, nearest: String },

    #[error(
        "no report of an earlier `fissure test` is kept for this project: name the file that --json wrote, as REPORT.json#ID"
    )]
    NoLastReport,
}
