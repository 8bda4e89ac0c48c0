//! What a pointcut says, as a tree.

use crate::pattern::Pattern;

/// A pointcut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A plain class pattern: accesses by these classes to their own fields and to array elements.
    Classes(Pattern),
    /// A lock is acquired.
    Lock,
    /// A lock is given back.
    Unlock,
    /// A field is read.
    Get(FieldPattern),
    /// A field is written.
    Set(FieldPattern),
    /// A method or constructor is called.
    Call(MethodPattern),
    /// A method or constructor runs.
    Execution(MethodPattern),
    /// The code is in a class like this, or in one nested in it.
    Within(TypePattern),
    /// The values handed over are of these types.
    Args(Vec<Parameter>),
    /// The object in question is of this type.
    Target(TypePattern),
    /// The member in question is static.
    Static,
    /// The field may be accessed by several threads.
    MaybeShared,
    /// An element of an array is accessed, not the variable that holds it.
    Element,
    /// Anything else.
    Not(Box<Expression>),
    /// All of them.
    And(Vec<Expression>),
    /// At least one of them.
    Or(Vec<Expression>),
}

/// Fields: `!static int Account.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPattern {
    /// What it must be or, if the flag is set, must not be.
    pub modifiers: Vec<(bool, Modifier)>,
    /// Its type; any if there is none.
    pub of_type: Option<TypePattern>,
    /// The class that declares it; any if there is none.
    pub declaring: Option<TypePattern>,
    /// Its name, with `*` for any part.
    pub name: String,
}

/// Methods and constructors: `public void Account.set*(int, ..)`, `Account.new(..)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodPattern {
    /// What it must be or, if the flag is set, must not be.
    pub modifiers: Vec<(bool, Modifier)>,
    /// The type of its result; any if there is none.
    pub result: Option<TypePattern>,
    /// The class that declares it; any if there is none.
    pub declaring: Option<TypePattern>,
    /// Its name, with `*` for any part; `new` for constructors.
    pub name: String,
    /// Its parameters; any if there are none.
    pub parameters: Option<Vec<Parameter>>,
}

/// One of a list of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// `..`: any number of any.
    Rest,
    /// One of this type.
    Of(TypePattern),
}

/// Types: `int`, `com.acme..*`, `Account+`, `String[]`, `!(A || B)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypePattern {
    /// By name.
    Name {
        /// The name, with `*` and `..`.
        name: String,
        /// Whether subtypes count too (`+`).
        subtypes: bool,
        /// How many dimensions of an array.
        dimensions: usize,
    },
    /// Any other.
    Not(Box<TypePattern>),
    /// All of them.
    And(Vec<TypePattern>),
    /// One of them.
    Or(Vec<TypePattern>),
}

/// What a member may be declared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Modifier {
    Public,
    Private,
    Protected,
    Static,
    Final,
    Synchronized,
    Volatile,
    Transient,
    Native,
    Abstract,
}

impl Modifier {
    /// All of them.
    pub const ALL: [Modifier; 10] = [
        Modifier::Public,
        Modifier::Private,
        Modifier::Protected,
        Modifier::Static,
        Modifier::Final,
        Modifier::Synchronized,
        Modifier::Volatile,
        Modifier::Transient,
        Modifier::Native,
        Modifier::Abstract,
    ];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Modifier::Public => "public",
            Modifier::Private => "private",
            Modifier::Protected => "protected",
            Modifier::Static => "static",
            Modifier::Final => "final",
            Modifier::Synchronized => "synchronized",
            Modifier::Volatile => "volatile",
            Modifier::Transient => "transient",
            Modifier::Native => "native",
            Modifier::Abstract => "abstract",
        }
    }

    /// Its bit among the access flags of a field or method.
    pub fn bit(self) -> u16 {
        match self {
            Modifier::Public => 0x0001,
            Modifier::Private => 0x0002,
            Modifier::Protected => 0x0004,
            Modifier::Static => 0x0008,
            Modifier::Final => 0x0010,
            Modifier::Synchronized => 0x0020,
            Modifier::Volatile => 0x0040,
            Modifier::Transient => 0x0080,
            Modifier::Native => 0x0100,
            Modifier::Abstract => 0x0400,
        }
    }
}
