//! Reads module descriptors: the module's name, the modules that it requires, and the services that it provides.

use crate::bytes::Reader;
use crate::constant_pool::text;
use crate::error::ClassError;
use crate::structure::ClassFile;

/// The content of a `module-info.class`, as far as it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleDescriptor {
    /// Its name.
    pub name: String,
    /// The names of the modules that it requires.
    pub requires: Vec<String>,
    /// The internal name of each service that it provides, with those of the classes that provide it.
    pub provides: Vec<(String, Vec<String>)>,
}

/// Reads a module's descriptor; `None` for other classes.
pub fn read_module(class: &[u8]) -> Result<Option<ModuleDescriptor>, ClassError> {
    let file = ClassFile::parse(class)?;
    let Some(content) = file.attributes.find(&file.pool, b"Module") else { return Ok(None) };
    let mut reader = Reader::new(content);
    let module = |index| file.pool.module_name(index).map(|name| text(name).into_owned());
    let mut descriptor = ModuleDescriptor { name: module(reader.u16()?)?, ..ModuleDescriptor::default() };
    // Flags and version.
    reader.take(4)?;
    for _ in 0..reader.u16()? {
        descriptor.requires.push(module(reader.u16()?)?);
        reader.take(4)?;
    }
    for _exported_then_opened in 0..2 {
        for _ in 0..reader.u16()? {
            reader.take(4)?;
            let modules = reader.u16()?;
            reader.take(usize::from(modules) * 2)?;
        }
    }
    let uses = reader.u16()?;
    reader.take(usize::from(uses) * 2)?;
    let name = |index| file.pool.class_name(index).map(|name| text(name).into_owned());
    for _ in 0..reader.u16()? {
        let service = name(reader.u16()?)?;
        let count = reader.u16()?;
        let classes = (0..count).map(|_| name(reader.u16()?)).collect::<Result<_, _>>()?;
        descriptor.provides.push((service, classes));
    }
    Ok(Some(descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestClass;

    #[test]
    fn providers_are_read_behind_all_preceding_tables() {
        let mut class = TestClass::new("module-info");
        let [service, one, other] = ["s/Service", "p/One", "p/Other"].map(|name| class.class(name));
        let [this, base] = ["m.own", "java.base"].map(|name| class.module(name));
        let module: Vec<u16> = vec![
            this, 0, 0, // name, flags, version
            1, base, 0, 0, // requires one module
            2, 1, 0, 0, 1, 0, 2, 1, 1, // exports two packages, the second to two modules
            1, 1, 0, 1, 1, // opens one to one
            1, service, // uses
            1, service, 2, one, other,
        ];
        let content: Vec<u8> = module.iter().flat_map(|value| value.to_be_bytes()).collect();
        class.class_attribute("Module", &content);
        let expected = ModuleDescriptor {
            name: "m.own".to_owned(),
            requires: vec!["java.base".to_owned()],
            provides: vec![("s/Service".to_owned(), vec!["p/One".to_owned(), "p/Other".to_owned()])],
        };
        assert_eq!(read_module(&class.build()), Ok(Some(expected)));
        assert_eq!(read_module(&TestClass::new("A").build()), Ok(None));
    }
}
