//! Reads the declaration of a class: its names, its version and its fields, without code.

use crate::access::AccessFlags;
use crate::constant_pool::text;
use crate::error::ClassError;
use crate::structure::ClassFile;

/// The declaration of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassSummary {
    /// Internal name.
    pub name: String,
    /// Internal name of the super class; `None` for `java/lang/Object` and modules.
    pub super_name: Option<String>,
    /// Internal names of the interfaces.
    pub interfaces: Vec<String>,
    /// Access flags.
    pub access: AccessFlags,
    /// The class-file version's major part.
    pub major: u16,
    /// The source file's name, if the class has it.
    pub source_file: Option<String>,
    /// The declared fields, in order.
    pub fields: Vec<FieldSummary>,
}

/// A declared field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSummary {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its access flags.
    pub access: AccessFlags,
}

/// Reads the declaration of a class, without its code.
pub fn read_summary(class: &[u8]) -> Result<ClassSummary, ClassError> {
    let class = ClassFile::parse(class)?;
    let pool = &class.pool;
    let class_name = |index| pool.class_name(index).map(|name| text(name).into_owned());
    let utf8 = |index| pool.utf8(index).map(|name| text(name).into_owned());
    let super_name = if class.super_index == 0 { None } else { Some(class_name(class.super_index)?) };
    let interfaces = class.interfaces.iter().map(|index| class_name(*index)).collect::<Result<_, _>>()?;
    let fields = class
        .fields
        .iter()
        .map(|field| {
            Ok(FieldSummary {
                name: utf8(field.name_index)?,
                descriptor: utf8(field.descriptor_index)?,
                access: field.access,
            })
        })
        .collect::<Result<_, ClassError>>()?;
    let source_file = match class.attributes.find(pool, b"SourceFile") {
        Some(&[high, low]) => utf8(u16::from_be_bytes([high, low])).ok(),
        _ => None,
    };
    Ok(ClassSummary {
        name: class_name(class.this_index)?,
        super_name,
        interfaces,
        access: class.access,
        major: class.major,
        source_file,
        fields,
    })
}
