//! The driver's description of a class: its constructors and methods.

use super::wire::{Reader, WireError};

/// A class as reflection sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassInfo {
    /// The name with dots.
    pub(crate) name: String,
    modifiers: u32,
    /// Whether code of any package may use it.
    pub(crate) reachable: bool,
    families: Vec<String>,
    /// The constructors that generated code may call, with whether they are public.
    pub(crate) constructors: Vec<(bool, Vec<ParameterInfo>)>,
    /// Expressions that may make an object without one of the constructors, the most likely ones first.
    pub(crate) factories: Vec<String>,
    /// Instance methods that generated code may call.
    pub(crate) methods: Vec<MethodInfo>,
}

/// A method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MethodInfo {
    /// Its name.
    pub(crate) name: String,
    /// The descriptor of its return type.
    pub(crate) returns: String,
    /// Its parameters.
    pub(crate) parameters: Vec<ParameterInfo>,
}

/// A parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParameterInfo {
    /// The descriptor of its type.
    pub(crate) descriptor: String,
    /// Its type as in source, without type arguments.
    pub(crate) type_name: String,
    /// The name of the type variable that is its type, or empty.
    pub(crate) variable: String,
    /// The values that fit: a letter with details, `!` with a reason why none do, or `?`.
    pub(crate) kind: String,
}

/// The driver's answer.
#[derive(Debug, Clone)]
pub(crate) enum Description {
    /// The class was loaded.
    Class(ClassInfo),
    /// There is no such class on the class path.
    Missing,
    /// The class cannot be loaded; the JVM's error.
    Broken(String),
}

impl ClassInfo {
    /// Whether it is an interface.
    pub(crate) fn is_interface(&self) -> bool {
        self.modifiers & 0x200 != 0
    }

    /// Whether it is abstract.
    pub(crate) fn is_abstract(&self) -> bool {
        self.modifiers & 0x400 != 0
    }

    /// Whether it implements one of the collection interfaces.
    pub(crate) fn is(&self, family: &str) -> bool {
        self.families.iter().any(|one| one == family)
    }

    /// Its package with slashes and a final slash, or empty.
    pub(crate) fn package(&self) -> String {
        self.name.rfind('.').map_or_else(String::new, |end| self.name[..=end].replace('.', "/"))
    }
}

impl MethodInfo {
    /// `remove(Object, int)`: the method as users write it.
    pub(crate) fn signature(&self) -> String {
        let simple = |parameter: &ParameterInfo| {
            let name = parameter.type_name.rsplit('.').next().unwrap_or_default();
            name.rsplit('$').next().unwrap_or_default().to_owned()
        };
        format!("{}({})", self.name, self.parameters.iter().map(simple).collect::<Vec<_>>().join(", "))
    }
}

/// Reads the driver's answer.
pub(crate) fn read(reader: &mut Reader) -> Result<Description, WireError> {
    match reader.byte()? {
        0 => {}
        1 => return Ok(Description::Missing),
        _ => return Ok(Description::Broken(reader.text()?)),
    }
    let mut class = ClassInfo {
        name: reader.text()?,
        modifiers: reader.int()? as u32,
        reachable: reader.byte()? != 0,
        families: reader.list(Reader::text)?,
        ..ClassInfo::default()
    };
    class.constructors = reader.list(|reader| Ok((reader.byte()? != 0, reader.list(parameter)?)))?;
    class.factories = reader.list(Reader::text)?;
    class.methods = reader.list(|reader| {
        Ok(MethodInfo { name: reader.text()?, returns: reader.text()?, parameters: reader.list(parameter)? })
    })?;
    Ok(Description::Class(class))
}

fn parameter(reader: &mut Reader) -> Result<ParameterInfo, WireError> {
    Ok(ParameterInfo {
        descriptor: reader.text()?,
        type_name: reader.text()?,
        variable: reader.text()?,
        kind: reader.text()?,
    })
}
