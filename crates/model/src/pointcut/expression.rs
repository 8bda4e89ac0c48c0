//! The syntax tree of a pointcut.

use crate::pattern::Pattern;

/// A pointcut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A plain class pattern: accesses by these classes to their own fields and to array elements.
    Classes(Pattern),
    /// A lock is acquired.
    Lock,
    /// A lock is released.
    Unlock,
    /// A field is read.
    Get(FieldPattern),
    /// A field is written.
    Set(FieldPattern),
    /// A method or constructor is called.
    Call(MethodPattern),
    /// A method or constructor is executed.
    Execution(MethodPattern),
    /// The code is in a class of this type, or in one nested in it.
    Within(TypePattern),
    /// The arguments are of these types.
    Args(Vec<Parameter>),
    /// The target object is of this type.
    Target(TypePattern),
    /// The member is static.
    Static,
    /// The field may be accessed by several threads.
    MaybeShared,
    /// An array element is accessed, not the variable that holds the array.
    Element,
    /// The negation.
    Not(Box<Expression>),
    /// The conjunction.
    And(Vec<Expression>),
    /// The disjunction.
    Or(Vec<Expression>),
}

/// A pattern of fields: `!static int Account.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPattern {
    /// The modifiers that a field must have or, if the flag is set, must not have.
    pub modifiers: Vec<(bool, Modifier)>,
    /// The field's type; any type if `None`.
    pub of_type: Option<TypePattern>,
    /// The declaring class; any class if `None`.
    pub declaring: Option<TypePattern>,
    /// The field's name, with `*` for any part.
    pub name: String,
}

/// A pattern of methods and constructors: `public void Account.set*(int, ..)`, `Account.new(..)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodPattern {
    /// The modifiers that a method must have or, if the flag is set, must not have.
    pub modifiers: Vec<(bool, Modifier)>,
    /// The result type; any type if `None`.
    pub result: Option<TypePattern>,
    /// The declaring class; any class if `None`.
    pub declaring: Option<TypePattern>,
    /// The method's name, with `*` for any part; `new` for constructors.
    pub name: String,
    /// The parameters; any parameters if `None`.
    pub parameters: Option<Vec<Parameter>>,
}

/// One entry of a list of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// `..`: any number of parameters of any types.
    Rest,
    /// One parameter of this type.
    Of(TypePattern),
}

/// A pattern of types: `int`, `com.acme..*`, `Account+`, `String[]`, `!(A || B)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypePattern {
    /// Types by their name.
    Name {
        /// The name, with `*` and `..`.
        name: String,
        /// Whether subtypes count too (`+`).
        subtypes: bool,
        /// The number of array dimensions.
        dimensions: usize,
    },
    /// The negation.
    Not(Box<TypePattern>),
    /// The conjunction.
    And(Vec<TypePattern>),
    /// The disjunction.
    Or(Vec<TypePattern>),
}

/// A modifier in the declaration of a member.
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
    /// All modifiers.
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

    /// The keyword.
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

    /// Its bit in the access flags of a field or method.
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
