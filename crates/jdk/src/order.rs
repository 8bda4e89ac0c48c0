//! Calls that order threads: hand-over, and further sources of happens-before order (`order.txt`).

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
}

/// The methods of a class, given by its internal name, with which one thread hands everything it did so far over to another.
pub fn hand_over(class: &str) -> &'static [Member<Ordering>] {
    match ORDER.hand_over.of(class) {
        [] => libraries::hand_over(class),
        members => members,
    }
}

/// The methods of a class, given by its internal name, that order threads in other ways.
pub fn happens_before(class: &str) -> &'static [Member<Ordering>] {
    ORDER.happens_before.of(class)
}

static ORDER: LazyLock<Order> = LazyLock::new(|| loaded(Order::load()));

pub(crate) struct Order {
    hand_over: Members<Ordering>,
    happens_before: Members<Ordering>,
}

impl Order {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("order.txt")?;
        let order = Order {
            hand_over: Members::load(file.take("hand-over")?, orderings)?,
            happens_before: Members::load(file.take("happens-before")?, orderings)?,
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
        assert_eq!(roles, [Ordering::Release(Subject::This), Ordering::Acquire(Subject::This)]);
        assert!(hand_over("java/util/concurrent/ConcurrentHashMap").is_empty());
        assert!(hand_over("CyclicBarrier").is_empty());
        let handle = happens_before("java/lang/invoke/VarHandleInts$FieldStaticReadWrite");
        assert_eq!(handle[0].role, Ordering::Acquire(Subject::Parameter(0)));
        assert_eq!(ordering("release(result)"), None);
    }
}
