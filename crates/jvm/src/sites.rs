//! The sites at which the program accesses watched locations, numbered as classes are rewritten.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use fissure_analysis::word::SITE_BITS;
use fissure_classfile::{ArraySource, SiteKind, SiteTarget};

/// The target of a site's access.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A field, by the names in the code (internal class name).
    Field { class: Arc<str>, name: Arc<str>, descriptor: Arc<str> },
    /// An element of an array that was read from a local variable, with its name if the class file has it.
    Local(Option<Arc<str>>),
    /// A method that is called, by the names in the code (internal class name).
    Method { class: Arc<str>, name: Arc<str> },
    /// An element of an array from another source.
    Unknown,
}

/// One site.
#[derive(Debug, Clone)]
pub(crate) struct SiteInfo {
    /// The class with dots.
    pub(crate) class: Arc<str>,
    pub(crate) method: Arc<str>,
    pub(crate) file: Option<Arc<str>>,
    pub(crate) line: Option<u32>,
    pub(crate) loader: i64,
    /// The kind of operation.
    pub(crate) kind: SiteKind,
    /// The field that is accessed, or, for an array element, where the array was read from.
    pub(crate) target: Target,
    /// Whether an array element is accessed.
    pub(crate) is_element: bool,
    /// The method of a collection or an atomic that is called, if the access is such a call.
    pub(crate) called: Option<Arc<str>>,
}

impl SiteInfo {
    /// Whether it is a write in a constructor.
    pub(crate) fn is_initialisation(&self) -> bool {
        self.kind == SiteKind::Write && &*self.method == "<init>"
    }

    /// The site as text for messages.
    pub(crate) fn describe(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let target = match &self.target {
            Target::Field { class, name, .. } => format!("{}.{name}", class.replace('/', ".")),
            _ => "an array element".to_owned(),
        };
        format!("{target} at {}.{}{line}", self.class, self.method)
    }
}

/// All sites. Number 0 stands for the sites beyond the largest number.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    sites: Vec<SiteInfo>,
    /// Sites for one field that the call at another site accesses, by that site and the field with its loader.
    derived: FxHashMap<(u32, i64, Target), u32>,
    /// Sites that were found on a stack and not in a class file, by class, method and line.
    callers: FxHashMap<Frame, u32>,
    overflow: u64,
}

/// A frame of a stack: class, method and line.
type Frame = (Arc<str>, Arc<str>, Option<u32>);

/// The largest number of sites.
pub(crate) const MOST_SITES: usize = 1 << SITE_BITS;

impl Sites {
    pub(crate) fn add(&mut self, site: SiteInfo) -> u32 {
        if self.sites.len() + 1 >= MOST_SITES {
            self.overflow += 1;
            return 0;
        }
        self.sites.push(site);
        self.sites.len() as u32
    }

    /// The number of a site that was found on a stack.
    pub(crate) fn caller(&mut self, site: SiteInfo) -> u32 {
        let key = (site.class.clone(), site.method.clone(), site.line);
        if let Some(&known) = self.callers.get(&key) {
            return known;
        }
        let number = self.add(site);
        self.callers.insert(key, number);
        number
    }

    /// The site for accesses to one field by the call at another site.
    pub(crate) fn derived(&mut self, call: u32, loader: i64, target: Target) -> Option<u32> {
        let key = (call, loader, target);
        if let Some(&known) = self.derived.get(&key) {
            return Some(known);
        }
        let site = SiteInfo { loader, target: key.2.clone(), ..self.get(call)?.clone() };
        let number = self.add(site);
        self.derived.insert(key, number);
        Some(number)
    }

    /// The site with a number; `None` for 0, the number of code that has no site or came after too many others.
    pub(crate) fn get(&self, number: u32) -> Option<&SiteInfo> {
        let index = (number as usize).checked_sub(1)?;
        let site = self.sites.get(index);
        Some(site.unwrap_or_else(|| {
            panic!("site {number} was never numbered; the last one is {}", self.sites.len())
        }))
    }

    /// The only field of this descriptor that the method of `site` uses; `None` if it uses several or none.
    pub(crate) fn only_field_like(&self, site: &SiteInfo, wanted: &str) -> Option<&SiteInfo> {
        let is_like = |other: &&SiteInfo| {
            other.class == site.class
                && other.method == site.method
                && other.loader == site.loader
                && matches!(&other.target, Target::Field { descriptor, .. } if &**descriptor == wanted)
        };
        let mut found = self.sites.iter().filter(is_like);
        let first = found.next()?;
        found.all(|other| other.target == first.target).then_some(first)
    }

    pub(crate) fn len(&self) -> usize {
        self.sites.len()
    }

    /// The number of sites that did not fit.
    pub(crate) fn overflow(&self) -> u64 {
        self.overflow
    }
}

/// Converts the rewriter's description of a site's target.
pub(crate) fn target(target: &SiteTarget<'_>) -> Target {
    let field = |class: &str, name: &str, descriptor: &str| Target::Field {
        class: class.into(),
        name: name.into(),
        descriptor: descriptor.into(),
    };
    match target {
        SiteTarget::Field { class, name, descriptor, .. } => field(class, name, descriptor),
        SiteTarget::ArrayElement { source }
        | SiteTarget::Contents { source, .. }
        | SiteTarget::Indirect { source } => match source {
            ArraySource::Field { class, name, descriptor } => field(class, name, descriptor),
            ArraySource::Local { name, .. } => Target::Local(name.map(|name| name.into())),
            ArraySource::Unknown => Target::Unknown,
        },
        SiteTarget::Method { class, name } => Target::Method { class: (*class).into(), name: (*name).into() },
        SiteTarget::Called { class, name, .. } => {
            Target::Method { class: (*class).into(), name: (*name).into() }
        }
        SiteTarget::Nothing => Target::Unknown,
    }
}

/// A type as in source: `[Ljava/lang/String;` is `java.lang.String[]`.
pub(crate) fn type_name(descriptor: &str) -> String {
    let element = descriptor.trim_start_matches('[');
    let dimensions = descriptor.len() - element.len();
    let name = match element {
        "Z" => "boolean".to_owned(),
        "B" => "byte".to_owned(),
        "C" => "char".to_owned(),
        "S" => "short".to_owned(),
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "F" => "float".to_owned(),
        "D" => "double".to_owned(),
        class => class.trim_start_matches('L').trim_end_matches(';').replace('/', "."),
    };
    name + "[]".repeat(dimensions).as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "site 1 was never numbered")]
    fn a_site_that_was_never_numbered_is_reported() {
        assert!(Sites::default().get(0).is_none());
        Sites::default().get(1);
    }

    #[test]
    fn a_call_has_one_site_for_each_field_that_it_accesses() {
        let mut sites = Sites::default();
        let call = sites.add(SiteInfo {
            class: "a.A".into(),
            method: "read".into(),
            file: None,
            line: Some(7),
            loader: 1,
            target: Target::Unknown,
            is_element: false,
            called: None,
            kind: SiteKind::Read,
        });
        let field =
            |name: &str| Target::Field { class: "a/B".into(), name: name.into(), descriptor: "I".into() };
        let first = sites.derived(call, 2, field("x")).unwrap();
        let second = sites.derived(call, 2, field("y")).unwrap();
        assert_eq!(sites.derived(call, 2, field("x")), Some(first));
        assert!(first != second && sites.derived(call, 3, field("x")) != Some(first));
        let site = sites.get(first).unwrap();
        assert_eq!((&site.target, site.loader, site.line), (&field("x"), 2, Some(7)));
        assert_eq!(sites.derived(0, 2, field("x")), None);
    }

    #[test]
    fn types_read_as_in_source() {
        for (descriptor, expected) in
            [("I", "int"), ("[[J", "long[][]"), ("Ljava/util/List;", "java.util.List"), ("[LA;", "A[]")]
        {
            assert_eq!(type_name(descriptor), expected);
        }
    }
}
