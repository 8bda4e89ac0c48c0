//! Calls of hook methods at the entry or the returns of chosen methods.

use crate::additions::Additions;
use crate::descriptor::{parameters, result, slots};
use crate::edits::Edits;
use crate::error::MethodError;
use crate::opcodes::{ACONST_NULL, ALOAD, ALOAD_0, DUP, DUP2, INVOKESTATIC};
use crate::plan::{Plan, Probe, ProbeArguments, ProbePoint};

/// A probe that is known to fit its method.
pub(crate) struct FittedProbe {
    pub(crate) at: ProbePoint,
    /// What comes before the call, and how much deeper the stack gets.
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
    /// Local variable 0 is `this` up to the end.
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

/// Fits a probe to its method; otherwise gives the reason why not.
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

/// The code before the call (zero where there is none), its stack, the hook's descriptor.
fn shape(probe: &Probe<'_>, method: &ProbedMethod<'_>) -> Result<([u8; 2], u16, Vec<u8>), &'static str> {
    let is_entry = probe.at == ProbePoint::Entry;
    let this = if method.is_static { ACONST_NULL } else { ALOAD_0 };
    let returned = result(method.descriptor);
    if matches!(probe.argument, ProbeArguments::This | ProbeArguments::ResultAndThis) {
        if is_entry && method.is_constructor {
            return Err("a constructor has no object at its entry to hand to a probe");
        }
        if !is_entry && !method.is_static && !method.keeps_this {
            return Err("the method forgets its object, so that a probe at its return cannot have it");
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
            _ => Err("the method's result is of a type that a probe cannot have"),
        },
        (ProbeArguments::MapResult, false) if matches!(returned.first(), Some(b'L' | b'[')) => {
            Ok(([0, 0], 0, [b"(", returned, b")", returned].concat()))
        }
        (ProbeArguments::MapResult, false) => {
            Err("the method's result is not a reference that a probe could map")
        }
        (ProbeArguments::Parameter(place), _) => {
            let place = usize::from(place);
            if !matches!(parameters(method.descriptor).nth(place), Some([b'L' | b'[', ..])) {
                return Err("the method has no such parameter that is a reference");
            }
            let before: usize = parameters(method.descriptor).take(place).map(slots).sum();
            let slot = before + usize::from(!method.is_static);
            if !is_entry && (method.stored)(slot) {
                return Err("the method forgets its parameter, so that a probe at its return cannot have it");
            }
            match u8::try_from(slot) {
                Ok(slot @ 0..=3) => Ok(([ALOAD_0 + slot, 0], 1, b"(Ljava/lang/Object;)V".to_vec())),
                Ok(slot) => Ok(([ALOAD, slot], 1, b"(Ljava/lang/Object;)V".to_vec())),
                Err(_) => Err("the parameter is out of a probe's reach"),
            }
        }
        (ProbeArguments::ResultAndThis | ProbeArguments::MapResult, true) => {
            Err("there is no result at a method's entry")
        }
    }
}
