//! What methods do with the references that they get, for the static analysis (`references.txt`), and what the check of these rows
//! against a JDK may ignore (`table-check.txt`).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::{
    files::{file, loaded},
    format::DataError,
    pattern::MethodPattern,
    tables::{ClassSet, Rules},
};

/// The effect of a method on references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceEffect {
    /// It stores no reference, and the result is new or references nothing.
    Pure,
    /// It may store its arguments in each other or in the receiver, and return them.
    Keeps,
    /// It may pass them to other threads.
    Shares,
    /// Unknown code may access their fields.
    Exposes,
    /// It shares, and classes named by system properties may be loaded.
    Properties,
    /// It exposes, and static fields of any class that the program names may be accessed.
    Statics,
    /// Registered service providers may be instantiated.
    Services,
    /// Resource bundles may be instantiated.
    Bundles,
    /// Classes may be loaded and instantiated and methods called by name.
    Anything(Cause),
}

/// Why anything may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Reflection.
    Reflection,
    /// Method handles.
    MethodHandles,
    /// Class loading by name.
    ClassLoading,
    /// Providers of services that load classes by name.
    Providers,
    /// Serialization.
    Serialization,
    /// Native code.
    NativeCode,
}

/// The effect of a method of a class, which has its internal name; `None` if the class has no rows.
pub fn reference_effect(class: &str, name: &str, descriptor: &str) -> Option<ReferenceEffect> {
    REFERENCES.effects.find(class, name, descriptor)
}

/// Whether there are rows about a class, which has its internal name.
pub fn has_reference_effects(class: &str) -> bool {
    REFERENCES.effects.describes(class)
}

/// Whether a method returns or sets an object that all threads share and that may be of a class of the program.
pub fn gives_common_object(class: &str, name: &str) -> bool {
    REFERENCES.common.find(class, name, "") == Some(true)
}

/// The types that objects of a class, given by its internal name, may wrap, if they reference no objects of the program otherwise; `None`
/// if they may reference any.
pub fn inert(class: &str) -> Option<&'static [String]> {
    REFERENCES.inert.get(class).map(Vec::as_slice)
}

/// Whether a method passes arrays to the coders of a character set.
pub fn uses_coders(class: &str, name: &str) -> bool {
    REFERENCES.coders.find(class, name, "").is_some()
}

/// Whether a method may access the elements of an array that it gets as an `Object`.
pub fn may_take_arrays(class: &str, name: &str) -> bool {
    REFERENCES.takes_arrays.find(class, name, "").is_some()
}

/// Whether the rows of a class hold even if the program extends it.
pub fn holds_for_subclasses(class: &str) -> bool {
    REFERENCES.for_subclasses.contains(class)
}

/// Whether objects of a type load classes by names that they are configured with.
pub fn loads_by_name(class: &str) -> bool {
    REFERENCES.loads_by_name.contains(class)
}

/// Whether a native method does nothing with objects.
pub fn is_harmless_native(name: &str, descriptor: &str) -> bool {
    REFERENCES.harmless_natives.find("", name, descriptor).is_some()
}

/// Whether a method is known to do no harm although it seems to do more than its row says.
pub fn is_harmless_code(class: &str, method: &str) -> bool {
    CHECK.harmless.find(&class.replace('.', "/"), method, "").is_some()
}

/// The same for the creation of objects of a class.
pub fn is_harmless_creation(class: &str) -> bool {
    CHECK.harmless_constructors.contains(class)
}

/// Whether a class may name classes of modules that the core of the JDK cannot use.
pub fn may_name_other_modules(class: &str) -> bool {
    CHECK.naming.contains(class)
}

/// Whether the objects of a type are empty constants when a static method returns them from a static field.
pub fn is_given(class: &str) -> bool {
    CHECK.given.contains(class)
}

/// Whether the objects of a type store nothing when the JDK holds them in static fields.
pub fn is_constant(class: &str) -> bool {
    CHECK.constants.contains(class)
}

/// Whether the code of a class is analysed although its rows say more than its callers need.
pub fn is_analysed_for_callers(class: &str) -> bool {
    CHECK.analysed.contains(class)
}

/// Whether a method of collections of this name does not store its arguments.
pub fn looks_up(name: &str) -> bool {
    CHECK.looks_up.iter().any(|method| method.names(name))
}

/// The modules with classes that have rows.
pub fn described_modules() -> impl Iterator<Item = &'static str> {
    CHECK.modules.iter().copied()
}

/// Whether code with rows does not load a service, or returns its objects only as types that have rows.
pub fn is_not_loaded(service: &str) -> bool {
    CHECK.not_loaded.contains(service)
}

static REFERENCES: LazyLock<References> = LazyLock::new(|| loaded(References::load()));
static CHECK: LazyLock<TableCheck> = LazyLock::new(|| loaded(TableCheck::load()));

pub(crate) struct References {
    effects: Rules<ReferenceEffect>,
    /// Whether the object is common; false for exceptions.
    common: Rules<bool>,
    inert: FxHashMap<String, Vec<String>>,
    coders: Rules<()>,
    takes_arrays: Rules<()>,
    for_subclasses: ClassSet,
    loads_by_name: ClassSet,
    harmless_natives: Rules<()>,
}

impl References {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("references.txt")?;
        let internal = |name: &str| name.replace('.', "/");
        let inert = file.take("inert")?.section;
        let inert = inert.groups.iter().flat_map(|group| &group.classes).map(|entry| {
            (internal(entry.class.text()), entry.words.iter().map(|word| internal(word)).collect())
        });
        let references = References {
            inert: inert.collect(),
            effects: Rules::load(file.take("effects")?, effect)?,
            common: Rules::load(file.take("common")?, |words| match words {
                ["common"] => Some(true),
                ["own"] => Some(false),
                _ => None,
            })?,
            coders: Rules::load(file.take("coders")?, nothing)?,
            takes_arrays: Rules::load(file.take("takes-arrays")?, nothing)?,
            for_subclasses: ClassSet::load(file.take("holds-for-subclasses")?)?,
            loads_by_name: ClassSet::load(file.take("loads-by-name")?)?,
            harmless_natives: Rules::load(file.take("harmless-natives")?, nothing)?,
        };
        file.finish()?;
        Ok(references)
    }
}

pub(crate) struct TableCheck {
    harmless: Rules<()>,
    harmless_constructors: ClassSet,
    naming: ClassSet,
    given: ClassSet,
    constants: ClassSet,
    analysed: ClassSet,
    looks_up: Vec<MethodPattern>,
    modules: Vec<&'static str>,
    not_loaded: ClassSet,
}

impl TableCheck {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("table-check.txt")?;
        let looks_up = file.take("looks-up")?.section;
        let rows = looks_up.groups.iter().flat_map(|group| &group.rows);
        let modules = file.take("modules")?.section;
        let names = modules.groups.iter().flat_map(|group| &group.classes);
        let check = TableCheck {
            looks_up: rows.flat_map(|row| &row.methods).copied().collect(),
            modules: names.map(|entry| entry.class.text()).collect(),
            harmless: Rules::load(file.take("harmless")?, nothing)?,
            harmless_constructors: ClassSet::load(file.take("harmless-constructors")?)?,
            naming: ClassSet::load(file.take("naming")?)?,
            given: ClassSet::load(file.take("given")?)?,
            constants: ClassSet::load(file.take("constants")?)?,
            analysed: ClassSet::load(file.take("analysed")?)?,
            not_loaded: ClassSet::load(file.take("not-loaded")?)?,
        };
        file.finish()?;
        Ok(check)
    }
}

/// Rules about which there is nothing more to say.
pub(crate) fn nothing(words: &[&'static str]) -> Option<()> {
    words.is_empty().then_some(())
}

fn effect(words: &[&str]) -> Option<ReferenceEffect> {
    Some(match words {
        ["pure"] => ReferenceEffect::Pure,
        ["keeps"] => ReferenceEffect::Keeps,
        ["shares"] => ReferenceEffect::Shares,
        ["exposes"] => ReferenceEffect::Exposes,
        ["properties"] => ReferenceEffect::Properties,
        ["statics"] => ReferenceEffect::Statics,
        ["services"] => ReferenceEffect::Services,
        ["bundles"] => ReferenceEffect::Bundles,
        ["anything", cause] => ReferenceEffect::Anything(match *cause {
            "reflection" => Cause::Reflection,
            "method-handles" => Cause::MethodHandles,
            "class-loading" => Cause::ClassLoading,
            "providers" => Cause::Providers,
            "serialization" => Cause::Serialization,
            "native-code" => Cause::NativeCode,
            _ => return None,
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, name: &str, descriptor: &str, expected: Option<ReferenceEffect>) {
        assert_eq!(reference_effect(class, name, descriptor), expected, "{class}.{name}{descriptor}");
    }

    #[test]
    fn the_first_row_counts() {
        let reflection = ReferenceEffect::Anything(Cause::Reflection);
        check("java/util/ArrayList", "add", "(Ljava/lang/Object;)Z", Some(ReferenceEffect::Keeps));
        check("java/util/Arrays", "parallelSort", "([I)V", Some(ReferenceEffect::Shares));
        check("java/lang/Class", "forName", "()V", Some(reflection));
        check("java/sql/SQLException", "<init>", "()V", Some(ReferenceEffect::Keeps));
        check("java/sql/Timestamp", "<init>", "()V", None);
        check("java/util/concurrent/ConcurrentHashMap", "forEach", "(JLx;)V", Some(ReferenceEffect::Shares));
        assert!(gives_common_object("java/util/TimeZone", "getDefault"));
        assert!(!gives_common_object("java/util/Locale", "getDefault"));
        assert!(
            inert("java/lang/String").is_some_and(<[String]>::is_empty) && inert("java/util/List").is_none()
        );
        assert!(is_harmless_native("initIDs", "()V") && !is_harmless_native("initIDs", "(I)V"));
        assert!(is_harmless_code("java.lang.ClassLoader", "getParent"));
        assert!(loads_by_name("java/nio/file/spi/FileSystemProvider") && !loads_by_name("java/util/List"));
    }
}
