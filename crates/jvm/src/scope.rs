//! Which classes' fields are watched.
//!
//! By default the application's own: whatever is neither part of the JDK nor a well-known library. Libraries and the JDK are
//! watched for what they do to locks and threads.

use fissure_model::pattern::Pattern;

/// Packages of the JDK.
const JDK: &[&str] =
    &["java.", "javax.", "jdk.", "sun.", "com.sun.", "org.w3c.dom.", "org.xml.sax.", "org.ietf.jgss."];

/// Test frameworks, build tools, agents and libraries that nearly every program carries along.
const LIBRARIES: &[&str] = &[
    "ch.qos.logback.",
    "com.fasterxml.jackson.",
    "com.google.common.",
    "com.google.gson.",
    "com.google.protobuf.",
    "com.intellij.rt.",
    "groovy.",
    "io.netty.",
    "io.opentelemetry.",
    "io.reactivex.",
    "jakarta.",
    "junit.",
    "kotlin.",
    "kotlinx.",
    "net.bytebuddy.",
    "org.apache.commons.",
    "org.apache.groovy.",
    "org.apache.log4j.",
    "org.apache.logging.",
    "org.apache.maven.",
    "org.assertj.",
    "org.codehaus.groovy.",
    "org.codehaus.plexus.",
    "org.eclipse.aether.",
    "org.gradle.",
    "org.hamcrest.",
    "org.jacoco.",
    "org.jetbrains.",
    "org.junit.",
    "org.mockito.",
    "org.objectweb.asm.",
    "org.objenesis.",
    "org.openjdk.jmh.",
    "org.opentest4j.",
    "org.slf4j.",
    "org.springframework.",
    "org.testng.",
    "reactor.",
    "scala.",
    "worker.org.gradle.",
];

/// Classes whose layout or timing the JVM itself depends on: their fields are never watched, whatever the scope says.
const NEVER: &[&str] = &["java.lang.", "jdk.internal.", "sun."];

/// Whether a class, by its name with dots, is one of the JDK's.
pub(crate) fn is_jdk(class: &str) -> bool {
    JDK.iter().any(|prefix| class.starts_with(prefix))
}

/// The scope of one run.
#[derive(Debug)]
pub(crate) struct Scope {
    patterns: Vec<Pattern>,
}

impl Scope {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Scope {
        Scope { patterns }
    }

    /// Whether the fields of a class are watched. The name is with dots.
    pub(crate) fn covers(&self, class: &str) -> bool {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| class.starts_with(prefix));
        if begins(NEVER) {
            return false;
        }
        if self.patterns.is_empty() {
            return !begins(JDK) && !begins(LIBRARIES);
        }
        self.patterns.iter().any(|pattern| pattern.matches(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], class: &str, expected: bool) {
        let scope = Scope::new(patterns.iter().map(|text| text.parse().unwrap()).collect());
        assert_eq!(scope.covers(class), expected, "{patterns:?} on {class}");
    }

    #[test]
    fn the_application_is_in_view_and_libraries_are_not() {
        check(&[], "Account", true);
        check(&[], "com.acme.Account", true);
        check(&[], "java.util.Vector", false);
        check(&[], "org.junit.runner.Runner", false);
        check(&[], "javafoo.Thing", true);
    }

    #[test]
    fn a_scope_takes_the_place_of_the_default() {
        check(&["java.util..*"], "java.util.Vector", true);
        check(&["java.util..*"], "com.acme.Account", false);
        check(&["com.acme"], "com.acme.deep.Account", true);
        check(&["java.lang..*"], "java.lang.String", false);
    }
}
