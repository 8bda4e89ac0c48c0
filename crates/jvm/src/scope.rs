//! Which classes' fields are watched.
//!
//! By default the application's own, which [`crate::origin`] tells from libraries by where classes come from. Libraries and the
//! JDK are watched for what they do to locks and threads.
//!
//! A scope is a list of pointcuts. What can be decided when a class is rewritten is decided then, so that what is not in scope costs
//! nothing; what cannot is watched, and looked at again before it is reported. A pointcut has the JDK and libraries in it only
//! if it names them: nobody who writes `!within(com.acme.util..*)` means the whole JDK.

use fissure_model::pointcut::{self, Expression, FieldPoint, NoWorld, Point, Pointcut, Value, World};

use crate::origin::{Kind, Origins};

/// Packages of the JDK.
const JDK: &[&str] =
    &["java.", "javax.", "jdk.", "sun.", "com.sun.", "org.w3c.dom.", "org.xml.sax.", "org.ietf.jgss."];

/// Classes whose layout or timing the JVM itself depends on: their fields are never watched, whatever the scope says.
const NEVER: &[&str] = &["java.lang.", "jdk.internal.", "sun."];

/// Whether a name, with dots, is like those of the JDK's classes.
pub(crate) fn is_jdk_name(class: &str) -> bool {
    JDK.iter().any(|prefix| class.starts_with(prefix))
}

/// Libraries of collections and pools: the application relies on the atomicity of their synchronized methods as it does on that of the
/// JDK's collections. The locks of other libraries, such as those that write logs or run tests, are their own affair, and
/// their authors have them in view as the application.
const SHARED_LIBRARIES: &[&str] = &["com.google.common.", "org.apache.commons."];

/// Classes of `java.util` whose locks are internal affairs: caches, services and the clockwork of timers.
const INTERNAL: &[&str] = &[
    "java.util.Calendar",
    "java.util.Currency",
    "java.util.Locale",
    "java.util.Properties",
    "java.util.Random",
    "java.util.ResourceBundle",
    "java.util.Scanner",
    "java.util.ServiceLoader",
    "java.util.TaskQueue",
    "java.util.TimeZone",
    "java.util.Timer",
    "java.util.UUID",
];

/// How a class is seen by those who ask which blocks are atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Its blocks are the application's.
    Application,
    /// Its blocks count where the application calls them.
    Library,
    /// What it does with locks is its own affair.
    None,
}

/// The scope of one run.
#[derive(Debug)]
pub(crate) struct Scope {
    pointcuts: Vec<Pointcut>,
    /// Whether there is more to it than class patterns.
    is_selective: bool,
    /// Classes that are looked into whatever the pointcuts say, by their names with dots.
    inside: Vec<String>,
    /// Tells the application from libraries.
    origins: Origins,
}

impl Scope {
    pub(crate) fn new(pointcuts: Vec<Pointcut>) -> Scope {
        let is_plain = |pointcut: &Pointcut| matches!(pointcut.expression(), Expression::Classes(_));
        Scope {
            is_selective: !pointcuts.iter().all(is_plain),
            pointcuts,
            inside: Vec::new(),
            origins: Origins::default(),
        }
    }

    /// The same, with what is known of where the program's classes come from.
    pub(crate) fn with_origins(self, origins: Origins) -> Scope {
        Scope { origins, ..self }
    }

    /// Where classes come from.
    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether a class, by its name with dots, is one of the JDK's.
    pub(crate) fn is_jdk(&self, class: &str) -> bool {
        self.origins.kind(class) == Kind::Jdk
    }

    /// Whether a class, by its name with dots, is not the application's own.
    pub(crate) fn is_library(&self, class: &str) -> bool {
        self.origins.kind(class) != Kind::Application
    }

    /// Whether the user said what is in scope.
    pub(crate) fn is_given(&self) -> bool {
        !self.pointcuts.is_empty()
    }

    /// The same, with these classes and those in them besides.
    pub(crate) fn with_inside(self, inside: Vec<String>) -> Scope {
        Scope { inside, ..self }
    }

    /// Whether a class, by its name with dots, is only there to be looked into.
    pub(crate) fn is_inside(&self, class: &str) -> bool {
        let is_part = |rest: &str| rest.is_empty() || rest.starts_with('$');
        self.inside.iter().any(|name| class.strip_prefix(name.as_str()).is_some_and(is_part))
    }

    /// Whether single points must be asked about; otherwise whole classes are in scope or not.
    pub(crate) fn is_selective(&self) -> bool {
        self.is_selective
    }

    /// Whether the fields of a class are watched. The name is with dots.
    pub(crate) fn covers(&self, class: &str) -> bool {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| class.starts_with(prefix));
        if self.is_inside(class) {
            return true;
        }
        if begins(NEVER) {
            return false;
        }
        let is_application = !self.is_library(class);
        if self.pointcuts.is_empty() {
            return is_application;
        }
        let code =
            Point { kind: pointcut::Kind::Any, class: Some(class), target: Value::Unknown, arguments: None };
        let fields = Point { kind: pointcut::Kind::Owned(class), class: None, ..code };
        self.pointcuts.iter().any(|pointcut| match pointcut.expression() {
            Expression::Classes(pattern) => pattern.matches(class),
            _ => {
                (is_application || pointcut.names(class))
                    && (pointcut.may_cover(&code, &NoWorld) || pointcut.may_cover(&fields, &NoWorld))
            }
        })
    }

    /// Whether a class outside of the default may be brought into view by whoever names it.
    pub(crate) fn may_be_named(&self, class: &str) -> bool {
        self.pointcuts.is_empty() && !NEVER.iter().any(|prefix| class.starts_with(prefix))
    }

    /// Whether a point is watched, or may turn out to be.
    pub(crate) fn has(&self, point: &Point<'_>, world: &dyn World) -> bool {
        !self.is_selective || self.pointcuts.iter().any(|pointcut| pointcut.may_cover(point, world))
    }

    /// Whether some access to a field may be watched.
    pub(crate) fn has_field(&self, field: FieldPoint<'_>, world: &dyn World) -> bool {
        let at = |kind| Point { kind, class: None, target: Value::Unknown, arguments: None };
        [field, FieldPoint { is_element: true, ..field }].into_iter().any(|field| {
            self.has(&at(pointcut::Kind::Get(field)), world)
                || self.has(&at(pointcut::Kind::Set(field)), world)
        })
    }

    /// How the blocks of a class are seen. The name is with dots.
    pub(crate) fn view(&self, class: &str) -> View {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| class.starts_with(prefix));
        if self.covers(class) {
            return View::Application;
        }
        let is_seen = match self.origins.kind(class) {
            Kind::Jdk => {
                let is_util = class.strip_prefix("java.util.").is_some_and(|name| !name.contains('.'));
                class == "java.lang.StringBuffer" || is_util && !begins(INTERNAL)
            }
            Kind::Library => begins(SHARED_LIBRARIES),
            Kind::Application => true,
        };
        if is_seen { View::Library } else { View::None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Source;

    /// A scope in a program whose classes `com.acme` come from a directory, and `org` from an archive.
    fn scope(patterns: &[&str]) -> Scope {
        let scope = Scope::new(patterns.iter().map(|text| text.parse().unwrap()).collect());
        let from = |class: &str, protocol: &str, file: &str| {
            let location = Some((protocol.to_owned(), file.to_owned()));
            let source = Source { loader: 1, location, ..Source::default() };
            scope.origins().note(class, &source);
        };
        for class in ["com.acme.Account", "com.acme.util.Pool", "com.acme.Teller"] {
            from(class, "file", "/nowhere/target/classes/");
        }
        for class in ["org.junit.runner.Runner", "org.apache.commons.collections.Buffer", "org.slf4j.Logger"]
        {
            from(class, "jar", "file:/x/app.jar!/BOOT-INF/lib/all.jar!/");
        }
        scope
    }

    fn check(patterns: &[&str], class: &str, expected: bool) {
        let scope = scope(patterns);
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

    fn check_view(patterns: &[&str], class: &str, expected: View) {
        let scope = scope(patterns);
        assert_eq!(scope.view(class), expected, "{patterns:?} on {class}");
    }

    #[test]
    fn collections_are_seen_and_internal_affairs_are_not() {
        check_view(&[], "com.acme.Account", View::Application);
        check_view(&[], "java.util.Collections$SynchronizedMap", View::Library);
        check_view(&[], "java.lang.StringBuffer", View::Library);
        check_view(&[], "java.util.concurrent.ConcurrentHashMap", View::None);
        check_view(&[], "java.util.ResourceBundle$Control", View::None);
        check_view(&[], "java.io.PrintStream", View::None);
        check_view(&[], "org.apache.commons.collections.Buffer", View::Library);
        check_view(&[], "org.slf4j.Logger", View::None);
        check_view(&["com.acme.core..*"], "com.acme.util.Pool", View::Library);
        check_view(&["java.util..*"], "java.util.Vector", View::Application);
    }

    #[test]
    fn a_scope_takes_the_place_of_the_default() {
        check(&["java.util..*"], "java.util.Vector", true);
        check(&["java.util..*"], "com.acme.Account", false);
        check(&["com.acme"], "com.acme.deep.Account", true);
        check(&["java.lang..*"], "java.lang.String", false);
    }

    #[test]
    fn pointcuts_reach_beyond_the_application_only_by_name() {
        check(&["get(int Account.*)"], "com.acme.Account", true);
        check(&["get(int Account.*)"], "com.acme.Teller", true);
        check(&["get(int Account.*)"], "java.util.Vector", false);
        check(&["!within(com.acme.util..*)"], "java.util.Vector", false);
        check(&["!within(com.acme.util..*)"], "com.acme.Account", true);
        // Code in there may access the fields of any class of the application.
        check(&["within(com.acme..*)"], "org.other.Thing", true);
        check(&["within(com.acme..*)"], "java.util.Vector", false);
        check(&["within(java.util..*) && set(*)"], "java.util.Vector", true);
        check(&["set(* java.util.Vector.*)"], "java.util.Vector", true);
        check(&["within(java.lang..*)"], "java.lang.String", false);
    }
}
