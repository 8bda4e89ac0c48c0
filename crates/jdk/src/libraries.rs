//! Libraries that schedule work of their own, such as Kotlin's coroutines (`libraries.txt`).

use std::sync::LazyLock;

use crate::{
    files::{file, loaded},
    format::DataError,
    order::{Ordering, orderings},
    tables::{ClassSet, Member, Members},
};

/// Whether a class with this superclass holds the state of a coroutine.
pub fn is_coroutine_state(superclass: &str) -> bool {
    LIBRARIES.coroutine_state.contains(superclass)
}

/// Whether a method, given by the name of its class with dots, is one in which threads of a library's pool wait for work.
pub(crate) fn is_idle_method(class: &str, method: &str) -> bool {
    let is_class = |name: &str| name.len() == class.len() && class.split('.').eq(name.split('/'));
    let mut idle = LIBRARIES.idle.all();
    idle.any(|(name, methods)| is_class(name) && methods.iter().any(|member| member.method == method))
}

/// The methods of a class, given by its internal name, with which one thread hands everything it did so far over to another.
pub(crate) fn hand_over(class: &str) -> &'static [Member<Ordering>] {
    LIBRARIES.hand_over.of(class)
}

static LIBRARIES: LazyLock<Libraries> = LazyLock::new(|| loaded(Libraries::load()));

pub(crate) struct Libraries {
    coroutine_state: ClassSet,
    idle: Members<()>,
    hand_over: Members<Ordering>,
}

impl Libraries {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("libraries.txt")?;
        let libraries = Libraries {
            coroutine_state: ClassSet::load(file.take("coroutine-state")?)?,
            idle: Members::load(file.take("idle")?, |words| words.is_empty().then(|| vec![()]))?,
            hand_over: Members::load(file.take("hand-over")?, orderings)?,
        };
        file.finish()?;
        Ok(libraries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Subject;

    #[test]
    fn coroutines_are_known() {
        assert!(is_coroutine_state("kotlin/coroutines/jvm/internal/SuspendLambda"));
        assert!(is_coroutine_state("kotlin/coroutines/jvm/internal/ContinuationImpl"));
        assert!(!is_coroutine_state("kotlin/jvm/internal/Lambda"));
        assert!(is_idle_method("kotlinx.coroutines.scheduling.CoroutineScheduler$Worker", "park"));
        assert!(!is_idle_method("kotlinx.coroutines.scheduling.CoroutineScheduler$Worker", "run"));
        let mutex = hand_over("kotlinx/coroutines/sync/MutexImpl");
        assert_eq!(mutex[0].role, Ordering::Release(Subject::This));
    }
}
