//! What can be wrong with a class, and with one method of it.

use thiserror::Error;

/// Why a class could not be read or rewritten. The caller goes on with the original bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClassError {
    /// The file does not begin as class files do.
    #[error("not a class file")]
    NotAClass,
    /// The file ends in the middle of something.
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
    /// A constant is missing, or of another kind than its use demands.
    #[error("constant {index} is not of the kind that its use demands")]
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
}

/// Why one method is left as it was.
#[derive(Debug, Error)]
pub(crate) enum MethodError {
    #[error("the code would be longer than 65535 bytes")]
    CodeTooLong,
    #[error("the operand stack would be deeper than 65535 slots")]
    StackTooDeep,
    #[error("there would be more than 65535 local variables")]
    TooManyLocals,
    #[error("a conditional jump would have to go too far")]
    JumpTooFar,
    #[error("the exception table would be too long")]
    TooManyHandlers,
    #[error("the {0} could not be understood")]
    Malformed(&'static str),
    #[error(transparent)]
    Class(#[from] ClassError),
}
