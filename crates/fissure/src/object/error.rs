//! Why a class cannot be tested, each as one sentence with the next step.

/// Why Fissure cannot test a class.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObjectError {
    /// There is no `java`.
    #[error(
        "there is no java in JAVA_HOME or on PATH; install a JDK or JRE from version 11 on, or name it with --java"
    )]
    NoJava,

    /// The JVM does not start.
    #[error(
        "{java} cannot be used ({reason}); it must be a JVM from version 11 on, check --java and --classpath"
    )]
    NoJvm {
        /// The `java` that was started.
        java: String,
        /// The first line of its output.
        reason: String,
    },

    /// The JVM ends each time it is started.
    #[error(
        "the JVM ended each time it was started, with {class} or before; check --java and that the class can be loaded at all"
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

    /// The class exists but cannot be loaded.
    #[error("{class} cannot be loaded ({reason}); --classpath must have everything that it needs")]
    Broken {
        /// The class under test.
        class: String,
        /// The JVM's error.
        reason: String,
    },

    /// The expression makes no object of the class.
    #[error("{expression} makes no {class} ({reason}); give another expression with --new")]
    Expression {
        /// The class under test.
        class: String,
        /// The expression.
        expression: String,
        /// The problem.
        reason: String,
    },

    /// The class cannot be instantiated.
    #[error(
        "{class} is {what}, so it has no objects of its own; name a class that implements it, or make one with --new EXPR"
    )]
    Abstract {
        /// The class under test.
        class: String,
        /// Interface or abstract.
        what: &'static str,
    },

    /// No constructor is accessible.
    #[error(
        "{class} has no public constructor or factory that can be called; make an object with --new, as in --new 'Pool.create(2)'"
    )]
    NoConstructor {
        /// The class under test.
        class: String,
    },

    /// No constructor can be called with the known arguments.
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
        /// The exception that it threw.
        reason: String,
    },

    /// No method was executed by several threads.
    #[error(
        "no two calls of {class} could be executed at the same time, for none of its methods that can be called changes an object, or there was no time; name methods with --core or give more with --total-budget"
    )]
    Nothing {
        /// The class under test.
        class: String,
    },

    /// No such method.
    #[error("{class} has no public method {method}; write it as put, put/2 or put(Object, Object)")]
    NoMethod {
        /// The class under test.
        class: String,
        /// The method as the user wrote it.
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

    /// The calls of the operations do not fit into one class.
    #[error(
        "the calls of {class} cannot be generated ({reason}); give fewer methods or values to call them with"
    )]
    TooLarge {
        /// The class under test.
        class: String,
        /// The limit of class files.
        reason: String,
    },

    /// The user's file cannot be used.
    #[error("{path}: {reason}")]
    SpecFile {
        /// The file.
        path: String,
        /// The problem.
        reason: String,
    },

    /// An option's value cannot be read.
    #[error("{option} {text}: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        text: String,
        /// The problem.
        reason: String,
    },

    /// A folder or file cannot be written.
    #[error("cannot write {path}: {source}; choose another folder")]
    Write {
        /// The path.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}
