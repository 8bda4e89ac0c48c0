//! Points-to sets of variables and fields. Objects are abstracted by allocation site and by the receiver objects of the
//! allocating code.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::{ALL, ANY, CAPTURED, ClassId, FieldKey};

/// A node of the constraint graph: a variable, a field of an object, or another holder of references.
pub(crate) type NodeId = u32;
/// The number of an object.
pub(crate) type ObjectId = u32;
/// The number of a context.
pub(crate) type ContextId = u32;

/// How many sites a context consists of.
const DEPTH: usize = 3;

/// An allocation or call site: class, method and pc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) class: ClassId,
    pub(crate) method: u32,
    pub(crate) pc: u16,
}

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Created by analysed code.
    Made(ClassId),
    /// Created by a lambda expression: the class, and the number of the dynamic call in it.
    Lambda(ClassId, u16),
    /// A string, a boxed number or a class: immutable, and of a class that is not analysed.
    Value,
    /// An argument of the harness with this number; whether it is an array.
    Argument(u32, bool),
    /// Created by unknown code.
    Unknown,
}

impl Kind {
    /// Whether it is certainly not an array.
    pub(crate) fn is_no_array(self) -> bool {
        matches!(self, Kind::Argument(_, false) | Kind::Lambda(..) | Kind::Value)
    }
}

/// An abstract object: all objects that are created at one site in one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) site: Option<Site>,
    pub(crate) context: ContextId,
}

/// An operation on every object of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Use {
    /// A field of it is read into a node.
    Load(FieldKey, NodeId),
    /// A node is stored into a field of it.
    Store(FieldKey, NodeId),
    /// It is the receiver of this call.
    Call(u32),
    /// It is cloned, at a site and in a context, into a node.
    Clone(Site, ContextId, NodeId),
    /// The harness with this number inspects it.
    Inspect(u32),
    /// Unknown code gets it.
    Expose,
}

/// A node with its points-to set.
#[derive(Debug, Default)]
pub(crate) struct Node {
    objects: FxHashSet<ObjectId>,
    /// Objects that were not propagated yet.
    new: Vec<ObjectId>,
    pub(crate) edges: Vec<(NodeId, Option<ClassId>)>,
    pub(crate) uses: Vec<Use>,
}

/// All nodes and objects.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    nodes: Vec<Node>,
    objects: Vec<Object>,
    object_numbers: FxHashMap<Object, ObjectId>,
    fields: FxHashMap<(ObjectId, FieldKey), NodeId>,
    by_object: FxHashMap<ObjectId, Vec<NodeId>>,
    contexts: Vec<Rc<[Site]>>,
    context_numbers: FxHashMap<Rc<[Site]>, ContextId>,
    waiting: Vec<NodeId>,
    edges: FxHashSet<(NodeId, NodeId)>,
}

impl Heap {
    pub(crate) fn node(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        self.nodes.len() as NodeId - 1
    }

    pub(crate) fn object(&mut self, object: Object) -> ObjectId {
        let next = self.objects.len() as ObjectId;
        let number = *self.object_numbers.entry(object).or_insert(next);
        if number == next {
            self.objects.push(object);
        }
        number
    }

    /// The object of a kind that has no allocation site.
    pub(crate) fn special(&mut self, kind: Kind) -> ObjectId {
        self.object(Object { kind, site: None, context: 0 })
    }

    pub(crate) fn get(&self, object: ObjectId) -> Object {
        self.objects[object as usize]
    }

    pub(crate) fn objects_of(&self, node: NodeId) -> Vec<ObjectId> {
        self.nodes[node as usize].objects.iter().copied().collect()
    }

    /// The objects of a node that were already propagated.
    pub(crate) fn settled(&self, node: NodeId) -> Vec<ObjectId> {
        let node = &self.nodes[node as usize];
        node.objects.iter().copied().filter(|object| !node.new.contains(object)).collect()
    }

    pub(crate) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// The context with these sites, the innermost first.
    pub(crate) fn context(&mut self, sites: &[Site]) -> ContextId {
        let sites: Rc<[Site]> = sites.iter().copied().take(DEPTH).collect();
        let next = self.contexts.len() as ContextId;
        let number = *self.context_numbers.entry(sites.clone()).or_insert(next);
        if number == next {
            self.contexts.push(sites);
        }
        number
    }

    /// The context of methods whose receiver is this object.
    pub(crate) fn context_of(&mut self, object: ObjectId) -> ContextId {
        let object = self.get(object);
        let outer = self.contexts.get(object.context as usize).cloned().unwrap_or_default();
        let sites: Vec<Site> = object.site.into_iter().chain(outer.iter().copied()).collect();
        self.context(&sites)
    }

    /// The context of a static method that is called at a site: the receiver of its caller stays the innermost.
    pub(crate) fn context_at(&mut self, context: ContextId, site: Site) -> ContextId {
        let mut sites = self.contexts.get(context as usize).map_or_else(Vec::new, |sites| sites.to_vec());
        sites.insert(sites.len().min(1), site);
        self.context(&sites)
    }

    /// Adds an object to a node.
    pub(crate) fn add(&mut self, node: NodeId, object: ObjectId) {
        let entry = &mut self.nodes[node as usize];
        if entry.objects.insert(object) {
            if entry.new.is_empty() {
                self.waiting.push(node);
            }
            entry.new.push(object);
        }
    }

    /// Adds an edge between nodes. If it is new, the caller must propagate the objects that `from` already has.
    pub(crate) fn connect(&mut self, from: NodeId, to: NodeId, filter: Option<ClassId>) -> bool {
        let is_new = from != to && self.edges.insert((from, to));
        if is_new {
            self.nodes[from as usize].edges.push((to, filter));
        }
        is_new
    }

    pub(crate) fn put_use(&mut self, node: NodeId, what: Use) {
        self.nodes[node as usize].uses.push(what);
    }

    /// The next node with objects that were not propagated yet, and these objects.
    pub(crate) fn next(&mut self) -> Option<(NodeId, Vec<ObjectId>)> {
        let node = self.waiting.pop()?;
        Some((node, std::mem::take(&mut self.nodes[node as usize].new)))
    }

    pub(crate) fn edges(&self, node: NodeId) -> &[(NodeId, Option<ClassId>)] {
        &self.nodes[node as usize].edges
    }

    pub(crate) fn uses(&self, node: NodeId) -> &[Use] {
        &self.nodes[node as usize].uses
    }

    /// The node of an object's field, and whether it is new. An object that analysed code did not create has one node for all fields.
    pub(crate) fn field(&mut self, object: ObjectId, field: FieldKey) -> (NodeId, bool) {
        let is_made = matches!(self.get(object).kind, Kind::Made(_) | Kind::Lambda(..));
        let field = if is_made { field } else { ANY };
        if let Some(&known) = self.fields.get(&(object, field)) {
            return (known, false);
        }
        let node = self.node();
        self.fields.insert((object, field), node);
        self.by_object.entry(object).or_default().push(node);
        if !is_made {
            // Its fields point to objects of the same kind, represented by itself.
            self.add(node, object);
            return (node, false);
        }
        (node, field != ANY && field != ALL)
    }

    /// The pseudo-field of a lambda's captured value with this number.
    pub(crate) fn captured(number: usize) -> FieldKey {
        CAPTURED + number.min(255) as FieldKey
    }

    /// All objects that are reachable from these, including themselves.
    pub(crate) fn reachable(&self, from: impl Iterator<Item = ObjectId>) -> FxHashSet<ObjectId> {
        let mut waiting: Vec<ObjectId> = from.collect();
        let mut found = FxHashSet::default();
        while let Some(object) = waiting.pop() {
            if found.insert(object) {
                let nodes = self.by_object.get(&object).into_iter().flatten();
                waiting.extend(nodes.flat_map(|&node| self.nodes[node as usize].objects.iter().copied()));
            }
        }
        found
    }
}
