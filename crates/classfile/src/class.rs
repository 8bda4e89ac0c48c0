//! Rewriting a whole class.

use crate::access::AccessFlags;
use crate::additions::Additions;
use crate::annotations;
use crate::bytes::put_u16;
use crate::constant_pool::text;
use crate::environment::Environment;
use crate::error::ClassError;
use crate::field_access::FieldTable;
use crate::method::{MethodRewriter, Scratch};
use crate::pass::Detail;
use crate::plan::{LeftAloneMethod, Outcome, Plan};
use crate::structure::{ClassFile, Member};

/// Rewrites a class as planned. `Ok(None)`: there is nothing to change.
///
/// A method that cannot be rewritten stays unchanged and is listed in the outcome. If nothing was rewritten but some
/// methods are listed, the outcome has the original bytes.
pub fn rewrite(
    class: &[u8],
    plan: &Plan<'_>,
    environment: &mut dyn Environment,
) -> Result<Option<Outcome>, ClassError> {
    if plan.is_empty() {
        return Ok(None);
    }
    let file = ClassFile::parse(class)?;
    let class_name = file.pool.class_name(file.this_index)?;
    let class_name_text = text(class_name);
    let mut additions = Additions::new(file.pool.count(), plan.hook);
    let mut fields = FieldTable::new(&file, plan, environment)?;
    let mut body = Vec::with_capacity(class.len() * 2);
    body.extend_from_slice(file.declaration);
    let has_new_fields = write_fields(&file, &fields, plan, &mut additions, &mut body)?;
    put_count(&mut body, file.methods.len());
    let mut methods_rewritten = 0;
    let mut left_alone = Vec::new();
    let reports = plan.product.pass().reports(Detail::Full);
    let is_clone = |method: &Member<'_>| {
        file.pool.utf8(method.name_index) == Ok(b"clone")
            && file.pool.utf8(method.descriptor_index) == Ok(b"()Ljava/lang/Object;")
    };
    let mut rewriter = MethodRewriter {
        plan,
        class: &file,
        class_name,
        class_name_text: &class_name_text,
        is_class_annotated: reports.blocks
            && annotations::has_simple_name(&file.attributes, &file.pool, b"Atomic"),
        has_own_clone: reports.clones && file.methods.iter().any(is_clone),
        additions: &mut additions,
        fields: &mut fields,
        environment,
        scratch: Scratch::default(),
    };
    for method in &file.methods {
        let start = body.len();
        let mark = rewriter.additions.mark();
        let mut report = |reason: String| left_alone.push(describe(&file, method, reason));
        let mut trouble = None;
        for (detail, remark) in Detail::ALL {
            match rewriter.rewrite(method, detail, &mut body) {
                Ok(outcome) => {
                    if outcome.is_rewritten {
                        methods_rewritten += 1;
                    } else {
                        body.extend_from_slice(method.raw);
                    }
                    if let Some(trouble) = trouble.take() {
                        report(format!("{remark}{trouble}"));
                    }
                    outcome.omissions.into_iter().for_each(|omission| report(omission.to_owned()));
                    break;
                }
                Err(error) => {
                    body.truncate(start);
                    rewriter.additions.roll_back(mark);
                    rewriter.fields.forget_decisions();
                    trouble = Some(error);
                }
            }
        }
        if let Some(error) = trouble {
            body.extend_from_slice(method.raw);
            report(error.to_string());
        }
    }
    if methods_rewritten == 0 && !has_new_fields {
        let unchanged = |left_alone| Outcome {
            bytes: class.to_vec(),
            methods_rewritten,
            left_alone,
            shadows: Vec::new(),
        };
        return Ok(if left_alone.is_empty() { None } else { Some(unchanged(left_alone)) });
    }
    let bytes = append(&file, &additions, &body);
    Ok(Some(Outcome { bytes, methods_rewritten, left_alone, shadows: fields.shadows() }))
}

/// Writes the class's own fields and the new ones after them. Returns whether there are new ones.
fn write_fields<'a>(
    file: &ClassFile<'a>,
    fields: &FieldTable<'a>,
    plan: &Plan<'a>,
    additions: &mut Additions<'a>,
    body: &mut Vec<u8>,
) -> Result<bool, ClassError> {
    let mut added = Vec::new();
    let new = fields.write_new_fields(plan, additions, &mut added)?;
    let count = u16::try_from(file.fields.len() + new).map_err(|_| ClassError::TooManyFields)?;
    put_u16(body, count);
    for field in &file.fields {
        body.extend_from_slice(field.raw);
    }
    body.extend_from_slice(&added);
    Ok(new > 0)
}

/// The class file with appended constants. `body` reaches from the declaration to the end of the methods.
pub(crate) fn append(file: &ClassFile<'_>, additions: &Additions<'_>, body: &[u8]) -> Vec<u8> {
    let added = additions.constants();
    assemble(file.head, added.count(), &[file.constants, added.bytes(), body, file.tail])
}

/// A class file: magic number and version, the constant pool count, the constants and everything that follows them.
pub(crate) fn assemble(head: &[u8], count: u16, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(head.len() + 2 + length);
    bytes.extend_from_slice(head);
    put_u16(&mut bytes, count);
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

/// Writes a field without attributes.
pub(crate) fn put_field(out: &mut Vec<u8>, access: AccessFlags, name: u16, descriptor: u16) {
    for value in [access.bits(), name, descriptor, 0] {
        put_u16(out, value);
    }
}

/// Writes a number of members. It was read from two bytes and therefore fits into two bytes.
pub(crate) fn put_count(body: &mut Vec<u8>, count: usize) {
    put_u16(body, u16::try_from(count).unwrap_or(u16::MAX));
}

fn describe(file: &ClassFile<'_>, method: &Member<'_>, reason: String) -> LeftAloneMethod {
    let name = |index| file.pool.utf8(index).map(|name| text(name).into_owned()).unwrap_or_default();
    LeftAloneMethod { name: name(method.name_index), descriptor: name(method.descriptor_index), reason }
}
