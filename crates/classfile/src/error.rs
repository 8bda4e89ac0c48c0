//! Errors of whole classes and of single methods.

use thiserror::Error;

/// The reason why a class could not be read, rewritten or written. A caller that rewrites continues with the original bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClassError {
    /// The file does not begin with the magic number of class files.
    #[error("not a class file")]
    NotAClass,
    /// The file is truncated.
    #[error("the class file ends too early")]
    Truncated,
    /// A constant has a tag that no class-file version defines.
    #[error("constant {index} has the unknown tag {tag}")]
    UnknownConstant {
        /// The constant's index.
        index: u16,
        /// Its tag.
        tag: u8,
    },
    /// A constant is missing, or its kind does not fit its use.
    #[error("constant {index} is missing or of the wrong kind")]
    WrongConstant {
        /// The constant's index.
        index: u16,
    },
    /// There is no room for another constant.
    #[error("the constant pool is full")]
    ConstantPoolFull,
    /// There is no room for another field.
    #[error("the class has too many fields")]
    TooManyFields,
    /// The code of a new method is too long.
    #[error("a method would be longer than 65535 bytes")]
    MethodTooLarge,
    /// The code of a new method jumps to a label that stands nowhere.
    #[error("a jump has no target")]
    MissingLabel,
}

/// The reason why one method is left unchanged.
#[derive(Debug, Error)]
pub(crate) enum MethodError {
    #[error("the code would be longer than 65535 bytes")]
    CodeTooLong,
    #[error("the operand stack would be deeper than 65535 slots")]
    StackTooDeep,
    #[error("there would be more than 65535 local variables")]
    TooManyLocals,
    #[error("a conditional jump would be too long")]
    JumpTooFar,
    #[error("the exception table would be too long")]
    TooManyHandlers,
    #[error("the {0} is malformed")]
    Malformed(&'static str),
    #[error(transparent)]
    Class(#[from] ClassError),
}

impl MethodError {
    /// The error for a class of which every method is needed.
    pub(crate) fn into_class_error(self) -> ClassError {
        match self {
            MethodError::Class(error) => error,
            _ => ClassError::MethodTooLarge,
        }
    }
}
