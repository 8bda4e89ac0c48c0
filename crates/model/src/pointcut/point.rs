//! Points of a program (AspectJ's join points) with the facts known about them.

/// A point of a program.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// The operation at the point.
    pub kind: Kind<'a>,
    /// The class that contains the code, with dots; `None` if it is not known.
    pub class: Option<&'a str>,
    /// The target object: the owner of the field, the receiver of the call, or the lock.
    pub target: Value<'a>,
    /// The arguments of a method, or the value written to a field. `None` if they are not known.
    pub arguments: Option<&'a [Value<'a>]>,
}

/// The operation at a point.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'a> {
    /// Any operation: the answer says whether some point could be selected.
    Any,
    /// Any access to any field of this class: the answer says whether one could be selected.
    Owned(&'a str),
    /// A field is read.
    Get(FieldPoint<'a>),
    /// A field is written.
    Set(FieldPoint<'a>),
    /// A method is called.
    Call(MethodPoint<'a>),
    /// A method is executed.
    Execution(MethodPoint<'a>),
    /// A lock is acquired.
    Lock,
    /// A lock is released.
    Unlock,
}

/// The facts known about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is no value: a static member has no target.
    None,
    /// The value is null.
    Null,
    /// Nothing is known.
    Unknown,
    /// The declared type; at run time the value may be of a subtype, or null.
    Declared(&'a str),
    /// The type at run time.
    Exactly(&'a str),
}

/// A field that is accessed, or that holds the array whose element is accessed.
#[derive(Debug, Clone, Copy)]
pub struct FieldPoint<'a> {
    /// The class that the code names, with dots; for the array of a local variable, the class that contains the code.
    pub owner: &'a str,
    /// The class that declares it, if it is known.
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

/// A method that is called or executed.
#[derive(Debug, Clone, Copy)]
pub struct MethodPoint<'a> {
    /// The class that the call names, or that contains the executed code; with dots.
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
