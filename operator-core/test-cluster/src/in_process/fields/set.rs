//! Sets of fields, in the form that managed fields have on the wire.
//!
//! ```text
//!  {"f:data": {".": {}, "f:a": {}}}   ◀──▶   data (a member), data.a (a member)
//! ```
//!
//! A parent is not automatically a member because its child is: both can be in the set, or one of them.

use std::{cmp::Ordering, collections::BTreeMap, fmt};

use serde_json::{Map, Value};

use super::definition::show_float;
use crate::in_process::values::quoted;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    /// A field of an object.
    Field(String),
    /// An item of a list by its keys, which are sorted by their names.
    Key(Vec<(String, Scalar)>),
    /// An item of a set.
    Item(Scalar),
    /// An item by its position: the API server writes none, but reads them.
    Index(usize),
}

/// A value that is part of a path, with an order.
#[derive(Clone, Debug)]
pub(super) struct Scalar(pub(super) Value);

impl Scalar {
    fn rank(&self) -> u8 {
        match self.0 {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
}

impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = || match (self.0.as_i64(), other.0.as_i64()) {
            (Some(one), Some(two)) => one.cmp(&two),
            _ => self.0.as_f64().unwrap_or(0.0).total_cmp(&other.0.as_f64().unwrap_or(0.0)),
        };
        match (&self.0, &other.0) {
            (Value::Number(_), Value::Number(_)) => numbers(),
            (Value::String(one), Value::String(two)) => one.cmp(two),
            (Value::Bool(one), Value::Bool(two)) => one.cmp(two),
            (one, two) => self.rank().cmp(&other.rank()).then_with(|| one.to_string().cmp(&two.to_string())),
        }
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scalar {}

/// A step as it appears in error messages.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys: Vec<_> =
                    keys.iter().map(|(name, value)| format!("{name}={}", shown(&value.0))).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Item(value) => write!(f, "[={}]", shown(&value.0)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value as Go shows it in a path.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) if number.is_f64() => show_float(number.as_f64().unwrap_or_default()),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect()
        }
        other => other.to_string(),
    }
}

/// Writes a value as JSON that may stand in a web page, as the keys of lists and the values of sets are written.
fn write(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write_text(out, name);
                out.push(':');
                write(out, value);
            }
            out.push('}');
        }
        Value::Number(number) if number.is_f64() => {
            out.push_str(&float(number.as_f64().unwrap_or_default()));
        }
        other => out.push_str(&other.to_string()),
    }
}

/// A number with a point, whose power of ten has two digits.
fn float(number: f64) -> String {
    if number == 0.0 || (1e-6..1e21).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..'\u{20}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

impl Element {
    /// A field by its name.
    pub(super) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => {
                let mut text = "k:{".to_owned();
                for (at, (name, value)) in keys.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    write_text(&mut text, name);
                    text.push(':');
                    write(&mut text, &value.0);
                }
                text.push('}');
                text
            }
            Self::Item(value) => {
                let mut text = "v:".to_owned();
                write(&mut text, &value.0);
                text
            }
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// `None` for something that a later Kubernetes may have added, or that is no path element at all.
    fn decode(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("f", name) => Some(Self::field(name)),
            ("k", keys) => {
                let keys: BTreeMap<String, Value> = serde_json::from_str(keys).ok()?;
                Some(Self::Key(keys.into_iter().map(|(name, value)| (name, Scalar(value))).collect()))
            }
            ("v", value) => Some(Self::Item(Scalar(serde_json::from_str(value).ok()?))),
            ("i", index) => Some(Self::Index(index.parse().ok()?)),
            _ => None,
        }
    }
}

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(BTreeMap<Element, Node>);

/// What a set contains at and below an element: never nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    below: Set,
}

impl Set {
    /// A set of paths that consist of names.
    pub(super) fn of(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Vec<_> = path.iter().map(|name| Element::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    /// Adds a path; the empty one, the whole object, is never in a set.
    pub(super) fn insert(&mut self, path: &[Element]) {
        let Some((first, rest)) = path.split_first() else { return };
        // Most paths lead to elements that are there already.
        if !self.0.contains_key(first) {
            self.0.insert(first.clone(), Node::default());
        }
        let Some(node) = self.0.get_mut(first) else { return };
        if rest.is_empty() {
            node.member = true;
        } else {
            node.below.insert(rest);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an element itself is a member.
    pub(super) fn has(&self, element: &Element) -> bool {
        self.0.get(element).is_some_and(|node| node.member)
    }

    /// What is below an element, if there is anything.
    pub(super) fn below(&self, element: &Element) -> Option<&Self> {
        self.0.get(element).map(|node| &node.below).filter(|below| !below.is_empty())
    }

    /// The elements, whether each is a member, and what is below it.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Element, bool, &Self)> {
        self.0.iter().map(|(element, node)| (element, node.member, &node.below))
    }

    /// The elements with something below them.
    fn parents(&self) -> impl Iterator<Item = (&Element, &Self)> {
        self.0.iter().filter(|(_, node)| !node.below.is_empty()).map(|(element, node)| (element, &node.below))
    }

    /// Puts a set below an element.
    pub(super) fn put(&mut self, element: Element, member: bool, below: Self) {
        if member || !below.is_empty() {
            self.0.insert(element, Node { member, below });
        }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.add(other);
        all
    }

    /// Becomes the union with `other`.
    pub(super) fn add(&mut self, other: &Self) {
        for (element, node) in &other.0 {
            match self.0.get_mut(element) {
                Some(into) => {
                    into.member |= node.member;
                    into.below.add(&node.below);
                }
                None => {
                    self.0.insert(element.clone(), node.clone());
                }
            }
        }
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        self.combine(|element, node| {
            let other = other.0.get(element)?;
            Some((node.member && other.member, node.below.intersection(&other.below)))
        })
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        let mut left = self.clone();
        left.subtract(other);
        left
    }

    /// Becomes the difference from `other`.
    pub(super) fn subtract(&mut self, other: &Self) {
        for (element, taken) in &other.0 {
            let Some(node) = self.0.get_mut(element) else { continue };
            node.member &= !taken.member;
            node.below.subtract(&taken.below);
            if !node.member && node.below.is_empty() {
                self.0.remove(element);
            }
        }
    }

    /// As [`difference`](Self::difference), but what is below a member of `other` is removed with it.
    pub(super) fn without(&self, other: &Self) -> Self {
        self.combine(|element, node| match other.0.get(element) {
            Some(other) if other.member => None,
            Some(other) => Some((node.member, node.below.without(&other.below))),
            None => Some((node.member, node.below.clone())),
        })
    }

    fn combine(&self, keep: impl Fn(&Element, &Node) -> Option<(bool, Self)>) -> Self {
        let mut kept = Self::default();
        for (element, node) in &self.0 {
            if let Some((member, below)) = keep(element, node) {
                kept.put(element.clone(), member, below);
            }
        }
        kept
    }

    /// All members, as in error messages; parents before what is below them, but after their siblings.
    pub(super) fn paths(&self) -> Vec<String> {
        let members = self.0.iter().filter(|(_, node)| node.member).map(|(element, _)| element.to_string());
        let deeper = self.parents().flat_map(|(element, below)| {
            below.paths().into_iter().map(move |path| format!("{element}{path}"))
        });
        members.chain(deeper).collect()
    }

    /// The wire form.
    pub(super) fn encode(&self) -> Value {
        let fields = self.0.iter().map(|(element, node)| {
            let mut below = node.below.encode();
            if let (true, Some(map)) = (node.member && !node.below.is_empty(), below.as_object_mut()) {
                map.insert(".".to_owned(), Value::Object(Map::new()));
            }
            (element.encode(), below)
        });
        Value::Object(fields.collect())
    }

    /// Reads the wire form. Unknown elements are left out.
    pub(super) fn decode(fields: &Value) -> Self {
        let mut set = Self::default();
        for (key, below) in fields.as_object().into_iter().flatten() {
            let Some(element) = Element::decode(key) else { continue };
            let member = below.as_object().is_none_or(|below| below.is_empty() || below.contains_key("."));
            set.put(element, member, Self::decode(below));
        }
        set
    }
}
