//! What an expression costs at the most, as the real server estimates it: it refuses definitions whose rules may cost too
//! much.

mod calls;
mod range;

use std::collections::BTreeMap;

use self::range::Range;
use super::{
    tree::{Expr, Fold, Literal, Node},
    types::{Declared, Type},
};

const LIST: u64 = 10;
const MAP: u64 = 30;
/// Of each letter of a text.
const TEXT: f64 = 0.1;
/// Of each letter of a pattern.
const PATTERN: f64 = 0.25;

/// The most that an expression costs; `root` is what is known of the variable `self`.
pub(super) fn most(expr: &Expr, root: &Declared) -> u64 {
    Coster {
        root,
        paths: BTreeMap::new(),
        locals: Vec::new(),
        sizes: BTreeMap::new(),
        entries: BTreeMap::new(),
    }
    .cost(expr)
    .max
}

/// The sizes of the keys and values of a list or a map.
#[derive(Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn or(one: Option<Self>, two: Option<Self>) -> Option<Self> {
        let (one, two) = (one?, two?);
        Some(Self { is_list: one.is_list, key: one.key.or(two.key), value: one.value.or(two.value) })
    }
}

struct Local {
    name: String,
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Coster<'r> {
    root: &'r Declared,
    /// Where in the object an expression leads.
    paths: BTreeMap<u64, Vec<String>>,
    locals: Vec<Local>,
    sizes: BTreeMap<u64, Range>,
    entries: BTreeMap<u64, Entries>,
}

impl Coster<'_> {
    fn cost(&mut self, expr: &Expr) -> Range {
        match &expr.node {
            Node::Literal(_) => Range::default(),
            Node::Ident(name) => {
                let path = self.local(name).map_or_else(|| vec![name.clone()], |local| local.path.clone());
                self.paths.insert(expr.id, path);
                Range::fixed(1)
            }
            Node::Select { operand, test: true, .. } => self.cost(operand),
            Node::Select { operand, field, .. } => {
                let mut sum = self.cost(operand);
                if matches!(operand.of, Type::Map(_) | Type::Object(_) | Type::Param(_)) {
                    sum = sum.plus(Range::fixed(1));
                }
                let mut path = self.path(operand);
                path.push(field.clone());
                self.paths.insert(expr.id, path);
                sum
            }
            Node::OptionalSelect { operand, .. } => {
                let sum = self.cost(operand);
                self.set_size(expr, None);
                sum.plus(Range::fixed(1))
            }
            Node::Call { .. } => self.call(expr),
            Node::List(items) => {
                let mut size = Range::new(if items.is_empty() { 0 } else { u64::MAX }, 0);
                let mut sum = Range::fixed(LIST);
                for (item, _) in items {
                    sum = sum.plus(self.cost(item));
                    size = size.or(self.size_or_unknown(item));
                }
                self.entries.insert(expr.id, Entries { is_list: true, key: Range::fixed(1), value: size });
                sum
            }
            Node::Map(entries) => {
                let none = Range::new(if entries.is_empty() { 0 } else { u64::MAX }, 0);
                let (mut keys, mut values, mut sum) = (none, none, Range::fixed(MAP));
                for (key, value, _) in entries {
                    sum = sum.plus(self.cost(key)).plus(self.cost(value));
                    keys = keys.or(self.size_or_unknown(key));
                    values = values.or(self.size_or_unknown(value));
                }
                self.entries.insert(expr.id, Entries { is_list: false, key: keys, value: values });
                sum
            }
            // The estimate is made of the whole expression.
            Node::Const(of) => self.cost(of),
            Node::Fold(fold) if fold.is_bind() => self.bind(expr, fold),
            Node::Fold(fold) => self.fold(expr, fold),
        }
    }

    fn bind(&mut self, expr: &Expr, fold: &Fold) -> Range {
        let sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        self.push_accumulator(fold);
        let sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        let size = self.size(&fold.result);
        self.set_size(expr, size);
        if let Some(entries) = self.entries_of(&fold.result) {
            self.entries.insert(expr.id, entries);
        }
        sum
    }

    fn fold(&mut self, expr: &Expr, fold: &Fold) -> Range {
        let mut sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        self.push_accumulator(fold);
        let mut variables = 1;
        match &fold.second {
            Some(second) => {
                self.push_variable(&fold.variable, &fold.range, Part::Key);
                self.push_variable(second, &fold.range, Part::Value);
                variables = 2;
            }
            None => self.push_variable(&fold.variable, &fold.range, Part::Single),
        }
        let (cond, step) = (self.cost(&fold.cond), self.cost(&fold.step));
        self.locals.truncate(self.locals.len() - variables);
        sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        let count = self.size_or_unknown(&fold.range);
        sum = sum.plus(count.times(step.plus(cond)));
        match &fold.init.node {
            Node::Literal(_) => {
                let size = self.size(&fold.init);
                self.set_size(expr, size);
            }
            Node::List(_) | Node::Map(_) => {
                self.set_size(expr, Some(count));
                if let Some(entries) = self.entries_of(&fold.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        sum
    }

    fn push_accumulator(&mut self, fold: &Fold) {
        let local = Local {
            name: fold.accumulator.clone(),
            path: self.path(&fold.init),
            size: self.size(&fold.init),
            entries: self.entries_of(&fold.init),
        };
        self.locals.push(local);
    }

    fn push_variable(&mut self, name: &str, range: &Expr, part: Part) {
        let entries = self.entries_of(range);
        let is_list = entries.map_or(matches!(range.of, Type::List(_)), |entries| entries.is_list);
        let takes_value = match part {
            Part::Key => false,
            Part::Value => true,
            Part::Single => is_list,
        };
        let size = entries.map(|entries| if takes_value { entries.value } else { entries.key });
        let mut path = self.path(range);
        path.push(
            match (is_list, takes_value) {
                (true, true) => "@items",
                (true, false) => "@indices",
                (false, true) => "@values",
                (false, false) => "@keys",
            }
            .to_owned(),
        );
        self.locals.push(Local { name: name.to_owned(), path, size, entries: None });
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn path(&self, expr: &Expr) -> Vec<String> {
        if let Node::Ident(name) = &expr.node
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        let length = |size: usize| Some(Range::fixed(u64::try_from(size).unwrap_or(u64::MAX)));
        match &expr.node {
            Node::Literal(Literal::String(text)) => return length(text.chars().count()),
            Node::Literal(Literal::Bytes(bytes)) => return length(bytes.len()),
            Node::Literal(_) => return length(1),
            Node::List(items) => return length(items.len()),
            Node::Map(entries) => return length(entries.len()),
            _ => {}
        }
        if let Some(most) = self.declared(&self.path(expr)).map(|declared| declared.most) {
            let size = Range::new(0, most);
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if expr.of.is_scalar() {
            return length(1);
        }
        match &expr.node {
            Node::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    /// What the schema says about a path, whose first name is the variable's.
    fn declared(&self, path: &[String]) -> Option<Declared> {
        let (_, path) = path.split_first()?;
        let mut at = self.root.clone();
        for name in path {
            at = match name.as_str() {
                "@items" | "@values" => at.element.as_deref()?.clone(),
                "@keys" if matches!(at.of, Type::Map(_)) => {
                    Declared { of: Type::String, most: 0, least_bytes: 0, element: None }
                }
                "@keys" => return None,
                name => match &at.of {
                    Type::Object(object) => object.fields.get(name)?.clone(),
                    _ => return None,
                },
            };
        }
        Some(at)
    }

    fn entries_of(&self, expr: &Expr) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.node {
            Node::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Part {
    Key,
    Value,
    /// The only variable: a list's items, or a map's keys.
    Single,
}
