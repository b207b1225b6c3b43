//! What of an expression is computed once, before it is evaluated. Pure.
//!
//! As on the real server: lists and maps of constants, conversions of constants, and whether something is in a list of
//! constants cost nothing when a rule is evaluated. The estimate is made before that.

use super::{
    eval::{Meter, Scope, eval},
    tree::{Expr, Literal, Node},
    value::{Error, Val},
};

/// Looks for an item in a list of constants.
pub(super) const IN_CONSTANTS: &str = "@in_constants";

const CONVERSIONS: [&str; 9] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "uint"];

/// The expression with its constants.
pub(super) fn folded(mut tree: Expr) -> Expr {
    fold(&mut tree);
    tree
}

fn fold(expr: &mut Expr) {
    expr.children_mut(&mut fold);
    let constant = match &mut expr.node {
        Node::List(items) => items.iter().all(|(item, optional)| !optional && is_constant(item)),
        Node::Map(entries) => {
            entries.iter().all(|(key, value, optional)| !optional && is_constant(key) && is_constant(value))
        }
        Node::Call { function, target, args, .. } => match (target.as_deref(), &args[..]) {
            (None, [arg]) => CONVERSIONS.contains(&function.as_str()) && is_constant(arg),
            (None, [_, list]) if function == "@in" && is_plain_list(list) => {
                IN_CONSTANTS.clone_into(function);
                // Nothing is in an empty one.
                if matches!(&list.node, Node::Const(of) if matches!(&of.node, Node::List(items) if items.is_empty()))
                {
                    expr.node = Node::Literal(Literal::Bool(false));
                }
                false
            }
            _ => false,
        },
        _ => false,
    };
    if constant {
        let nothing = Scope::new("", Err(Error::overload()), None);
        // What can't be computed fails each time.
        if eval(expr, &nothing, &Meter::default()).is_ok() {
            let inner = expr.clone();
            expr.node = Node::Const(Box::new(inner));
        }
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.node, Node::Literal(_) | Node::Const(_))
}

/// Whether an expression is a list of values in the text, each of them simple.
fn is_plain_list(expr: &Expr) -> bool {
    let Node::Const(of) = &expr.node else { return false };
    let Node::List(items) = &of.node else { return false };
    let simple = |item: &Expr| matches!(&item.node, Node::Literal(literal) if !matches!(literal, Literal::Null | Literal::Bytes(_)));
    items.iter().all(|(item, _)| simple(item))
}

/// Whether an expression is looked up as a whole: a variable, or a part of something.
pub(super) fn is_attribute(expr: &Expr) -> bool {
    match &expr.node {
        Node::Ident(_) | Node::OptionalSelect { .. } => true,
        Node::Select { test, .. } => !test,
        Node::Call { function, .. } => matches!(function.as_str(), "_[_]" | "_[?_]" | "_?_:_"),
        _ => false,
    }
}

/// What is saved of an attribute that is the branch of a choice: the look-up itself.
pub(super) fn saved_in_branch(expr: &Expr) -> i64 {
    match &expr.node {
        Node::Select { test: true, .. } => 0,
        Node::Select { operand, .. } | Node::OptionalSelect { operand, .. } if is_attribute(operand) => {
            saved_in_branch(operand)
        }
        Node::Call { function, .. } if function == "_?_:_" => 0,
        Node::Call { function, args, .. } if matches!(function.as_str(), "_[_]" | "_[?_]") => {
            args.first().filter(|of| is_attribute(of)).map_or(1, saved_in_branch)
        }
        _ => i64::from(is_attribute(expr)),
    }
}

/// A value in place of one that there isn't, for costs.
pub(super) fn unknown<'v>() -> Val<'v> {
    Val::Null
}
