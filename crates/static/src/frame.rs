//! The abstract frame before an instruction: the nodes in local variables and on the operand stack.

use fissure_classfile::flow::shape;

/// The number of a node in the graph that the pass builds.
type Node = u32;

/// The frame before an instruction. Only references have nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) locals: Vec<Option<Node>>,
    pub(crate) stack: Vec<Option<Node>>,
}

impl State {
    pub(crate) fn pop(&mut self) -> Option<Node> {
        self.stack.pop().flatten()
    }

    pub(crate) fn pops(&mut self, count: usize) {
        let left = self.stack.len().saturating_sub(count);
        self.stack.truncate(left);
    }

    pub(crate) fn pushes(&mut self, count: usize) {
        self.stack.extend(std::iter::repeat_n(None, count));
    }

    /// Pops a call's arguments, including the receiver.
    pub(crate) fn arguments(&mut self, descriptor: &str, has_receiver: bool) -> Vec<Argument> {
        let (parameters, _) = shape(descriptor);
        let mut arguments = Vec::new();
        for kind in parameters.iter().rev() {
            arguments.push(match kind {
                b'L' => Argument::Reference(self.pop()),
                b'2' => {
                    self.pops(2);
                    Argument::Number
                }
                _ => {
                    self.pops(1);
                    Argument::Number
                }
            });
        }
        if has_receiver {
            arguments.push(Argument::Reference(self.pop()));
        }
        arguments.reverse();
        arguments
    }

    /// Pushes a call's result; a reference gets a node.
    pub(crate) fn result(&mut self, descriptor: &str, make: impl FnOnce() -> Node) -> Option<Node> {
        let (slots, node) = match shape(descriptor).1 {
            Some(b'L') => (0, Some(make())),
            Some(b'2') => (2, None),
            Some(_) => (1, None),
            None => (0, None),
        };
        self.pushes(slots);
        self.stack.extend(node.map(Some));
        node
    }
}

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// A reference, with its node if it has one: `null` has none.
    Reference(Option<Node>),
    Number,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_pop_their_arguments_and_push_a_result() {
        let mut state = State { locals: Vec::new(), stack: vec![Some(7), Some(8), None, None, None] };
        let arguments = state.arguments("(Ljava/lang/Object;JI)J", true);
        let expected =
            [Argument::Reference(Some(7)), Argument::Reference(Some(8)), Argument::Number, Argument::Number];
        assert_eq!(arguments, expected);
        assert_eq!((state.result("()J", || 9), state.stack.len()), (None, 2));
        assert_eq!((state.result("()Ljava/lang/Object;", || 9), state.stack.len()), (Some(9), 3));
        assert_eq!((state.result("()V", || 9), state.stack.len()), (None, 3));
    }
}
