//! Rules in CEL, as definitions have them (`x-kubernetes-validations`), with Kubernetes' libraries. Pure.
//!
//! ```text
//!  text ─▶ parse ─▶ check: types, in Go's words
//!                        │
//!  object ──────────────▶ eval: value, words of Go's errors
//! ```
//!
//! # Guarantees
//! - An expression is parsed and checked once, when its definition is made.
//! - The same object gives the same answer: maps have an order, and nothing asks a clock.
//!
//! # Assumptions
//! - Costs aren't counted: a rule that is too costly for the real server is accepted here. Only an evaluation that goes on
//!   and on is ended.

mod check;
mod declare;
mod equal;
mod eval;
mod functions;
mod overloads;
mod parse;
mod tree;
mod types;
mod unify;
mod value;

#[cfg(test)]
mod tests;

use serde_json::Value;

use self::{
    check::{Checker, Variables},
    eval::{Scope, Steps, eval},
    tree::{Expr, Literal, Node},
    value::{Error, Val},
};
pub(super) use self::{declare::declare, types::Type};
use crate::in_process::go::{duration, pattern};

/// An expression that fits its schema.
#[derive(Debug)]
pub(super) struct Expression {
    tree: Expr,
    /// Whether it asks for what was before.
    pub(super) uses_old: bool,
}

/// What an expression has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Bool(bool),
    Text(String),
    Other,
}

/// Why it has come to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// The words of Go's interpreter.
    Said(String),
    /// It takes more steps than one expression may.
    TooLong,
}

/// The value before an update, as expressions see it.
#[derive(Clone, Copy, Debug)]
pub(super) enum OldSelf<'v> {
    Value(Option<&'v Value>),
    /// `optionalOldSelf`
    Optional(Option<&'v Value>),
}

impl Expression {
    /// Checks an expression against the type of `self`; the error is Go's.
    pub(super) fn compile(source: &str, of: &Type, optional_old: bool) -> Result<Self, String> {
        let (parsed, info) = parse::parse(source)?;
        let old = if optional_old { Type::optional(of.clone()) } else { of.clone() };
        let variables = Variables(vec![("self", of.clone()), ("oldSelf", old)]);
        let mut checker = Checker::new(source, &info, &variables);
        let tree = checker.root(parsed);
        if checker.errors.is_empty() {
            checker.literals(&tree);
        }
        if !checker.errors.is_empty() {
            return Err(checker.text());
        }
        Ok(Self { tree, uses_old: checker.used.iter().any(|name| name == "oldSelf") })
    }

    /// Whether it is true or false.
    pub(super) fn is_bool(&self) -> bool {
        matches!(self.tree.of, Type::Bool)
    }

    /// Whether it is a text.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.tree.of, Type::String)
    }

    /// Evaluates it.
    pub(super) fn run(
        &self,
        schema: &Value,
        is_root: bool,
        of: &Value,
        old: OldSelf<'_>,
    ) -> Result<Outcome, Failed> {
        let open = |value| value::open(value, schema, is_root);
        let old = match old {
            OldSelf::Value(Some(old)) => open(old),
            OldSelf::Value(None) => Err(Error::new("no such attribute(s): oldSelf")),
            OldSelf::Optional(old) => old.map(open).transpose().map(|old| Val::Optional(old.map(Into::into))),
        };
        let steps = Steps::default();
        let scope = Scope::new("oldSelf", old, None);
        let scope = Scope::new("self", open(of), Some(&scope));
        match eval(&self.tree, &scope, &steps) {
            Ok(Val::Bool(value)) => Ok(Outcome::Bool(value)),
            Ok(Val::String(text)) => Ok(Outcome::Text(text.into_owned())),
            Ok(_) => Ok(Outcome::Other),
            Err(Error::Said(why)) => Err(Failed::Said(why)),
            Err(Error::TooLong) => Err(Failed::TooLong),
        }
    }
}

impl Checker<'_> {
    /// Patterns, times and durations in the text are checked, too.
    fn literals(&mut self, tree: &Expr) {
        let mut found = Vec::new();
        visit(tree, &mut |function, args| {
            let literal = match (function, args) {
                ("matches", [pattern] | [_, pattern]) => pattern,
                ("duration" | "timestamp", [text]) => text,
                _ => return,
            };
            if let Node::Literal(Literal::String(text)) = &literal.node {
                let wrong = match function {
                    "matches" => pattern::compile(text).is_err(),
                    "duration" => duration::parse(text).is_none(),
                    _ => text.parse::<jiff::Timestamp>().is_err(),
                };
                if wrong {
                    found.push((literal.id, format!("invalid {function} argument")));
                }
            }
        });
        for (id, message) in found {
            self.report(id, message);
        }
    }
}

fn visit(tree: &Expr, call: &mut dyn FnMut(&str, &[Expr])) {
    if let Node::Call { function, args, .. } = &tree.node {
        call(function, args);
    }
    // The tree is small, and a visitor of borrowed parts would be a second one.
    tree.clone().children_mut(&mut |child| visit(child, call));
}
