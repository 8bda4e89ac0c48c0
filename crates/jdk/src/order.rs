//! Calls that order threads: hand-over, waiting, and state that threads share (`order.txt`).

use std::sync::LazyLock;

use crate::{
    files::{file, loaded},
    format::DataError,
    libraries,
    tables::{Member, Members},
};

/// The object that order is kept on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The receiver.
    This,
    /// The receiver, unless its class belongs to the JDK.
    Foreign,
    /// The current round of the receiver, a barrier: threads that are ahead in the next round do not belong to it.
    Round,
    /// The result.
    Result,
    /// A parameter, counted from 0.
    Parameter(u8),
}

/// How a call orders threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// At its entry: what the thread did so far happens before the matching acquires.
    Release(Subject),
    /// At its return.
    Acquire(Subject),
    /// An acquire of the receiver at its entry: a task begins.
    Begin,
    /// A release of the receiver and of the completers that it completes.
    Complete,
    /// An acquire and a release in one, of the value that a collection computed or already contained.
    Compute,
    /// Threads can wait for the receiver, a lock, so that it guards conditions and does not only exclude.
    Guard,
}

/// The methods of a class, given by its internal name, with which one thread hands everything it did so far over to another.
pub fn hand_over(class: &str) -> &'static [Member<Ordering>] {
    match ORDER.hand_over.of(class) {
        [] => libraries::hand_over(class),
        members => members,
    }
}

/// The methods of a class, given by its internal name, with which threads wait for conditions.
pub fn waiting(class: &str) -> &'static [Member<Ordering>] {
    ORDER.waiting.of(class)
}

/// The methods of a class, given by its internal name, that order threads if code outside of the JDK calls them: atomics, maps and the like.
pub fn shared_state(class: &str) -> &'static [Member<Ordering>] {
    ORDER.shared_state.of(class)
}

/// How a call of a collection's method at a site of the application orders threads that hold a common lock. A release concerns the last
/// parameter. The names are those in a class file.
pub fn guarded(owner: &[u8], name: &[u8], descriptor: &[u8]) -> Option<Ordering> {
    let owner = std::str::from_utf8(owner).ok().filter(|owner| owner.starts_with("java/util/"))?;
    let is_called = |member: &&Member<Ordering>| {
        member.method.as_bytes() == name
            && member.descriptor.is_none_or(|known| known.as_bytes() == descriptor)
    };
    ORDER.guarded.of(owner).iter().find(is_called).map(|member| member.role)
}

static ORDER: LazyLock<Order> = LazyLock::new(|| loaded(Order::load()));

pub(crate) struct Order {
    hand_over: Members<Ordering>,
    waiting: Members<Ordering>,
    shared_state: Members<Ordering>,
    guarded: Members<Ordering>,
}

impl Order {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("order.txt")?;
        let order = Order {
            hand_over: Members::load(file.take("hand-over")?, orderings)?,
            waiting: Members::load(file.take("waiting")?, orderings)?,
            shared_state: Members::load(file.take("shared-state")?, orderings)?,
            guarded: Members::load(file.take("guarded")?, orderings)?,
        };
        file.finish()?;
        Ok(order)
    }
}

pub(crate) fn orderings(words: &[&'static str]) -> Option<Vec<Ordering>> {
    let all: Option<Vec<Ordering>> = words.iter().map(|word| ordering(word)).collect();
    all.filter(|all| !all.is_empty())
}

fn ordering(word: &str) -> Option<Ordering> {
    let subject = |text: &str| match text {
        "this" => Some(Subject::This),
        "foreign" => Some(Subject::Foreign),
        "round" => Some(Subject::Round),
        "result" => Some(Subject::Result),
        number => Some(Subject::Parameter(number.parse().ok()?)),
    };
    match word.strip_suffix(')').and_then(|word| word.split_once('(')) {
        Some(("release", of)) => subject(of).filter(|of| *of != Subject::Result).map(Ordering::Release),
        Some(("acquire", of)) => subject(of).map(Ordering::Acquire),
        Some(_) => None,
        None => match word {
            "begin" => Some(Ordering::Begin),
            "complete" => Some(Ordering::Complete),
            "compute" => Some(Ordering::Compute),
            "guard" => Some(Ordering::Guard),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_hand_over() {
        let found = hand_over("java/util/concurrent/CyclicBarrier");
        let roles: Vec<Ordering> = found.iter().map(|member| member.role).collect();
        assert_eq!(roles, [Ordering::Release(Subject::Round), Ordering::Acquire(Subject::Round)]);
        assert!(hand_over("java/util/concurrent/ConcurrentHashMap").is_empty());
        assert!(hand_over("CyclicBarrier").is_empty());
        let handle = shared_state("java/lang/invoke/VarHandleInts$FieldStaticReadWrite");
        assert_eq!(handle[0].role, Ordering::Acquire(Subject::Parameter(0)));
        assert_eq!(ordering("release(result)"), None);
        assert_eq!(ordering("acquire(foreign)"), Some(Ordering::Acquire(Subject::Foreign)));
        let lock = waiting("java/util/concurrent/locks/ReentrantLock");
        assert_eq!(lock[0].role, Ordering::Guard);
    }

    #[test]
    fn elements_of_collections_are_last_parameters_or_results() {
        let all = ORDER.guarded.all().flat_map(|(_, members)| members);
        for Member { method, descriptor, role } in all {
            let descriptor = descriptor.unwrap_or_else(|| panic!("{method} has no descriptor"));
            let (parameters, result) = descriptor[1..].split_once(')').unwrap();
            match role {
                Ordering::Release(Subject::Parameter(at)) => {
                    let references = parameters.matches("Ljava/lang/Object;").count();
                    let numbers = parameters.matches('I').count();
                    assert_eq!(usize::from(*at) + 1, references + numbers, "{method}{descriptor}");
                    assert!(parameters.ends_with("Ljava/lang/Object;"), "{method}{descriptor}");
                }
                Ordering::Acquire(Subject::Result) => assert_eq!(result, "Ljava/lang/Object;"),
                other => panic!("{method}: {other:?}"),
            }
        }
        let poll = guarded(b"java/util/Queue", b"poll", b"()Ljava/lang/Object;");
        assert_eq!(poll, Some(Ordering::Acquire(Subject::Result)));
        assert_eq!(guarded(b"java/util/Queue", b"poll", b"()V"), None);
        assert_eq!(guarded(b"com/acme/Queue", b"poll", b"()Ljava/lang/Object;"), None);
    }
}
