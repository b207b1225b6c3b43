//! Evaluates a checked expression.
//!
//! # Guarantees
//! - What is done is counted; an expression that costs too much ends.
//! - Maps are gone through in the order of their keys.

use std::{cell::Cell, sync::Arc};

use super::{
    constant::{IN_CONSTANTS, is_attribute, saved_in_branch, unknown},
    declare::unescape,
    equal::{contains, equal, join},
    functions,
    tree::{Expr, Fold, Literal, Node},
    types::Type,
    value::{Error, Key, Object, Result, Val},
};

/// The most that one expression may cost.
pub(super) const CALL_LIMIT: i64 = 1_000_000;

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

/// Counts what is done.
#[derive(Debug, Default)]
pub(super) struct Meter(Cell<i64>);

impl Meter {
    pub(super) fn add(&self, cost: u64) -> Result<()> {
        let all = self.0.get().saturating_add(i64::try_from(cost).unwrap_or(i64::MAX));
        self.0.set(all);
        if all > CALL_LIMIT { Err(Error::Cost) } else { Ok(()) }
    }

    /// What comes next costs less.
    fn save(&self, cost: i64) {
        self.0.set(self.0.get() - cost);
    }

    pub(super) fn all(&self) -> u64 {
        u64::try_from(self.0.get()).unwrap_or_default()
    }
}

pub(super) fn eval<'v>(expr: &Expr, scope: &Scope<'_, 'v>, meter: &Meter) -> Result<Val<'v>> {
    match &expr.node {
        Node::Literal(literal) => Ok(literal_value(literal)),
        Node::Const(of) => eval(of, scope, &Meter::default()),
        Node::Ident(name) => match (scope.find(name), &expr.of) {
            // The name of a type is a constant.
            (None, Type::Meta(Some(of))) => Ok(Val::Type(Arc::new((**of).clone()))),
            (Some(value), _) => meter.add(1).and_then(|()| value.clone()),
            (None, _) => {
                meter.add(1)?;
                Err(Error::new(format!("no such attribute(s): {name}")))
            }
        },
        Node::Select { operand, field, test } => {
            let of = eval(operand, scope, meter)?;
            if *test {
                return has(&of, field).map(Val::Bool);
            }
            if matches!(of, Val::Optional(None)) {
                return Ok(of);
            }
            meter.add(base(operand) + 1)?;
            match of {
                Val::Optional(Some(value)) => Ok(optional(find(&value, field)).transpose_optional()?),
                operand => select(&operand, field),
            }
        }
        Node::OptionalSelect { operand, field } => {
            let of = eval(operand, scope, meter)?;
            meter.add(base(operand))?;
            let found = match &of {
                Val::Optional(None) => None,
                Val::Optional(Some(value)) => optional(find(value, field)),
                of => optional(find(of, field)),
            };
            // What isn't there costs nothing.
            meter.add(u64::from(found.is_some()))?;
            found.transpose_optional()
        }
        Node::Call { function, target, args, .. } => call(function, target.as_deref(), args, scope, meter),
        Node::List(items) => {
            // It is counted even if an item fails.
            meter.add(10)?;
            let mut list = Vec::with_capacity(items.len());
            for (item, is_optional) in items {
                match (eval(item, scope, meter)?, is_optional) {
                    (Val::Optional(None), true) => {}
                    (Val::Optional(Some(value)), true) => list.push((*value).clone()),
                    (value, _) => list.push(value),
                }
            }
            Ok(Val::list(list))
        }
        Node::Map(entries) => {
            meter.add(30)?;
            let mut map = std::collections::BTreeMap::new();
            for (key, value, is_optional) in entries {
                let key = eval(key, scope, meter)?;
                let value = match (eval(value, scope, meter)?, is_optional) {
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
            let value = eval(&fold.init, scope, meter);
            if value == Err(Error::Cost) {
                return value;
            }
            eval(&fold.result, &Scope::new(&fold.accumulator, value, Some(scope)), meter)
        }
        Node::Fold(fold) => self::fold(fold, scope, meter),
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

fn fold<'v>(fold: &Fold, scope: &Scope<'_, 'v>, meter: &Meter) -> Result<Val<'v>> {
    let range = eval(&fold.range, scope, meter)?;
    let mut accumulated = eval(&fold.init, scope, meter);
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
            eval(&fold.cond, &inner, meter)?
        };
        if !matches!(goes_on, Val::Bool(true)) {
            break;
        }
        let inner = Scope::new(&fold.accumulator, accumulated, Some(scope));
        let inner = Scope::new(&fold.variable, Ok(first), Some(&inner));
        accumulated = match &fold.second {
            Some(name) => eval(&fold.step, &Scope::new(name, second, Some(&inner)), meter),
            None => eval(&fold.step, &inner, meter),
        };
        if matches!(accumulated, Err(Error::Cost)) {
            return accumulated;
        }
    }
    eval(&fold.result, &Scope::new(&fold.accumulator, accumulated, Some(scope)), meter)
}

fn call<'v>(
    function: &str,
    target: Option<&Expr>,
    args: &[Expr],
    scope: &Scope<'_, 'v>,
    meter: &Meter,
) -> Result<Val<'v>> {
    let one = |expr: &Expr| eval(expr, scope, meter);
    match (function, args) {
        ("_&&_", [left, right]) => return both(false, one(left), || one(right)),
        ("_||_", [left, right]) => return both(true, one(left), || one(right)),
        ("_?_:_", [condition, yes, no]) => {
            return match one(condition)? {
                Val::Bool(value) => {
                    let branch = if value { yes } else { no };
                    meter.save(saved_in_branch(branch));
                    one(branch)
                }
                _ => Err(Error::overload()),
            };
        }
        ("@not_strictly_false", [arg]) => {
            return match one(arg) {
                Err(Error::Cost) => Err(Error::Cost),
                value => meter.add(1).map(|()| Val::Bool(!matches!(value, Ok(Val::Bool(false))))),
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
        (IN_CONSTANTS, [item, list]) => return apply("@in", false, &[one(item)?, one(list)?]),
        ("_[_]" | "_[?_]", [of, at]) => {
            let values = [one(of)?, one(at)?];
            let result = apply(function, false, &values);
            let absent = matches!(values[0], Val::Optional(None))
                || function == "_[?_]" && matches!(result, Ok(Val::Optional(None)));
            // As an index, the look-up of an attribute is saved, as in the branch of a choice.
            meter.save(saved_in_branch(at));
            meter.add(base(of) + u64::from(!absent))?;
            return result;
        }
        _ => {}
    }
    let mut values = Vec::with_capacity(args.len() + 1);
    let mut failed = None;
    let count = args.len() + usize::from(target.is_some());
    for (at, expr) in target.into_iter().chain(args).enumerate() {
        match one(expr) {
            Ok(value) => values.push(value),
            Err(Error::Cost) => return Err(Error::Cost),
            // Of one or two, all are evaluated, and the call is counted; of more only so far.
            Err(error) if count > 2 && at + 1 < count => return Err(error),
            Err(error) => {
                failed.get_or_insert(error);
                values.push(unknown());
            }
        }
    }
    if let Some(error) = failed {
        meter.add(functions::cost(function, &values, None))?;
        return Err(error);
    }
    let result = apply(function, target.is_some(), &values);
    meter.add(functions::cost(function, &values, result.as_ref().ok()))?;
    result
}

/// What it costs to look something up in what is no attribute.
fn base(of: &Expr) -> u64 {
    u64::from(!is_attribute(of))
}

/// `&&` and `||`: the one value that decides does so even beside an error.
fn both<'v>(
    decides: bool,
    left: Result<Val<'v>>,
    right: impl FnOnce() -> Result<Val<'v>>,
) -> Result<Val<'v>> {
    match left {
        Ok(Val::Bool(value)) if value == decides => return Ok(Val::Bool(decides)),
        Err(Error::Cost) => return left,
        _ => {}
    }
    match (left, right()) {
        (_, Err(Error::Cost)) => Err(Error::Cost),
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
