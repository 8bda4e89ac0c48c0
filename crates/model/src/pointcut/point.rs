//! Points of a program, as far as they are known.

/// A point of a program.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// What happens there.
    pub kind: Kind<'a>,
    /// The class whose code it is, with dots; `None` if that is left open.
    pub class: Option<&'a str>,
    /// The object in question: whose field or method it is, or the lock.
    pub target: Value<'a>,
    /// The values handed over, in order: to a method, or to a field that is written. `None` if they are not known.
    pub arguments: Option<&'a [Value<'a>]>,
}

/// What happens at a point.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'a> {
    /// Anything: what is asked is whether some point could be meant.
    Any,
    /// Some access to some field of this class: what is asked is whether one could be meant.
    Owned(&'a str),
    /// A field is read.
    Get(FieldPoint<'a>),
    /// A field is written.
    Set(FieldPoint<'a>),
    /// A method is called.
    Call(MethodPoint<'a>),
    /// A method runs.
    Execution(MethodPoint<'a>),
    /// A lock is acquired.
    Lock,
    /// A lock is given back.
    Unlock,
}

/// A value, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is none: a static member has no target.
    None,
    /// A null.
    Null,
    /// Nothing is known.
    Unknown,
    /// Its type as declared; what it is at run time may be a subtype, or null.
    Declared(&'a str),
    /// Its type at run time.
    Exactly(&'a str),
}

/// A field that is accessed, or whose array is.
#[derive(Debug, Clone, Copy)]
pub struct FieldPoint<'a> {
    /// The class that the code names, with dots; for the array of a local variable, the class of the code.
    pub owner: &'a str,
    /// The class that declares it, if that is known.
    pub declaring: Option<&'a str>,
    /// Its name.
    pub name: &'a str,
    /// Its type as in source; `None` if it is not known.
    pub of_type: Option<&'a str>,
    /// Its access flags, if they are known.
    pub access: Option<u16>,
    /// Whether it is static.
    pub is_static: bool,
    /// Whether an element of its array is accessed.
    pub is_element: bool,
}

/// A method that is called or runs.
#[derive(Debug, Clone, Copy)]
pub struct MethodPoint<'a> {
    /// The class that the code names, or that has the code; with dots.
    pub owner: &'a str,
    /// Its name; `<init>` for a constructor.
    pub name: &'a str,
    /// The types of its parameters, as in source.
    pub parameters: &'a [String],
    /// The type of its result.
    pub result: &'a str,
    /// Its access flags, if they are known.
    pub access: Option<u16>,
    /// Whether it is static.
    pub is_static: bool,
}
