//! Why a class cannot be tested, each as one sentence with the next step.

/// What is wrong with what was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObjectError {
    /// There is no `java`.
    #[error(
        "there is no java in JAVA_HOME or on PATH; install a JDK or JRE from version 11 on, or name it with --java"
    )]
    NoJava,

    /// The JVM does not come up.
    #[error(
        "{java} cannot be used ({reason}); it must be a JVM from version 11 on, check --java and --classpath"
    )]
    NoJvm {
        /// What was started.
        java: String,
        /// What it said.
        reason: String,
    },

    /// The JVM ends again and again.
    #[error(
        "the JVM ended again and again, with {class} or before; check --java and that the class can be loaded at all"
    )]
    Dead {
        /// The class under test.
        class: String,
    },

    /// No such class.
    #[error(
        "there is no class {class}: give its full name, nested classes with $, and where it is with --classpath"
    )]
    NoClass {
        /// The class under test.
        class: String,
    },

    /// The class is there but cannot be loaded.
    #[error("{class} cannot be loaded ({reason}); --classpath must have everything that it needs")]
    Broken {
        /// The class under test.
        class: String,
        /// What the JVM said.
        reason: String,
    },

    /// No object of it can be made.
    #[error("{class} is {what}, so that there are no objects of it; name a class that implements it")]
    Abstract {
        /// The class under test.
        class: String,
        /// Interface or abstract.
        what: &'static str,
    },

    /// Nobody may make objects of it.
    #[error(
        "{class} has no public constructor; test a class of your own that makes and wraps such an object"
    )]
    NoConstructor {
        /// The class under test.
        class: String,
    },

    /// No constructor can be called with what is known.
    #[error(
        "no constructor of {class} takes these arguments; give some with --constructor, as in --constructor '16,true'"
    )]
    Constructor {
        /// The class under test.
        class: String,
    },

    /// The constructor throws.
    #[error("the constructor of {class} threw {reason}; give other arguments with --constructor")]
    ConstructorThrows {
        /// The class under test.
        class: String,
        /// What it threw.
        reason: String,
    },

    /// Nothing to compare with.
    #[error(
        "no method of {class} is known to be basic; name the ones that you take to be atomic with --core, as in --core get,set"
    )]
    NoCore {
        /// The class under test.
        class: String,
    },

    /// No such method.
    #[error("{class} has no public method {method}; write it as put, put/2 or put(Object, Object)")]
    NoMethod {
        /// The class under test.
        class: String,
        /// What was asked for.
        method: String,
    },

    /// The method exists but cannot be called.
    #[error("{method} cannot be tested: {reason}")]
    CannotCall {
        /// The method.
        method: String,
        /// Why.
        reason: String,
    },

    /// The user's file cannot be used.
    #[error("{path}: {reason}")]
    SpecFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },

    /// An option's value cannot be read.
    #[error("{option} {text}: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        text: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A folder or file cannot be written.
    #[error("cannot write {path}: {source}; choose another place")]
    Write {
        /// The place.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}
