//! Relocates stack map frames to the new positions of their instructions.

use crate::additions::Additions;
use crate::bytes::{fill_u16, put_u16};
use crate::code::Instructions;
use crate::descriptor::parameters;
use crate::error::MethodError;
use crate::frame_reader::{
    DOUBLE, FULL, Frame, Frames, LONG, MALFORMED, OBJECT, SAME_EXTENDED, SAME_STACK_EXTENDED, Shape, TOP,
    Type, Types, UNINITIALIZED, UNINITIALIZED_THIS,
};
use crate::hooks;
use crate::layout::Layout;

/// The method that the frames belong to.
pub(crate) struct FramedMethod<'m, 'a> {
    pub(crate) this_index: u16,
    pub(crate) is_static: bool,
    pub(crate) is_constructor: bool,
    pub(crate) descriptor: &'a [u8],
    pub(crate) instructions: &'m Instructions,
    pub(crate) layout: &'m Layout,
    pub(crate) kept_locals: KeptLocals,
}

/// Additional local variables behind the method's own, which all frames have: an object and the words of array elements in turn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeptLocals {
    /// How many slots the method's own variables take.
    own: u16,
    count: u16,
    /// The class constants of the two types.
    types: [u16; 2],
}

impl KeptLocals {
    pub(crate) fn new(own: u16, count: u16, additions: &mut Additions<'_>) -> Result<Self, MethodError> {
        if count == 0 {
            return Ok(Self::default());
        }
        let types = [additions.class(b"java/lang/Object")?, additions.class(hooks::ELEMENTS)?];
        Ok(Self { own, count, types })
    }

    /// Adds them to the variables of a frame.
    fn append(&self, locals: &mut Vec<Type>) {
        if self.count == 0 {
            return;
        }
        let used: usize =
            locals.iter().map(|kind| if matches!(kind.tag, DOUBLE | LONG) { 2 } else { 1 }).sum();
        let unused = usize::from(self.own).saturating_sub(used);
        locals.extend(std::iter::repeat_n(Type { tag: TOP, operand: 0 }, unused));
        let types = self.types.iter().cycle().take(usize::from(self.count));
        locals.extend(types.map(|class| Type { tag: OBJECT, operand: *class }));
    }
}

/// The frame of a handler that was added at the end of the code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandlerFrame {
    pub(crate) position: usize,
    /// The class of `this` if the handler needs it.
    pub(crate) this: Option<u16>,
    /// The class constant of `java/lang/Throwable`.
    pub(crate) throwable: u16,
}

/// Writes the content of a StackMapTable attribute for the new code.
pub(crate) fn relocate<'a>(
    frames: &'a [u8],
    method: &FramedMethod<'_, 'a>,
    handler: Option<HandlerFrame>,
    additions: &mut Additions<'a>,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    let mut writer = Writer::new(out, method);
    if method.layout.stubs().is_empty() && method.kept_locals.count == 0 {
        for frame in Frames::new(frames)? {
            writer.frame(&frame?)?;
        }
    } else {
        relocate_with_additions(frames, method, additions, &mut writer)?;
    }
    if let Some(handler) = handler {
        writer.handler(&handler)?;
    }
    writer.finish();
    Ok(())
}

/// Writes the content of a StackMapTable attribute for a method that had none.
pub(crate) fn write_handler_only(
    method: &FramedMethod<'_, '_>,
    handler: &HandlerFrame,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    let mut writer = Writer::new(out, method);
    writer.handler(handler)?;
    writer.finish();
    Ok(())
}

/// Relocates frames, adds the kept local variables to each, and adds a frame for each stub. A stub has the frame of its target, so that the
/// frame after a stub cannot be a delta frame.
fn relocate_with_additions<'a>(
    frames: &'a [u8],
    method: &FramedMethod<'_, 'a>,
    additions: &mut Additions<'a>,
    writer: &mut Writer<'_, '_, 'a>,
) -> Result<(), MethodError> {
    let stubs = method.layout.stubs();
    let initial = initial_locals(method, additions)?;
    let mut locals = initial.clone();
    let mut wanted = vec![None; stubs.len()];
    for frame in Frames::new(frames)? {
        let frame = frame?;
        frame.apply(&mut locals)?;
        let index = method.instructions.index(frame.pc);
        for (stub, stub_frame) in stubs.iter().zip(&mut wanted) {
            if Some(stub.target()) == index {
                *stub_frame = Some((locals.clone(), frame.stack.iter().collect::<Vec<_>>()));
            }
        }
    }
    let mut stubs_left = stubs.iter().zip(wanted).peekable();
    let mut locals = initial;
    for frame in Frames::new(frames)? {
        let frame = frame?;
        frame.apply(&mut locals)?;
        let position = writer.position_of(frame.pc)?;
        let mut is_after_stub = false;
        while let Some((stub, wanted)) = stubs_left.next_if(|(stub, _)| stub.position < position) {
            let (locals, stack) = wanted.ok_or(MALFORMED)?;
            writer.full(stub.position, &locals, &stack)?;
            is_after_stub = true;
        }
        if is_after_stub || method.kept_locals.count > 0 {
            writer.full(position, &locals, &frame.stack.iter().collect::<Vec<_>>())?;
        } else {
            writer.frame(&frame)?;
        }
    }
    for (stub, wanted) in stubs_left {
        let (locals, stack) = wanted.ok_or(MALFORMED)?;
        writer.full(stub.position, &locals, &stack)?;
    }
    Ok(())
}

/// The local variables with which a method begins.
fn initial_locals<'a>(
    method: &FramedMethod<'_, 'a>,
    additions: &mut Additions<'a>,
) -> Result<Vec<Type>, MethodError> {
    let mut locals = Vec::new();
    if method.is_constructor {
        locals.push(Type { tag: UNINITIALIZED_THIS, operand: 0 });
    } else if !method.is_static {
        locals.push(Type { tag: OBJECT, operand: method.this_index });
    }
    for parameter in parameters(method.descriptor) {
        let tag = match parameter {
            b"F" => 2,
            b"D" => DOUBLE,
            b"J" => LONG,
            [b'L' | b'[', ..] => OBJECT,
            _ => 1,
        };
        let operand = match parameter {
            [b'L', name @ .., b';'] => additions.class(name)?,
            [b'[', ..] => additions.class(parameter)?,
            _ => 0,
        };
        locals.push(Type { tag, operand });
    }
    Ok(locals)
}

/// Writes frames one after the other.
struct Writer<'o, 'm, 'a> {
    out: &'o mut Vec<u8>,
    method: &'m FramedMethod<'m, 'a>,
    count_at: usize,
    count: u16,
    previous: Option<usize>,
}

impl<'o, 'm, 'a> Writer<'o, 'm, 'a> {
    fn new(out: &'o mut Vec<u8>, method: &'m FramedMethod<'m, 'a>) -> Self {
        let count_at = out.len();
        put_u16(out, 0);
        Self { out, method, count_at, count: 0, previous: None }
    }

    fn finish(self) {
        fill_u16(self.out, self.count_at, self.count);
    }

    /// The new position of the frame of the instruction at the old `pc`.
    fn position_of(&self, pc: usize) -> Result<usize, MethodError> {
        let index = self.method.instructions.index(pc).ok_or(MALFORMED)?;
        Ok(self.method.layout.start(index))
    }

    /// Counts a frame and returns its offset delta.
    fn advance(&mut self, position: usize) -> Result<u16, MethodError> {
        let base = self.previous.map_or(0, |previous| previous + 1);
        let delta =
            position.checked_sub(base).and_then(|delta| u16::try_from(delta).ok()).ok_or(MALFORMED)?;
        self.previous = Some(position);
        self.count = self.count.checked_add(1).ok_or(MALFORMED)?;
        Ok(delta)
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), MethodError> {
        let position = self.position_of(frame.pc)?;
        let delta = self.advance(position)?;
        let short = u8::try_from(delta).ok().filter(|delta| *delta < 64);
        match (frame.shape, short) {
            (Shape::Same, Some(delta)) => self.out.push(delta),
            (Shape::Same, None) => self.tag(SAME_EXTENDED, delta),
            (Shape::SameStack, Some(delta)) => self.out.push(64 + delta),
            (Shape::SameStack, None) => self.tag(SAME_STACK_EXTENDED, delta),
            (Shape::Chop(count), _) => self.tag(SAME_EXTENDED - count, delta),
            (Shape::Append(count), _) => self.tag(SAME_EXTENDED + count, delta),
            (Shape::Full, _) => {
                self.tag(FULL, delta);
                put_u16(self.out, frame.locals.count);
                self.types(&frame.locals)?;
                put_u16(self.out, frame.stack.count);
                return self.types(&frame.stack);
            }
        }
        self.types(&frame.locals)?;
        self.types(&frame.stack)
    }

    /// A frame with all its types; the kept local variables are added.
    fn full(&mut self, position: usize, locals: &[Type], stack: &[Type]) -> Result<(), MethodError> {
        let mut locals = locals.to_vec();
        self.method.kept_locals.append(&mut locals);
        self.full_as_given(position, &locals, stack)
    }

    fn full_as_given(&mut self, position: usize, locals: &[Type], stack: &[Type]) -> Result<(), MethodError> {
        let delta = self.advance(position)?;
        self.tag(FULL, delta);
        for types in [locals, stack] {
            put_u16(self.out, u16::try_from(types.len()).map_err(|_| MALFORMED)?);
            for kind in types {
                self.kind(*kind)?;
            }
        }
        Ok(())
    }

    fn handler(&mut self, handler: &HandlerFrame) -> Result<(), MethodError> {
        let object = |operand| Type { tag: OBJECT, operand };
        let locals = handler.this.map(object);
        self.full_as_given(handler.position, locals.as_slice(), &[object(handler.throwable)])
    }

    fn tag(&mut self, tag: u8, delta: u16) {
        self.out.push(tag);
        put_u16(self.out, delta);
    }

    fn types(&mut self, types: &Types<'_>) -> Result<(), MethodError> {
        if !types.has_uninitialized {
            self.out.extend_from_slice(types.bytes);
            return Ok(());
        }
        types.iter().try_for_each(|kind| self.kind(kind))
    }

    /// An uninitialized object is identified by the offset of its `new` instruction itself, not of the code inserted before it.
    fn kind(&mut self, kind: Type) -> Result<(), MethodError> {
        self.out.push(kind.tag);
        match kind.tag {
            OBJECT => put_u16(self.out, kind.operand),
            UNINITIALIZED => {
                let index = self.method.instructions.index(usize::from(kind.operand)).ok_or(MALFORMED)?;
                let position = u16::try_from(self.method.layout.own(index)).map_err(|_| MALFORMED)?;
                put_u16(self.out, position);
            }
            _ => {}
        }
        Ok(())
    }
}
