//! What Fissure knows about the JDK: whose locks are internal, which classes are thread-unsafe, which methods read or write, which calls
//! hand over, and more. Other crates ask the functions of this one; none of them has a list of JDK classes of its own.
//!
//! The knowledge is in text files by topic, below `crates/jdk/data`; [`mod@format`] describes their format. They are part of the program, and
//! are parsed when the first question about a topic is asked. A test compares every name in them with a real JDK
//! (`cargo test -p fissure --lib jdk_knowledge`).
//!
//! Names of classes are internal ones, with slashes, where a function says so; all other functions take names with dots or slashes.

mod boundary;
mod classes;
mod contents;
mod files;
pub mod format;
mod libraries;
mod locks;
mod order;
mod pattern;
mod process_state;
mod references;
mod scheduling;
mod tables;

pub use boundary::{
    BoundaryEffect, boundary_effect, has_unobservable_writes, is_analysed, is_cached_view, result_calls,
};
pub use classes::{
    Reflected, ThreadEvent, class_loading_methods, delegate_of, is_building_block, is_collection_code,
    is_concurrency_class, is_idle_method, is_jdk_module, is_jdk_name, is_never_watched, is_task_queue,
    is_thread_safe, is_untouchable, keeps_its_monitors, launcher_methods, passes_calls_on,
    reflection_methods, thread_methods, virtual_thread_methods, wrapped_field,
};
pub use contents::{
    Access, Use, access_of, collection_rows, collection_use, is_builder, is_collection, may_hold, only_reads,
    value_use,
};
pub use files::files;
pub use libraries::is_coroutine_state;
pub use locks::{
    AtomicAccess, LockOperation, Mode, atomic_classes, atomic_methods, has_atomic_blocks, is_internal_lock,
    is_lock_frame, is_stamped, lock_classes, lock_methods, lock_of_part, lock_operation,
    locks_for_bookkeeping, locks_for_the_collector,
};
pub use order::{Ordering, Subject, guarded, hand_over, shared_state, waiting};
pub use pattern::{ClassPattern, MethodPattern};
pub use process_state::{Restored, restored_statics};
pub use references::{
    Cause, ReferenceEffect, described_modules, gives_common_object, has_reference_effects,
    holds_for_subclasses, inert, is_analysed_for_callers, is_constant, is_given, is_harmless_code,
    is_harmless_creation, is_harmless_native, is_not_loaded, loads_by_name, looks_up, may_name_other_modules,
    may_take_arrays, reference_effect, uses_coders,
};
pub use scheduling::{
    PointKind, Reading, Redirected, atomic_points, blocking_calls, channel_calls, collection_points,
    environment_calls, is_exit_frame, is_of_channels, reading_methods, semaphore_points, synchronizer_points,
    volatile_reads,
};
pub use tables::Member;

#[cfg(test)]
mod tests {
    use crate::{
        boundary, classes, contents, format::DataError, libraries, locks, order, process_state, references,
        scheduling,
    };

    /// Loads every file as the questions do, so that no question can fail at run time.
    #[test]
    fn every_file_is_loaded() {
        fn check<T>(result: Result<T, DataError>) {
            if let Err(error) = result {
                panic!("{error}");
            }
        }
        check(boundary::Boundary::load());
        check(classes::Classes::load());
        check(classes::Executors::load());
        check(classes::ThreadUnsafe::load());
        check(classes::Threads::load());
        check(contents::Contents::load());
        check(libraries::Libraries::load());
        check(locks::Internal::load());
        check(locks::Locks::load());
        check(order::Order::load());
        check(process_state::ProcessState::load());
        check(references::References::load());
        check(references::TableCheck::load());
        check(scheduling::Calls::load());
        check(scheduling::Points::load());
    }
}
