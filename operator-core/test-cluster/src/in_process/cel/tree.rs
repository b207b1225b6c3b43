//! A checked expression.

use super::types::Type;

/// An expression with its type.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) id: u64,
    pub(super) of: Type,
    pub(super) node: Node,
}

/// A part of an expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Literal(Literal),
    Ident(String),
    /// `a.b`, or `has(a.b)` if it is a test.
    Select {
        operand: Box<Expr>,
        field: String,
        test: bool,
    },
    /// `a.?b`
    OptionalSelect {
        operand: Box<Expr>,
        field: String,
    },
    Call {
        function: String,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    /// Items, each with whether it is optional.
    List(Vec<(Expr, bool)>),
    /// Keys and values, each with whether it is optional.
    Map(Vec<(Expr, Expr, bool)>),
    Fold(Box<Fold>),
}

/// A value in the text.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// A loop over a list or a map.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) range: Expr,
    pub(super) variable: String,
    pub(super) second: Option<String>,
    pub(super) accumulator: String,
    pub(super) init: Expr,
    pub(super) cond: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

impl Fold {
    /// Whether the loop is none, but binds a name.
    pub(super) fn is_bind(&self) -> bool {
        matches!(&self.range.node, Node::List(items) if items.is_empty())
            && matches!(self.cond.node, Node::Literal(Literal::Bool(false)))
            && self.accumulator != super::parse::ACCUMULATOR
    }
}

impl Expr {
    /// The parts of an expression.
    pub(super) fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        match &mut self.node {
            Node::Literal(_) | Node::Ident(_) => {}
            Node::Select { operand, .. } | Node::OptionalSelect { operand, .. } => visit(operand),
            Node::Call { target, args, .. } => {
                target.iter_mut().for_each(|target| visit(target));
                args.iter_mut().for_each(visit);
            }
            Node::List(items) => items.iter_mut().for_each(|(item, _)| visit(item)),
            Node::Map(entries) => entries.iter_mut().for_each(|(key, value, _)| {
                visit(key);
                visit(value);
            }),
            Node::Fold(fold) => {
                let Fold { range, init, cond, step, result, .. } = &mut **fold;
                [range, init, cond, step, result].into_iter().for_each(visit);
            }
        }
    }
}
