//! The glue between the hook classes and the conductor, for the two kinds of runs: whole programs ([`crate::control`]) and harnesses whose
//! schedules are explored ([`crate::explore`]). Both wait at the same [`gate::Gate`]s, and their hook classes call the same native methods
//! ([`natives`]).

pub(crate) mod gate;
pub(crate) mod natives;
