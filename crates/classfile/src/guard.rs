//! Adds an exception handler to whole methods, so that their exceptions do not reach their callers.
//!
//! Instrumented programs call static methods of the hook classes. An exception that Fissure's own code threw out of such a method
//! would look like an exception of the program. Every such method therefore gets a last entry in its exception table, whose handler
//! passes the exception to a method of the front end and returns.

use crate::access::AccessFlags;
use crate::additions::Additions;
use crate::bytes::put_u16;
use crate::class::{append, put_count};
use crate::code::{Code, Instructions};
use crate::code_writer::{CodeWriter, HandlerNeeds, with_length};
use crate::constant_pool::text;
use crate::edits::Edits;
use crate::error::{ClassError, MethodError};
use crate::frames::{FramedMethod, KeptLocals};
use crate::layout::Layout;
use crate::opcodes::{INVOKESTATIC, RETURN};
use crate::structure::{ClassFile, Member};

/// The method that gets the exceptions of guarded methods: static, with a `Throwable` as its only parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catcher<'a> {
    /// The internal name of its class.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
}

/// A class whose methods are guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// The class file.
    pub bytes: Vec<u8>,
    /// The methods that other classes can call and that are not guarded, as `name(parameters)result`.
    pub unguarded: Vec<String>,
}

/// Guards the static methods of a class that are not private, return nothing, and declare no exceptions.
pub fn guard(class: &[u8], catcher: Catcher<'_>) -> Result<Guarded, ClassError> {
    let file = ClassFile::parse(class)?;
    let mut additions = Additions::new(file.pool.count(), catcher.class);
    let mut body = file.declaration.to_vec();
    put_count(&mut body, file.fields.len());
    file.fields.iter().for_each(|field| body.extend_from_slice(field.raw));
    put_count(&mut body, file.methods.len());
    let mut unguarded = Vec::new();
    for method in &file.methods {
        let start = body.len();
        let mark = additions.mark();
        if is_guarded(&file, method)? {
            match write(&file, method, catcher, &mut additions, &mut body) {
                Ok(()) => continue,
                Err(MethodError::Class(error)) => return Err(error),
                Err(_) => {
                    body.truncate(start);
                    additions.roll_back(mark);
                }
            }
        }
        if method.is_static() && !method.access.contains(AccessFlags::PRIVATE) {
            let part = |index| file.pool.utf8(index).map(text);
            unguarded.push(format!("{}{}", part(method.name_index)?, part(method.descriptor_index)?));
        }
        body.extend_from_slice(method.raw);
    }
    Ok(Guarded { bytes: append(&file, &additions, &body), unguarded })
}

fn is_guarded(file: &ClassFile<'_>, method: &Member<'_>) -> Result<bool, ClassError> {
    let attributes = &method.attributes;
    Ok(method.is_static()
        && !method.access.contains(AccessFlags::PRIVATE)
        && file.pool.utf8(method.name_index)? != b"<clinit>"
        && file.pool.utf8(method.descriptor_index)?.ends_with(b")V")
        && attributes.find(&file.pool, b"Code").is_some()
        && attributes.find(&file.pool, b"Exceptions").is_none())
}

fn write<'a>(
    file: &ClassFile<'a>,
    method: &Member<'a>,
    catcher: Catcher<'a>,
    additions: &mut Additions<'a>,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    let content = method.attributes.find(&file.pool, b"Code").unwrap_or_default();
    let code = Code::parse(content, &file.pool)?;
    let mut instructions = Instructions::default();
    instructions.decode(code.bytes)?;
    instructions.build_index(code.bytes);
    let mut edits = Edits::default();
    edits.begin_epilogue();
    let caught = additions.hook_method(catcher.name.as_bytes(), "(Ljava/lang/Throwable;)V")?;
    edits.constant(INVOKESTATIC, caught);
    edits.code(0, &[RETURN]);
    let mut layout = Layout::default();
    layout.compute(&code, &instructions, &edits)?;
    let framed = FramedMethod {
        this_index: file.this_index,
        is_static: true,
        is_constructor: false,
        descriptor: file.pool.utf8(method.descriptor_index)?,
        instructions: &instructions,
        layout: &layout,
        kept_locals: KeptLocals::default(),
    };
    let writer = CodeWriter {
        code: &code,
        method: &framed,
        edits: &edits,
        pool: &file.pool,
        handler: Some(HandlerNeeds::Nothing),
        covered_from: 0,
        needs_frames: file.major >= 50,
    };
    out.extend_from_slice(method.raw.get(..6).unwrap_or_default());
    put_u16(out, method.attributes.count());
    for attribute in method.attributes.iter() {
        put_u16(out, attribute.name_index);
        if file.pool.utf8(attribute.name_index)? == b"Code" {
            with_length(out, |out| writer.write(additions, out))?;
        } else {
            with_length(out, |out| {
                out.extend_from_slice(attribute.content);
                Ok(())
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Body, TestClass};

    const CATCHER: Catcher<'static> = Catcher { class: "java/lang/Failures", name: "caught" };
    const PUBLIC_STATIC: u16 = 0x0009;
    const RETURN_NULL: [u8; 2] = [0x01, 0xb0];

    /// Methods as access, descriptor and code; expected: how many handlers each has, and how many are named as unguarded.
    fn check(methods: &[(u16, &str, &[u8])], handlers: &[usize], unguarded: usize) {
        let mut builder = TestClass::new("a/Hook");
        for (number, (access, descriptor, code)) in methods.iter().enumerate() {
            builder.method(*access, &format!("m{number}"), descriptor, Some(&Body::new(code)));
        }
        let class = builder.build();
        let guarded = guard(&class, CATCHER).unwrap();
        let file = ClassFile::parse(&guarded.bytes).unwrap();
        let counts: Vec<usize> = file
            .methods
            .iter()
            .map(|method| {
                let content = method.attributes.find(&file.pool, b"Code").unwrap();
                Code::parse(content, &file.pool).unwrap().exception_entries().count()
            })
            .collect();
        assert_eq!(counts, handlers, "{methods:?}");
        assert_eq!(guarded.unguarded.len(), unguarded, "{:?}", guarded.unguarded);
    }

    #[test]
    fn methods_that_return_nothing_are_guarded() {
        check(&[(PUBLIC_STATIC, "()V", &[RETURN])], &[1], 0);
        check(&[(0x0008, "(Ljava/lang/Object;J)V", &[RETURN])], &[1], 0);
        check(&[(0x000a, "()V", &[RETURN])], &[0], 0);
        check(&[(PUBLIC_STATIC, "()Ljava/lang/Object;", &RETURN_NULL)], &[0], 1);
        check(&[(0x0001, "()V", &[RETURN])], &[0], 0);
    }

    #[test]
    fn the_handler_covers_all_code_and_returns() {
        let mut builder = TestClass::new("a/Hook");
        builder.method(PUBLIC_STATIC, "m", "()V", Some(&Body::new(&[0x00, 0x00, RETURN])));
        let guarded = guard(&builder.build(), CATCHER).unwrap();
        let file = ClassFile::parse(&guarded.bytes).unwrap();
        let content = file.methods[0].attributes.find(&file.pool, b"Code").unwrap();
        let code = Code::parse(content, &file.pool).unwrap();
        assert_eq!(code.exception_entries().collect::<Vec<_>>(), [[0, 3, 3, 0]]);
        assert_eq!((code.bytes[3], code.bytes[6]), (INVOKESTATIC, RETURN));
        assert!(code.frames.is_some());
    }
}
