//! Evaluates a checked expression.
//!
//! # Guarantees
//! - An expression that takes too many steps is ended.
//! - Maps are gone through in the order of their keys.

use std::{cell::Cell, sync::Arc};

use super::{
    declare::unescape,
    equal::{contains, equal, join},
    functions,
    tree::{Expr, Fold, Literal, Node},
    types::Type,
    value::{Error, Key, Object, Result, Val},
};

/// The most parts that may be evaluated for one expression; those in a loop count each time.
const MOST_STEPS: u64 = 3_000_000;

/// The variables of an expression, the innermost first.
pub(super) struct Scope<'s, 'v> {
    name: &'s str,
    value: Result<Val<'v>>,
    outer: Option<&'s Scope<'s, 'v>>,
}

impl<'s, 'v> Scope<'s, 'v> {
    pub(super) fn new(name: &'s str, value: Result<Val<'v>>, outer: Option<&'s Self>) -> Self {
        Self { name, value, outer }
    }

    fn find(&self, name: &str) -> Option<&Result<Val<'v>>> {
        let mut at = Some(self);
        while let Some(scope) = at {
            if scope.name == name {
                return Some(&scope.value);
            }
            at = scope.outer;
        }
        None
    }
}

/// How many steps have been taken.
#[derive(Debug, Default)]
pub(super) struct Steps(Cell<u64>);

impl Steps {
    fn take(&self) -> Result<()> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > MOST_STEPS { Err(Error::TooLong) } else { Ok(()) }
    }
}

pub(super) fn eval<'v>(expr: &Expr, scope: &Scope<'_, 'v>, steps: &Steps) -> Result<Val<'v>> {
    steps.take()?;
    match &expr.node {
        Node::Literal(literal) => Ok(literal_value(literal)),
        Node::Ident(name) => match (scope.find(name), &expr.of) {
            // The name of a type is a constant.
            (None, Type::Meta(Some(of))) => Ok(Val::Type(Arc::new((**of).clone()))),
            (Some(value), _) => value.clone(),
            (None, _) => Err(Error::new(format!("no such attribute(s): {name}"))),
        },
        Node::Select { operand, field, test } => {
            let of = eval(operand, scope, steps)?;
            if *test {
                return has(&of, field).map(Val::Bool);
            }
            if matches!(of, Val::Optional(None)) {
                return Ok(of);
            }
            match of {
                Val::Optional(Some(value)) => Ok(optional(find(&value, field)).transpose_optional()?),
                operand => select(&operand, field),
            }
        }
        Node::OptionalSelect { operand, field } => {
            let of = eval(operand, scope, steps)?;
            let found = match &of {
                Val::Optional(None) => None,
                Val::Optional(Some(value)) => optional(find(value, field)),
                of => optional(find(of, field)),
            };
            found.transpose_optional()
        }
        Node::Call { function, target, args } => call(function, target.as_deref(), args, scope, steps),
        Node::List(items) => {
            let mut list = Vec::with_capacity(items.len());
            for (item, is_optional) in items {
                match (eval(item, scope, steps)?, is_optional) {
                    (Val::Optional(None), true) => {}
                    (Val::Optional(Some(value)), true) => list.push((*value).clone()),
                    (value, _) => list.push(value),
                }
            }
            Ok(Val::list(list))
        }
        Node::Map(entries) => {
            let mut map = std::collections::BTreeMap::new();
            for (key, value, is_optional) in entries {
                let key = eval(key, scope, steps)?;
                let value = match (eval(value, scope, steps)?, is_optional) {
                    (Val::Optional(None), true) => continue,
                    (Val::Optional(Some(value)), true) => (*value).clone(),
                    (value, _) => value,
                };
                let at = key.key().ok_or_else(|| Error::new("unsupported key type"))?;
                map.insert(at, (key, value));
            }
            Ok(Val::Map(Arc::new(map)))
        }
        Node::Fold(fold) if fold.is_bind() => {
            let value = eval(&fold.init, scope, steps);
            if value == Err(Error::TooLong) {
                return value;
            }
            eval(&fold.result, &Scope::new(&fold.accumulator, value, Some(scope)), steps)
        }
        Node::Fold(fold) => self::fold(fold, scope, steps),
    }
}

impl PartialEq for Val<'_> {
    fn eq(&self, other: &Self) -> bool {
        equal(self, other).unwrap_or(false)
    }
}

fn literal_value<'v>(literal: &Literal) -> Val<'v> {
    match literal {
        Literal::Null => Val::Null,
        Literal::Bool(value) => Val::Bool(*value),
        Literal::Int(value) => Val::Int(*value),
        Literal::Uint(value) => Val::Uint(*value),
        Literal::Double(value) => Val::Double(*value),
        Literal::String(text) => Val::text(text.as_str()),
        Literal::Bytes(bytes) => Val::Bytes(Arc::new(bytes.clone())),
    }
}

trait Transpose<'v> {
    fn transpose_optional(self) -> Result<Val<'v>>;
}

impl<'v> Transpose<'v> for Option<Result<Val<'v>>> {
    fn transpose_optional(self) -> Result<Val<'v>> {
        Ok(Val::Optional(self.transpose()?.map(Arc::new)))
    }
}

/// What is found, unless it can't be looked at.
fn optional<'v>(found: Result<Option<Val<'v>>>) -> Option<Result<Val<'v>>> {
    found.transpose()
}

fn field<'v>(object: &Object<'v>, name: &str) -> Option<Result<Val<'v>>> {
    if object.is_map() { object.get(name) } else { object.get(&unescape(name)) }
}

/// A field, or an entry of a map, if it is there.
fn find<'v>(value: &Val<'v>, name: &str) -> Result<Option<Val<'v>>> {
    match value {
        Val::Object(object) => field(object, name).transpose(),
        Val::Map(map) => Ok(map.get(&Key::String(name.to_owned())).map(|(_, value)| value.clone())),
        _ => Err(Error::overload()),
    }
}

fn select<'v>(value: &Val<'v>, name: &str) -> Result<Val<'v>> {
    find(value, name)?.ok_or_else(|| Error::new(format!("no such key: {name}")))
}

fn has(value: &Val<'_>, name: &str) -> Result<bool> {
    match value {
        Val::Optional(None) => Ok(false),
        Val::Optional(Some(value)) => has(value, name),
        Val::Object(object) if object.is_map() => Ok(object.fields.contains_key(name)),
        Val::Object(object) => Ok(object.fields.contains_key(&unescape(name))),
        value => find(value, name).map(|found| found.is_some()),
    }
}

fn fold<'v>(fold: &Fold, scope: &Scope<'_, 'v>, steps: &Steps) -> Result<Val<'v>> {
    let range = eval(&fold.range, scope, steps)?;
    let mut accumulated = eval(&fold.init, scope, steps);
    let two = fold.second.is_some();
    let rounds: Vec<(Val<'v>, Result<Val<'v>>)> = match &range {
        Val::List(list) if two => {
            let number = |at: usize| Val::Int(i64::try_from(at).unwrap_or(i64::MAX));
            list.items.iter().enumerate().map(|(at, item)| (number(at), Ok(item.clone()))).collect()
        }
        Val::List(list) => list.items.iter().map(|item| (item.clone(), Ok(Val::Null))).collect(),
        other => other.entries().ok_or_else(Error::overload)?,
    };
    for (first, second) in rounds {
        let goes_on = {
            let inner = Scope::new(&fold.accumulator, accumulated.clone(), Some(scope));
            eval(&fold.cond, &inner, steps)?
        };
        if !matches!(goes_on, Val::Bool(true)) {
            break;
        }
        let inner = Scope::new(&fold.accumulator, accumulated, Some(scope));
        let inner = Scope::new(&fold.variable, Ok(first), Some(&inner));
        accumulated = match &fold.second {
            Some(name) => eval(&fold.step, &Scope::new(name, second, Some(&inner)), steps),
            None => eval(&fold.step, &inner, steps),
        };
        if matches!(accumulated, Err(Error::TooLong)) {
            return accumulated;
        }
    }
    eval(&fold.result, &Scope::new(&fold.accumulator, accumulated, Some(scope)), steps)
}

fn call<'v>(
    function: &str,
    target: Option<&Expr>,
    args: &[Expr],
    scope: &Scope<'_, 'v>,
    steps: &Steps,
) -> Result<Val<'v>> {
    let one = |expr: &Expr| eval(expr, scope, steps);
    match (function, args) {
        ("_&&_", [left, right]) => return both(false, one(left), || one(right)),
        ("_||_", [left, right]) => return both(true, one(left), || one(right)),
        ("_?_:_", [condition, yes, no]) => {
            return match one(condition)? {
                Val::Bool(value) => one(if value { yes } else { no }),
                _ => Err(Error::overload()),
            };
        }
        ("@not_strictly_false", [arg]) => {
            return match one(arg) {
                Err(Error::TooLong) => Err(Error::TooLong),
                value => Ok(Val::Bool(!matches!(value, Ok(Val::Bool(false))))),
            };
        }
        ("or" | "orValue", [other]) if target.is_some() => {
            let value = target.map(one).transpose()?;
            return match (value, function) {
                (Some(Val::Optional(None)), _) => one(other),
                (Some(Val::Optional(Some(value))), "orValue") => Ok((*value).clone()),
                (Some(value @ Val::Optional(_)), _) => Ok(value),
                _ => Err(Error::overload()),
            };
        }
        // Nothing is in an empty list, not even what can't be computed.
        ("@in", [_, list]) if matches!(&list.node, Node::List(items) if items.is_empty()) => {
            return Ok(Val::Bool(false));
        }
        _ => {}
    }
    let values = target.into_iter().chain(args).map(one).collect::<Result<Vec<_>>>()?;
    apply(function, target.is_some(), &values)
}

/// `&&` and `||`: the one value that decides does so even beside an error.
fn both<'v>(
    decides: bool,
    left: Result<Val<'v>>,
    right: impl FnOnce() -> Result<Val<'v>>,
) -> Result<Val<'v>> {
    match left {
        Ok(Val::Bool(value)) if value == decides => return Ok(Val::Bool(decides)),
        Err(Error::TooLong) => return left,
        _ => {}
    }
    match (left, right()) {
        (_, Err(Error::TooLong)) => Err(Error::TooLong),
        (_, Ok(Val::Bool(value))) if value == decides => Ok(Val::Bool(decides)),
        (Err(error), _) | (Ok(Val::Bool(_)), Err(error)) => Err(error),
        (Ok(Val::Bool(_)), Ok(Val::Bool(_))) => Ok(Val::Bool(!decides)),
        _ => Err(Error::overload()),
    }
}

fn apply<'v>(function: &str, is_member: bool, values: &[Val<'v>]) -> Result<Val<'v>> {
    match (function, values) {
        ("_==_", [one, two]) => equal(one, two).map(Val::Bool),
        ("_!=_", [one, two]) => equal(one, two).map(|same| Val::Bool(!same)),
        ("!_", [Val::Bool(value)]) => Ok(Val::Bool(!value)),
        ("_<_", [one, two]) => one.compare(two).map(|order| Val::Bool(order.is_lt())),
        ("_<=_", [one, two]) => one.compare(two).map(|order| Val::Bool(order.is_le())),
        ("_>_", [one, two]) => one.compare(two).map(|order| Val::Bool(order.is_gt())),
        ("_>=_", [one, two]) => one.compare(two).map(|order| Val::Bool(order.is_ge())),
        ("_+_", [Val::List(one), Val::List(two)]) => join(one, two),
        ("@in", [item, Val::List(list)]) => contains(&list.items, item).map(Val::Bool),
        ("@in", [Val::String(name), Val::Object(object)]) if object.is_map() => {
            Ok(Val::Bool(object.fields.contains_key(&**name)))
        }
        ("@in", [Val::String(name), Val::Object(object)]) => {
            Ok(Val::Bool(object.fields.contains_key(&unescape(name))))
        }
        ("@in", [key, Val::Map(map)]) => Ok(Val::Bool(key.key().is_some_and(|key| map.contains_key(&key)))),
        ("_[_]", [Val::Optional(None), _]) => Ok(Val::Optional(None)),
        ("_[_]", [Val::Optional(Some(of)), at]) | ("_[?_]", [Val::Optional(Some(of)), at]) => {
            optional(index(of, at)).transpose_optional()
        }
        ("_[_]", [of, at]) => index(of, at)?.ok_or_else(|| missing(of, at)),
        ("_[?_]", [Val::Optional(None), _]) => Ok(Val::Optional(None)),
        ("_[?_]", [of, at]) => optional(index(of, at)).transpose_optional(),
        _ => functions::apply(function, is_member, values),
    }
}

fn missing(of: &Val<'_>, at: &Val<'_>) -> Error {
    match of {
        Val::List(_) => Error::new(format!("index out of bounds: {}", functions::show(at))),
        _ => Error::new(format!("no such key: {}", functions::show(at))),
    }
}

fn index<'v>(of: &Val<'v>, at: &Val<'v>) -> Result<Option<Val<'v>>> {
    match (of, at) {
        (Val::List(list), at) => {
            let Some(Key::Int(at)) = at.key() else { return Err(Error::new("unsupported index type")) };
            Ok(usize::try_from(at).ok().and_then(|at| list.items.get(at).cloned()))
        }
        (Val::Map(map), at) => Ok(at.key().and_then(|key| map.get(&key)).map(|(_, value)| value.clone())),
        (Val::Object(object), Val::String(name)) => field(object, name).transpose(),
        (Val::Object(_), _) => Ok(None),
        _ => Err(Error::overload()),
    }
}
