//! The scope: the classes whose fields are watched.
//!
//! By default these are the application's classes, which [`crate::origin`] distinguishes from libraries by their code sources. In
//! libraries and the JDK only the use of locks and threads is watched.
//!
//! A scope is a list of pointcuts. Conditions that can be decided when a class is rewritten are decided then, so that code out of scope
//! has no cost; accesses for which they cannot are watched, and checked again before they are reported. A pointcut covers classes of the
//! JDK and of libraries only if it names them: a user who writes `!within(com.acme.util..*)` does not mean the whole JDK.

use fissure_model::pointcut::{self, Expression, FieldPoint, NoWorld, Point, Pointcut, Value, World};

use crate::origin::{Kind, Origins};

/// Libraries of collections and pools: the application relies on the atomicity of their synchronized methods as on that of the JDK's
/// collections. The locks of other libraries, such as logging or test frameworks, are internal to them, and their authors can test
/// them as the application.
const SHARED_LIBRARIES: &[&str] = &["com.google.common.", "org.apache.commons."];

/// How the atomicity analysis treats the blocks of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Its blocks belong to the application.
    Application,
    /// Its blocks count if the application calls them.
    Library,
    /// Its blocks do not count.
    None,
}

/// The scope of one run.
#[derive(Debug)]
pub(crate) struct Scope {
    pointcuts: Vec<Pointcut>,
    /// Whether it has pointcuts other than class patterns.
    is_selective: bool,
    /// Thread-unsafe classes that are instrumented on demand, whatever the pointcuts say; names with dots.
    on_demand: Vec<String>,
    /// Distinguishes the application from libraries.
    origins: Origins,
}

impl Scope {
    pub(crate) fn new(pointcuts: Vec<Pointcut>) -> Scope {
        let is_plain = |pointcut: &Pointcut| matches!(pointcut.expression(), Expression::Classes(_));
        Scope {
            is_selective: !pointcuts.iter().all(is_plain),
            pointcuts,
            on_demand: Vec::new(),
            origins: Origins::default(),
        }
    }

    /// The same scope, with the origins of the program's classes.
    pub(crate) fn with_origins(self, origins: Origins) -> Scope {
        Scope { origins, ..self }
    }

    /// The origins of classes.
    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether a class, by its name with dots, belongs to the JDK.
    pub(crate) fn is_jdk(&self, class: &str) -> bool {
        self.origins.kind(class) == Kind::Jdk
    }

    /// Whether a class, by its name with dots, does not belong to the application.
    pub(crate) fn is_library(&self, class: &str) -> bool {
        self.origins.kind(class) != Kind::Application
    }

    /// Whether the user gave a scope.
    pub(crate) fn is_given(&self) -> bool {
        !self.pointcuts.is_empty()
    }

    /// The same scope, with these classes and their inner classes instrumented on demand.
    pub(crate) fn with_on_demand(self, on_demand: Vec<String>) -> Scope {
        Scope { on_demand, ..self }
    }

    /// Whether a class, by its name with dots, is one of those instrumented on demand.
    pub(crate) fn is_on_demand(&self, class: &str) -> bool {
        let is_part = |rest: &str| rest.is_empty() || rest.starts_with('$');
        self.on_demand.iter().any(|name| class.strip_prefix(name.as_str()).is_some_and(is_part))
    }

    /// Whether each join point must be checked; otherwise whole classes are in scope or not.
    pub(crate) fn is_selective(&self) -> bool {
        self.is_selective
    }

    /// Whether the fields of a class are watched. The name is with dots.
    pub(crate) fn covers(&self, class: &str) -> bool {
        if self.is_on_demand(class) {
            return true;
        }
        if fissure_jdk::is_never_watched(class) {
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

    /// Whether a class outside of the default scope is watched if a monitor script names it.
    pub(crate) fn may_be_named(&self, class: &str) -> bool {
        self.pointcuts.is_empty() && !fissure_jdk::is_never_watched(class)
    }

    /// Whether a join point is, or may turn out to be, in scope.
    pub(crate) fn has(&self, point: &Point<'_>, world: &dyn World) -> bool {
        !self.is_selective || self.pointcuts.iter().any(|pointcut| pointcut.may_cover(point, world))
    }

    /// Whether any access to a field may be in scope.
    pub(crate) fn has_field(&self, field: FieldPoint<'_>, world: &dyn World) -> bool {
        let at = |kind| Point { kind, class: None, target: Value::Unknown, arguments: None };
        [field, FieldPoint { is_element: true, ..field }].into_iter().any(|field| {
            self.has(&at(pointcut::Kind::Get(field)), world)
                || self.has(&at(pointcut::Kind::Set(field)), world)
        })
    }

    /// How the atomicity analysis treats the blocks of a class. The name is with dots.
    pub(crate) fn view(&self, class: &str) -> View {
        if self.covers(class) {
            return View::Application;
        }
        let counts = match self.origins.kind(class) {
            Kind::Jdk => fissure_jdk::has_atomic_blocks(class),
            Kind::Library => SHARED_LIBRARIES.iter().any(|prefix| class.starts_with(prefix)),
            Kind::Application => true,
        };
        if counts { View::Library } else { View::None }
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
    fn the_application_is_in_scope_and_libraries_are_not() {
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
    fn blocks_of_collections_count_and_internal_blocks_do_not() {
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
    fn a_given_scope_replaces_the_default() {
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
        // Code in `com.acme` may access the fields of any class of the application.
        check(&["within(com.acme..*)"], "org.other.Thing", true);
        check(&["within(com.acme..*)"], "java.util.Vector", false);
        check(&["within(java.util..*) && set(*)"], "java.util.Vector", true);
        check(&["set(* java.util.Vector.*)"], "java.util.Vector", true);
        check(&["within(java.lang..*)"], "java.lang.String", false);
    }
}
