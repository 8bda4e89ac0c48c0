//! What a module's descriptor says about services.

use crate::bytes::Reader;
use crate::constant_pool::text;
use crate::error::ClassError;
use crate::structure::ClassFile;

/// The services that a module provides, from its `module-info.class`: the internal name of each with those of the classes that
/// provide it. Other classes provide nothing.
pub fn provided_services(class: &[u8]) -> Result<Vec<(String, Vec<String>)>, ClassError> {
    let file = ClassFile::parse(class)?;
    let Some(content) = file.attributes.find(&file.pool, b"Module") else { return Ok(Vec::new()) };
    let mut reader = Reader::new(content);
    // The module's own name, flags and version, then what it requires.
    reader.take(6)?;
    let requires = reader.u16()?;
    reader.take(usize::from(requires) * 6)?;
    for _exported_then_opened in 0..2 {
        for _ in 0..reader.u16()? {
            reader.take(4)?;
            let modules = reader.u16()?;
            reader.take(usize::from(modules) * 2)?;
        }
    }
    let uses = reader.u16()?;
    reader.take(usize::from(uses) * 2)?;
    let mut provided = Vec::new();
    let name = |index| file.pool.class_name(index).map(|name| text(name).into_owned());
    for _ in 0..reader.u16()? {
        let service = name(reader.u16()?)?;
        let count = reader.u16()?;
        let classes = (0..count).map(|_| name(reader.u16()?)).collect::<Result<_, _>>()?;
        provided.push((service, classes));
    }
    Ok(provided)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ClassBuilder;

    #[test]
    fn providers_are_read_behind_all_that_comes_before_them() {
        let mut class = ClassBuilder::new("module-info");
        let [service, one, other] = ["s/Service", "p/One", "p/Other"].map(|name| class.class(name));
        let module: Vec<u16> = vec![
            1, 0, 0, // name, flags, version
            1, 1, 0, 0, // requires one module
            2, 1, 0, 0, 1, 0, 2, 1, 1, // exports two packages, the second to two modules
            1, 1, 0, 1, 1, // opens one to one
            1, service, // uses
            1, service, 2, one, other,
        ];
        let content: Vec<u8> = module.iter().flat_map(|value| value.to_be_bytes()).collect();
        class.class_attribute("Module", &content);
        let expected = vec![("s/Service".to_owned(), vec!["p/One".to_owned(), "p/Other".to_owned()])];
        assert_eq!(provided_services(&class.build()), Ok(expected));
        assert_eq!(provided_services(&ClassBuilder::new("A").build()), Ok(Vec::new()));
    }
}
