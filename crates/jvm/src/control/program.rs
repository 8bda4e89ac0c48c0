//! The running program, as a controlled run asks about it.

use fissure_classfile::SiteKind;
use fissure_control::{Accessed, Declared, DeclaredField, Field, FrontEnd, RawFrame, Site, Variable};
use fissure_model::{
    finding::{Finding, Frame},
    ids::{SiteId, ThreadId},
    record::Record,
};

use super::ControlledThread;
use crate::{
    agent::Agent,
    mutex::locked,
    registry::{ClassInfo, Member, Resolved},
    sites::{SiteInfo, Target},
    stacks,
};

/// The number of frames of a thread that does not run.
const DEPTH: usize = 24;

/// Methods that are the whole body of a thread or task.
const THREAD_BODIES: [&str; 3] = ["main", "run", "call"];
/// Prefixes of methods that compilers add.
const SYNTHETIC: [&str; 2] = ["lambda$", "access$"];

/// The program, with its threads that are under control.
pub(super) struct Program<'a> {
    pub(super) agent: &'a Agent,
    pub(super) threads: &'a [ControlledThread],
}

impl Program<'_> {
    fn at<T>(&self, site: SiteId, answer: impl FnOnce(&SiteInfo) -> T) -> Option<T> {
        locked(&self.agent.code).sites.get(site.0).map(answer)
    }
}

impl FrontEnd for Program<'_> {
    fn site(&self, site: SiteId) -> Option<Site> {
        self.at(site, |site| Site {
            frame: Frame {
                class: site.class.to_string(),
                method: site.method.to_string(),
                file: site.file.as_deref().map(str::to_owned),
                line: site.line,
            },
            is_block: site.kind == SiteKind::Enter,
            called: match &site.target {
                Target::Method { name, .. } => Some(name.to_string()),
                _ => site.called.as_deref().map(str::to_owned),
            },
            variable: match &site.target {
                Target::Field { class, name, .. } => {
                    Some(Variable { class: Some(class.replace('/', ".")), name: name.to_string() })
                }
                Target::Local(Some(name)) => Some(Variable { class: None, name: name.to_string() }),
                _ => None,
            },
        })
    }

    fn is_write(&self, site: SiteId) -> bool {
        self.at(site, |site| site.kind == SiteKind::Write).unwrap_or_default()
    }

    fn accessed(&self, site: SiteId) -> Accessed {
        let code = locked(&self.agent.code);
        let Some(info) = code.sites.get(site.0) else { return Accessed::Ignored };
        let Target::Field { class, name, descriptor } = &info.target else { return Accessed::Element };
        if info.is_element {
            return Accessed::Element;
        }
        let in_scope = |class: &str| self.agent.scope.covers(&class.replace('/', "."));
        match code.registry.resolve(info.loader, class, name, descriptor, in_scope) {
            Resolved::Known(number, Member::Point) => {
                Accessed::Field(declared(code.registry.class(number), name, descriptor))
            }
            Resolved::Known(..) | Resolved::Unwatched => Accessed::Ignored,
            Resolved::NotLoaded => {
                let class = class.replace('/', ".");
                let field = Field { class, name: name.to_string(), is_volatile: false };
                Accessed::NotLoaded(DeclaredField { namespace: info.loader, field })
            }
        }
    }

    fn declared_field(&self, site: SiteId) -> Declared {
        let code = locked(&self.agent.code);
        let Some(info) = code.sites.get(site.0) else { return Declared::NoField };
        let Target::Field { class, name, descriptor } = &info.target else { return Declared::NoField };
        match code.registry.declaring(info.loader, class, name, descriptor) {
            Some(number) => Declared::Field(declared(code.registry.class(number), name, descriptor)),
            None => Declared::NotLoaded,
        }
    }

    fn is_related(&self, site: SiteId, class: &str) -> bool {
        let code = locked(&self.agent.code);
        let Some(info) = code.sites.get(site.0) else { return false };
        let (own, other) = (info.class.replace('.', "/"), class.replace('.', "/"));
        code.registry.inherits(info.loader, &own, &other) || code.registry.inherits(info.loader, &other, &own)
    }

    fn may_be_unit(&self, method: &str) -> bool {
        !THREAD_BODIES.contains(&method) && !SYNTHETIC.iter().any(|prefix| method.starts_with(prefix))
    }

    fn is_in_scope(&self, class: &str) -> bool {
        self.agent.scope.covers(class)
    }

    fn is_on_demand(&self, class: &str) -> bool {
        self.agent.scope.is_on_demand(class)
    }

    fn is_platform(&self, class: &str) -> bool {
        self.agent.scope.is_jdk(class)
    }

    fn implements_locks(&self, class: &str) -> bool {
        fissure_jdk::is_concurrency_class(class)
    }

    fn stack(&self) -> Vec<RawFrame> {
        stacks::raw(self.agent.tool)
    }

    fn named(&self, stack: &[RawFrame]) -> Vec<Frame> {
        stacks::named(self.agent.tool, stack)
    }

    fn stack_of(&self, thread: ThreadId) -> Option<Vec<Frame>> {
        let thread = self.threads.get(thread.0 as usize)?.reference?;
        Some(self.named(&self.agent.tool.stack_of(thread as *mut _, DEPTH)))
    }

    fn found(&self, finding: &Finding) {
        self.agent.output.write(&Record::Finding(Box::new(finding.clone())));
    }
}

fn declared(owner: &ClassInfo, name: &str, descriptor: &str) -> DeclaredField {
    let is_volatile = owner.has_volatile(name, descriptor);
    let field = Field { class: owner.name.replace('/', "."), name: name.to_owned(), is_volatile };
    DeclaredField { namespace: owner.loader(), field }
}
