//! Alias sets: which references may point to the same object, and what their fields point to.
//!
//! A node stands for a set of references that may be equal. Two nodes are unified with union-find, which unifies their
//! fields as well. A method's graph is copied into the graphs of its callers (context sensitivity), so that the lists of two
//! callers, for example, stay separate. Objects that static fields point to are global: their nodes are never copied.

use rustc_hash::FxHashMap;

/// A node, by its number.
pub(crate) type Node = u32;

/// A field, by its number; [`ELEMENT`] for the elements of an array.
pub(crate) type FieldKey = u32;

/// All elements of an array.
pub(crate) const ELEMENT: FieldKey = u32::MAX;

/// The fields of lambda objects, which hold the captured values, are numbered down from [`ELEMENT`].
const CAPTURES: FieldKey = ELEMENT - 256;

/// The field of a lambda object that holds its `number`th captured value.
pub(crate) fn capture(number: usize) -> FieldKey {
    ELEMENT - 1 - number as FieldKey
}

/// Whether a field holds a value that a lambda captured.
pub(crate) fn is_capture(key: FieldKey) -> bool {
    (CAPTURES..ELEMENT).contains(&key)
}

/// Who may reach an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Only the thread that created it.
    Local,
    /// Any thread, through analysed code.
    Shared,
    /// Any thread, through unknown code.
    Exposed,
}

/// The nodes of all methods.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    parents: Vec<Node>,
    fields: Vec<Vec<(FieldKey, Node)>>,
    levels: Vec<Level>,
    /// Whether it is reachable from a static field.
    global: Vec<bool>,
    /// Pairs of a node in a caller and the node for the same object in its callee.
    pub(crate) calls: Vec<(Node, Node)>,
}

impl Graph {
    pub(crate) fn node(&mut self) -> Node {
        let node = self.parents.len() as Node;
        self.parents.push(node);
        self.fields.push(Vec::new());
        self.levels.push(Level::Local);
        self.global.push(false);
        node
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The representative of all nodes that were unified with this one.
    pub(crate) fn find(&mut self, node: Node) -> Node {
        let mut node = node;
        loop {
            let parent = self.parents[node as usize];
            if parent == node {
                return node;
            }
            let grandparent = self.parents[parent as usize];
            self.parents[node as usize] = grandparent;
            node = grandparent;
        }
    }

    pub(crate) fn level(&mut self, node: Node) -> Level {
        let node = self.find(node);
        self.levels[node as usize]
    }

    pub(crate) fn raise(&mut self, node: Node, level: Level) {
        let node = self.find(node) as usize;
        self.levels[node] = self.levels[node].max(level);
    }

    /// Marks a node, and all nodes reachable from it, as reachable from a static field.
    pub(crate) fn make_global(&mut self, node: Node) {
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            let node = self.find(node) as usize;
            if !self.global[node] {
                self.global[node] = true;
                waiting.extend(self.fields[node].iter().map(|field| field.1));
            }
        }
    }

    /// The node that a field points to.
    pub(crate) fn field(&mut self, node: Node, key: FieldKey) -> Node {
        let node = self.find(node);
        if let Some(child) = self.existing_field(node, key) {
            return child;
        }
        let child = self.node();
        self.fields[node as usize].push((key, child));
        self.global[child as usize] = self.global[node as usize];
        child
    }

    fn existing_field(&self, node: Node, key: FieldKey) -> Option<Node> {
        self.fields[node as usize].iter().find(|field| field.0 == key).map(|field| field.1)
    }

    /// The fields of a node and the nodes that they point to.
    pub(crate) fn children(&mut self, node: Node) -> Vec<(FieldKey, Node)> {
        let node = self.find(node);
        self.fields[node as usize].clone()
    }

    /// Unifies two nodes, and recursively the nodes that their common fields point to.
    pub(crate) fn unify(&mut self, one: Node, other: Node) {
        let mut waiting = vec![(one, other)];
        while let Some((one, other)) = waiting.pop() {
            let (mut one, mut other) = (self.find(one), self.find(other));
            if one == other {
                continue;
            }
            if self.fields[one as usize].len() < self.fields[other as usize].len() {
                std::mem::swap(&mut one, &mut other);
            }
            let (kept, gone) = (one as usize, other as usize);
            self.parents[gone] = one;
            self.levels[kept] = self.levels[kept].max(self.levels[gone]);
            if self.global[kept] != self.global[gone] {
                let local = if self.global[kept] { gone } else { kept };
                let children: Vec<Node> = self.fields[local].iter().map(|field| field.1).collect();
                self.global[kept] = true;
                children.into_iter().for_each(|child| self.make_global(child));
            }
            for (key, child) in std::mem::take(&mut self.fields[gone]) {
                match self.existing_field(one, key) {
                    Some(known) => waiting.push((known, child)),
                    None => self.fields[kept].push((key, child)),
                }
            }
        }
    }

    /// Whether more than `most` nodes that would have to be copied are reachable.
    pub(crate) fn reaches_more_than(&mut self, roots: &[Node], most: usize) -> bool {
        self.reached(roots, most).len() > most
    }

    /// The reachable nodes that would be copied, each with its distance; stops soon after `most`.
    fn reached(&mut self, roots: &[Node], most: usize) -> Vec<(Node, u32)> {
        let mut order: Vec<(Node, u32)> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for &root in roots {
            let root = self.find(root);
            if !self.global[root as usize] && seen.insert(root) {
                order.push((root, 0));
            }
        }
        let mut next = 0;
        while next < order.len() && order.len() <= most {
            let (node, distance) = order[next];
            next += 1;
            for (_, child) in self.children(node) {
                let child = self.find(child);
                if !self.global[child as usize] && seen.insert(child) {
                    order.push((child, distance + 1));
                }
            }
        }
        order
    }

    /// Reduces the number of nodes reachable from the roots by unifying those that are far away.
    pub(crate) fn collapse(&mut self, roots: &[Node], most: usize) {
        for limit in [3, 2, 1, 0] {
            if !self.reaches_more_than(roots, most) {
                return;
            }
            let far: Vec<Node> = self
                .reached(roots, usize::MAX)
                .into_iter()
                .filter(|&(_, distance)| distance >= limit)
                .map(|(node, _)| node)
                .collect();
            if let Some((&first, others)) = far.split_first() {
                others.iter().for_each(|&other| self.unify(first, other));
            }
        }
    }

    /// Copies the graph of a callee's parameters and result to the actual arguments and result in its caller.
    pub(crate) fn instantiate(&mut self, formals: &[Node], actuals: &[Node]) {
        let mut copies: FxHashMap<Node, Node> = FxHashMap::default();
        let mut waiting: Vec<(Node, Node)> = formals.iter().copied().zip(actuals.iter().copied()).collect();
        waiting.reverse();
        while let Some((formal, actual)) = waiting.pop() {
            let formal = self.find(formal);
            if self.global[formal as usize] {
                self.unify(formal, actual);
                continue;
            }
            if let Some(&known) = copies.get(&formal) {
                self.unify(known, actual);
                continue;
            }
            copies.insert(formal, actual);
            for (key, child) in self.fields[formal as usize].clone() {
                let child = self.find(child);
                let field = self.field(actual, key);
                if self.global[child as usize] {
                    self.unify(field, child);
                } else {
                    waiting.push((child, field));
                }
            }
        }
        self.calls.extend(copies.iter().map(|(&formal, &actual)| (actual, formal)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unified_nodes_share_fields_and_have_the_higher_level() {
        let mut graph = Graph::default();
        let [a, b] = [graph.node(), graph.node()];
        let (x, y) = (graph.field(a, 1), graph.field(b, 1));
        let z = graph.field(b, 2);
        graph.raise(b, Level::Shared);
        graph.unify(a, b);
        assert_eq!(graph.find(x), graph.find(y));
        assert_eq!(graph.field(a, 2), z);
        assert_eq!(graph.level(a), Level::Shared);
    }

    #[test]
    fn callers_stay_separate_unless_a_static_field_connects_them() {
        let mut graph = Graph::default();
        let (list, element) = (graph.node(), graph.node());
        let slot = graph.field(list, 7);
        graph.unify(slot, element);
        let stored = graph.node();
        graph.make_global(stored);
        let kept = graph.field(list, 8);
        graph.unify(kept, stored);
        let callers: Vec<[Node; 2]> = (0..2).map(|_| [graph.node(), graph.node()]).collect();
        for actuals in &callers {
            graph.instantiate(&[list, element], actuals);
        }
        for [list, element] in &callers {
            let slot = graph.field(*list, 7);
            assert_eq!(graph.find(slot), graph.find(*element));
            let kept = graph.field(*list, 8);
            assert_eq!(graph.find(kept), graph.find(stored));
        }
        assert_ne!(graph.find(callers[0][1]), graph.find(callers[1][1]));
    }

    #[test]
    fn large_graphs_are_collapsed() {
        let mut graph = Graph::default();
        let root = graph.node();
        let mut last = root;
        for key in 0..50 {
            last = graph.field(last, key);
        }
        assert!(graph.reaches_more_than(&[root], 10));
        graph.collapse(&[root], 10);
        assert!(!graph.reaches_more_than(&[root], 10));
    }
}
