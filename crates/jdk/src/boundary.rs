//! The boundary of the analysis of effects: methods whose code is not analysed (`boundary.txt`).

use std::sync::LazyLock;

use crate::{
    files::{file, loaded},
    format::DataError,
    references::nothing,
    tables::{ClassSet, Members, Rules},
};

/// The effect of a method whose code is not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundaryEffect {
    /// It changes nothing that a harness can observe, and returns a value.
    Quiet,
    /// The same, and it calls `toString` of its arguments.
    Text,
    /// It reads a field or an element of its first argument.
    Reads,
    /// It writes a field or an element of its first argument.
    Writes,
    /// It returns the argument with this number; the receiver counts as number 0.
    Same(u8),
    /// `System.arraycopy`.
    ArrayCopy,
    /// `Object.clone`.
    Clone,
    /// It creates an array.
    NewArray,
    /// It appends the text of its arguments to the receiver, and returns the receiver.
    Builds,
    /// It stores its arguments in the receiver, and may return them later.
    Holds,
    /// The same, and it changes the receiver, which may have existed before the call.
    Replaces,
    /// It may do anything.
    Unknown,
}

/// The effect of a method, apart from those of locks. The class, which has its internal name, declares it, or the code names it.
pub fn boundary_effect(class: &str, name: &str) -> BoundaryEffect {
    BOUNDARY.boundary.find(class, name, "").unwrap_or(BoundaryEffect::Unknown)
}

/// Whether the code of a class of the JDK is analysed.
pub fn is_analysed(class: &str) -> bool {
    BOUNDARY.analysed.contains(class) && !BOUNDARY.not_analysed.contains(class)
}

/// Whether a field of a class of the JDK caches a view of a map.
pub fn is_cached_view(class: &str, field: &str) -> bool {
    BOUNDARY.cached_views.find(&class.replace('.', "/"), field, "").is_some()
}

/// Whether the writes of a method of the JDK are unobservable.
pub fn has_unobservable_writes(class: &str, method: &str) -> bool {
    BOUNDARY.unobservable.find(class, method, "").is_some()
}

/// The methods that a harness calls on a result: the internal name of the type of the result, the name and the descriptor.
pub fn result_calls() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    BOUNDARY.result_calls.all().flat_map(|(class, members)| {
        members.iter().map(move |member| (class, member.method, member.descriptor.unwrap_or_default()))
    })
}

static BOUNDARY: LazyLock<Boundary> = LazyLock::new(|| loaded(Boundary::load()));

pub(crate) struct Boundary {
    boundary: Rules<BoundaryEffect>,
    analysed: ClassSet,
    not_analysed: ClassSet,
    cached_views: Rules<()>,
    unobservable: Rules<()>,
    result_calls: Members<()>,
}

impl Boundary {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("boundary.txt")?;
        let boundary = Boundary {
            boundary: Rules::load(file.take("boundary")?, effect)?,
            analysed: ClassSet::load(file.take("analysed")?)?,
            not_analysed: ClassSet::load(file.take("not-analysed")?)?,
            cached_views: Rules::load(file.take("cached-views")?, nothing)?,
            unobservable: Rules::load(file.take("unobservable")?, nothing)?,
            result_calls: Members::load(file.take("result-calls")?, |words| Some(vec![nothing(words)?]))?,
        };
        file.finish()?;
        Ok(boundary)
    }
}

fn effect(words: &[&str]) -> Option<BoundaryEffect> {
    Some(match words {
        ["quiet"] => BoundaryEffect::Quiet,
        ["text"] => BoundaryEffect::Text,
        ["reads"] => BoundaryEffect::Reads,
        ["writes"] => BoundaryEffect::Writes,
        ["same", number] => BoundaryEffect::Same(number.parse().ok()?),
        ["array-copy"] => BoundaryEffect::ArrayCopy,
        ["clone"] => BoundaryEffect::Clone,
        ["new-array"] => BoundaryEffect::NewArray,
        ["builds"] => BoundaryEffect::Builds,
        ["holds"] => BoundaryEffect::Holds,
        ["replaces"] => BoundaryEffect::Replaces,
        ["unknown"] => BoundaryEffect::Unknown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_at_the_boundary_have_effects() {
        let check = |class: &str, name: &str, expected: BoundaryEffect| {
            assert_eq!(boundary_effect(class, name), expected, "{class}.{name}");
        };
        check("java/lang/Integer", "valueOf", BoundaryEffect::Quiet);
        check("java/lang/String", "valueOf", BoundaryEffect::Text);
        check("java/lang/Class", "cast", BoundaryEffect::Same(1));
        check("java/lang/invoke/VarHandle", "getAndAdd", BoundaryEffect::Writes);
        check("java/lang/invoke/VarHandle", "fullFence", BoundaryEffect::Quiet);
        check("java/lang/StringBuilder", "append", BoundaryEffect::Builds);
        check("java/net/Socket", "close", BoundaryEffect::Unknown);
        assert!(is_analysed("java/util/HashMap") && !is_analysed("java/util/Formatter$Flags"));
        assert!(
            is_cached_view("java/util/TreeMap", "descendingMap") && !is_cached_view("com/acme/Map", "values")
        );
        assert_eq!(result_calls().count(), 9);
    }
}
