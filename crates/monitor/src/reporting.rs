//! Turns the reports of a script into findings, one for each subject and message.

use fissure_model::finding::{Finding, Kind, Status, fingerprint};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::values::{Facts, Place, ScriptReport};

/// Findings beyond this number are not kept: a message with a number in it would make one each time.
const MOST_FINDINGS: usize = 1000;
/// Objects beyond this number are not counted for one finding.
const MOST_OBJECTS: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: FxHashMap<String, (Finding, FxHashSet<i64>)>,
    /// The findings whose counts changed since they were last passed on.
    changed: FxHashSet<String>,
    pub(crate) dropped: u64,
}

impl Findings {
    /// Records a report; gives the finding if it is new, or if it was ordered and is not any more.
    pub(crate) fn add(
        &mut self,
        monitor: &str,
        report: ScriptReport,
        now: Option<&Facts>,
    ) -> Option<Finding> {
        let site = now.map(|facts| &*facts.event.site);
        let object = now.and_then(|facts| facts.event.object.as_ref());
        let subject = report.subject.unwrap_or_else(|| match site {
            Some(site) if !site.member.is_empty() => site.member.clone(),
            Some(site) => format!("{}.{}", site.class, site.method),
            None => monitor.to_owned(),
        });
        let id = fingerprint(&["custom", monitor, &subject, &report.message]);
        let number = object.map_or(0, |object| object.number);
        if let Some((known, objects)) = self.found.get_mut(&id)
            && (!known.ordered || report.ordered)
        {
            if known.ordered == report.ordered {
                if known.owner.is_none() || known.owner.as_deref() == Some("static") {
                    known.hits += 1;
                } else if objects.len() < MOST_OBJECTS {
                    objects.insert(number);
                    known.hits = objects.len() as u64;
                }
                self.changed.insert(id);
            }
            return None;
        }
        if self.found.len() >= MOST_FINDINGS && !self.found.contains_key(&id) {
            self.dropped += 1;
            return None;
        }
        let mut sites: Vec<_> = report.places.iter().map(|Place(facts)| facts.site()).collect();
        sites.extend(now.map(|facts| facts.place.0.site()));
        let is_field = site.is_some_and(|site| matches!(site.kind, "get" | "set") && site.member == subject);
        let finding = Finding {
            id: id.clone(),
            field_type: site.filter(|_| is_field).and_then(|site| site.field_type.clone()),
            owner: match object {
                Some(object) => Some(object.name.to_string()),
                None if is_field && site.is_some_and(|site| site.is_static) => Some("static".to_owned()),
                None => None,
            },
            reason: Some(report.message),
            ordered: report.ordered,
            sites,
            ..Finding::new(Kind::Custom, Status::Warning, monitor, &subject)
        };
        self.found.insert(id, (finding.clone(), FxHashSet::from_iter([number])));
        Some(finding)
    }

    /// The findings whose counts changed since they were last passed on.
    pub(crate) fn changed(&mut self) -> Vec<Finding> {
        let mut changed: Vec<Finding> = self
            .changed
            .drain()
            .filter_map(|id| self.found.get(&id).map(|(finding, _)| finding.clone()))
            .collect();
        changed.sort_by(|a, b| a.id.cmp(&b.id));
        changed
    }
}
