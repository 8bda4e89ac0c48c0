//! Calls of hook methods at the entry or the returns of selected methods.

use crate::additions::Additions;
use crate::descriptor::{parameters, result, slots};
use crate::edits::Edits;
use crate::error::MethodError;
use crate::opcodes::{ACONST_NULL, ALOAD, ALOAD_0, DUP, DUP2, INVOKESTATIC};
use crate::plan::{Plan, Probe, ProbeArguments, ProbePoint};

/// A probe that fits its method.
pub(crate) struct FittedProbe {
    pub(crate) at: ProbePoint,
    /// The code before the call; `length` bytes of it are used and push at most `stack` slots.
    code: [u8; 2],
    length: usize,
    stack: u16,
    /// The constant of the hook method.
    method: u16,
}

/// The method that gets probes.
pub(crate) struct ProbedMethod<'a> {
    pub(crate) descriptor: &'a [u8],
    pub(crate) is_static: bool,
    pub(crate) is_constructor: bool,
    /// Local variable 0 holds `this` up to the end.
    pub(crate) keeps_this: bool,
    /// Whether the method stores to a local variable.
    pub(crate) stored: &'a dyn Fn(usize) -> bool,
}

/// The plan's probes for this method.
pub(crate) fn probes_of<'a>(
    plan: &Plan<'a>,
    name: &[u8],
    descriptor: &[u8],
) -> impl Iterator<Item = &'a Probe<'a>> {
    plan.probes.iter().filter(move |probe| {
        probe.method.as_bytes() == name
            && probe.descriptor.is_none_or(|wanted| wanted.as_bytes() == descriptor)
    })
}

/// Fits a probe to its method; the inner error is the reason why that is impossible.
pub(crate) fn fit<'a>(
    probe: &Probe<'a>,
    method: &ProbedMethod<'_>,
    additions: &mut Additions<'a>,
) -> Result<Result<FittedProbe, &'static str>, MethodError> {
    let (code, stack, descriptor) = match shape(probe, method) {
        Ok(shape) => shape,
        Err(reason) => return Ok(Err(reason)),
    };
    let method = additions.hook_method_once(probe.hook_method.as_bytes(), &descriptor)?;
    let length = code.iter().take_while(|opcode| **opcode != 0).count();
    Ok(Ok(FittedProbe { at: probe.at, code, length, stack, method }))
}

impl FittedProbe {
    pub(crate) fn insert(&self, edits: &mut Edits) {
        edits.code(self.stack, self.code.get(..self.length).unwrap_or_default());
        edits.constant(INVOKESTATIC, self.method);
    }
}

/// The code before the call (padded with zeros), the stack slots that it pushes, the hook's descriptor.
fn shape(probe: &Probe<'_>, method: &ProbedMethod<'_>) -> Result<([u8; 2], u16, Vec<u8>), &'static str> {
    let is_entry = probe.at == ProbePoint::Entry;
    let this = if method.is_static { ACONST_NULL } else { ALOAD_0 };
    let returned = result(method.descriptor);
    if matches!(probe.argument, ProbeArguments::This | ProbeArguments::ResultAndThis) {
        if is_entry && method.is_constructor {
            return Err("a probe at a constructor's entry cannot get the uninitialized object");
        }
        if !is_entry && !method.is_static && !method.keeps_this {
            return Err("the method overwrites 'this', so that a probe at its return cannot get the object");
        }
    }
    match (probe.argument, is_entry) {
        (ProbeArguments::This, _) => Ok(([this, 0], 1, b"(Ljava/lang/Object;)V".to_vec())),
        (ProbeArguments::ResultAndThis, false) => match returned.first() {
            Some(b'Z' | b'B' | b'C' | b'S' | b'I') => {
                Ok(([DUP, this], 2, b"(ZLjava/lang/Object;)V".to_vec()))
            }
            Some(b'J') => Ok(([DUP2, this], 3, b"(JLjava/lang/Object;)V".to_vec())),
            Some(b'L' | b'[') => Ok(([DUP, this], 2, b"(Ljava/lang/Object;Ljava/lang/Object;)V".to_vec())),
            _ => Err("a probe cannot get a result of the method's type"),
        },
        (ProbeArguments::MapResult, false) if matches!(returned.first(), Some(b'L' | b'[')) => {
            Ok(([0, 0], 0, [b"(", returned, b")", returned].concat()))
        }
        (ProbeArguments::MapResult, false) => Err("a probe can only map results that are references"),
        (ProbeArguments::Parameter(index), _) => {
            let index = usize::from(index);
            if !matches!(parameters(method.descriptor).nth(index), Some([b'L' | b'[', ..])) {
                return Err("the method's parameter is missing or no reference");
            }
            let before: usize = parameters(method.descriptor).take(index).map(slots).sum();
            let slot = before + usize::from(!method.is_static);
            if !is_entry && (method.stored)(slot) {
                return Err(
                    "the method overwrites its parameter, so that a probe at its return cannot get it",
                );
            }
            match u8::try_from(slot) {
                Ok(slot @ 0..=3) => Ok(([ALOAD_0 + slot, 0], 1, b"(Ljava/lang/Object;)V".to_vec())),
                Ok(slot) => Ok(([ALOAD, slot], 1, b"(Ljava/lang/Object;)V".to_vec())),
                Err(_) => Err("the parameter's local variable is beyond 255, which a probe cannot load"),
            }
        }
        (ProbeArguments::ResultAndThis | ProbeArguments::MapResult, true) => {
            Err("there is no result at a method's entry")
        }
    }
}
