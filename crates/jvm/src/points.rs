//! Places in rewritten code as points that pointcuts select.

use std::sync::Arc;

use fissure_classfile::{ArraySource, Site, SiteKind, SiteTarget};
use fissure_model::pointcut::{FieldPoint, Kind, MethodPoint, Point, Value};

use crate::{
    sites::{SiteInfo, Target, type_name},
    world::Classes,
};

const STATIC: u16 = 0x0008;

/// What happens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    Get,
    Set,
    Call,
    Execution,
    Lock,
    Unlock,
    /// An access that shows only when it happens where it leads.
    Indirect,
}

/// A place, in words of the source.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) kind: PlaceKind,
    /// The class of the code, with dots.
    pub(crate) class: Arc<str>,
    /// The class of the member, with dots.
    pub(crate) owner: String,
    /// The member's name.
    pub(crate) name: String,
    /// The member's descriptor.
    pub(crate) descriptor: String,
    /// The type of a field or of a method's result, if it is known.
    pub(crate) of_type: Option<String>,
    pub(crate) parameters: Vec<String>,
    /// The access flags of a method that runs.
    pub(crate) access: Option<u16>,
    pub(crate) is_static: bool,
    pub(crate) is_element: bool,
}

impl Place {
    /// The place of an access or acquire in the code of a class, given with dots.
    pub(crate) fn of(site: &Site<'_>, class: &Arc<str>) -> Place {
        let kind = match (site.kind, site.target) {
            (_, SiteTarget::Indirect { .. }) => PlaceKind::Indirect,
            (SiteKind::Read, _) => PlaceKind::Get,
            (SiteKind::Write, _) => PlaceKind::Set,
            (SiteKind::Enter | SiteKind::EnterMethod, _) => PlaceKind::Lock,
            (SiteKind::Exit | SiteKind::ExitMethod, _) => PlaceKind::Unlock,
            (SiteKind::Block | SiteKind::Unit | SiteKind::Execution, _) => PlaceKind::Execution,
            (SiteKind::Call, _) => PlaceKind::Call,
        };
        let place = Place::nowhere(kind, class);
        match site.target {
            SiteTarget::Field { class, name, descriptor, is_static } => {
                Place { is_static, ..place.field(class, name, descriptor) }
            }
            SiteTarget::ArrayElement { source } => {
                let place = Place { is_element: true, ..place };
                match source {
                    ArraySource::Field { class, name, descriptor } => place.field(class, name, descriptor),
                    ArraySource::Local { name: Some(name), .. } => Place { name: name.to_owned(), ..place },
                    _ => place,
                }
            }
            SiteTarget::Called { class, name, descriptor, is_static } if kind == PlaceKind::Call => {
                Place { is_static, ..place.method(&class.replace('/', "."), name, descriptor, None) }
            }
            SiteTarget::Called { .. } => place,
            SiteTarget::Method { class, name } => {
                Place { owner: class.replace('/', "."), name: name.to_owned(), ..place }
            }
            SiteTarget::Contents { .. } | SiteTarget::Indirect { .. } | SiteTarget::Nothing => place,
        }
    }

    /// The place of an access that is reported; what it went to is known by now.
    pub(crate) fn of_access(site: &SiteInfo, is_static: bool, is_element: bool) -> Place {
        let kind = if site.kind == SiteKind::Write { PlaceKind::Set } else { PlaceKind::Get };
        let place = Place { is_static, is_element, ..Place::nowhere(kind, &site.class) };
        match &site.target {
            Target::Field { class, name, descriptor } => place.field(class, name, descriptor),
            Target::Local(Some(name)) => Place { name: name.to_string(), ..place },
            Target::Local(None) | Target::Method { .. } | Target::Unknown => place,
        }
    }

    fn nowhere(kind: PlaceKind, class: &Arc<str>) -> Place {
        Place {
            kind,
            class: class.clone(),
            owner: class.to_string(),
            name: "?".to_owned(),
            descriptor: String::new(),
            of_type: None,
            parameters: Vec::new(),
            access: None,
            is_static: false,
            is_element: false,
        }
    }

    /// The place of a method that is called or that runs, in a class given with dots.
    pub(crate) fn method(self, class: &str, name: &str, descriptor: &str, access: Option<u16>) -> Place {
        let (parameters, result) = signature(descriptor);
        Place {
            owner: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            of_type: Some(result),
            parameters,
            is_static: access.is_some_and(|access| access & STATIC != 0),
            access,
            ..self
        }
    }

    /// The types of what is handed over, as they are declared.
    pub(crate) fn handed_over(&self) -> Vec<String> {
        match (self.kind, &self.of_type) {
            (PlaceKind::Call | PlaceKind::Execution, _) => self.parameters.clone(),
            (PlaceKind::Set, Some(of_type)) if self.is_element => {
                vec![of_type.strip_suffix("[]").unwrap_or("java.lang.Object").to_owned()]
            }
            (PlaceKind::Set, Some(of_type)) => vec![of_type.clone()],
            (PlaceKind::Set, None) => vec!["java.lang.Object".to_owned()],
            _ => Vec::new(),
        }
    }

    fn field(self, class: &str, name: &str, descriptor: &str) -> Place {
        Place {
            owner: class.replace('/', "."),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            of_type: Some(type_name(descriptor)),
            ..self
        }
    }

    /// Shows the place as a point, with what is known of its values.
    pub(crate) fn with_point<R>(
        &self,
        classes: &Classes,
        target: Value<'_>,
        arguments: Option<&[Value<'_>]>,
        look: impl FnOnce(&Point<'_>) -> R,
    ) -> R {
        let declared = || classes.declaring(&self.owner, &self.name, &self.descriptor);
        let field = || {
            let declared = declared();
            FieldPoint {
                owner: &self.owner,
                declaring: declared.map(|(class, _)| class),
                name: &self.name,
                of_type: self.of_type.as_deref(),
                access: declared.map(|(_, access)| access),
                is_static: self.is_static,
                is_element: self.is_element,
            }
        };
        let method = || MethodPoint {
            owner: &self.owner,
            name: &self.name,
            parameters: &self.parameters,
            result: self.of_type.as_deref().unwrap_or("void"),
            access: self.access,
            is_static: self.is_static,
        };
        let kind = match self.kind {
            PlaceKind::Get => Kind::Get(field()),
            PlaceKind::Set => Kind::Set(field()),
            PlaceKind::Call => Kind::Call(method()),
            PlaceKind::Execution => Kind::Execution(method()),
            PlaceKind::Lock => Kind::Lock,
            PlaceKind::Unlock => Kind::Unlock,
            PlaceKind::Indirect => Kind::Any,
        };
        let target = match target {
            Value::Unknown if self.is_static => Value::None,
            Value::Unknown if matches!(kind, Kind::Get(_) | Kind::Set(_)) && !self.is_element => {
                Value::Declared(&self.owner)
            }
            Value::Unknown if matches!(kind, Kind::Call(_) | Kind::Execution(_)) => {
                Value::Declared(&self.owner)
            }
            target => target,
        };
        look(&Point { kind, class: Some(&self.class), target, arguments })
    }
}

/// The parameters and the result of a method, as in source.
fn signature(descriptor: &str) -> (Vec<String>, String) {
    let Some((inside, result)) = descriptor.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return (Vec::new(), "void".to_owned());
    };
    let mut parameters = Vec::new();
    let mut rest = inside;
    while !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let length =
            if element.starts_with('L') { element.find(';').map_or(element.len(), |end| end + 1) } else { 1 };
        let end = (dimensions + length).min(rest.len());
        parameters.push(type_name(&rest[..end]));
        rest = &rest[end..];
    }
    (parameters, if result == "V" { "void".to_owned() } else { type_name(result) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_read_as_in_source() {
        let check = |descriptor: &str, parameters: &[&str], result: &str| {
            assert_eq!(
                signature(descriptor),
                (parameters.iter().map(|&name| name.to_owned()).collect(), result.to_owned())
            );
        };
        check("()V", &[], "void");
        check(
            "(I[JLjava/lang/String;[[La/B;Z)[I",
            &["int", "long[]", "java.lang.String", "a.B[][]", "boolean"],
            "int[]",
        );
        check("nonsense", &[], "void");
    }
}
