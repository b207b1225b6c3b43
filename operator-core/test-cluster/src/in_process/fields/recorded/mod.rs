//! The types of Kubernetes, recorded from a real API server and from its Go types: nothing here is written by hand.
//!
//! `cargo record-types` generates `types.json` again, for the version of Kubernetes in `control-plane/cluster/go.mod`.
//! The program that it runs explains the notation.
//!
//! # Assumptions
//! - A broken recording is an empty one: no kind is known then, and a test fails.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::Value;

use super::schema::{Atom, DEDUCED, Field, Fields, Form, List, Relation, TypeId, Types};

/// A Go type, as far as its JSON shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Go {
    Text,
    Number,
    Bool,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    Bytes,
    Any,
    Struct(StructId),
    Pointer(Box<Go>),
    List(Box<Go>),
    Map(Box<Go>),
}

/// The number of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StructId(usize);

/// A field of a Go struct.
#[derive(Clone, Debug)]
pub(super) struct GoField {
    pub(super) go: Go,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    /// What Go calls the type, where that doesn't follow from its form.
    pub(super) called: Option<String>,
    /// The embedded type that has the field.
    pub(super) within: Option<String>,
}

impl GoField {
    /// Whether the field is omitted when it is absent, in whatever way it is read.
    pub(super) fn vanishes(&self) -> bool {
        let whole =
            matches!(self.go, Go::Struct(_) | Go::Time | Go::MicroTime | Go::Quantity | Go::IntOrString);
        self.omit_empty && !whole
    }
}

/// The whole recording.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// The type of each kind, by "apiVersion kind".
    kinds: BTreeMap<String, String>,
    structs: Vec<(String, BTreeMap<String, GoField>)>,
    ids: BTreeMap<String, (StructId, TypeId)>,
    pub(super) types: Types,
}

/// The recording.
pub(super) static RECORDED: LazyLock<Recorded> =
    LazyLock::new(|| serde_json::from_str(include_str!("types.json")).map(compile).unwrap_or_default());

/// The type of every kind's metadata.
const OBJECT_META: &str = "meta.v1.ObjectMeta";

#[derive(Deserialize)]
struct File {
    kinds: BTreeMap<String, String>,
    types: BTreeMap<String, BTreeMap<String, String>>,
}

impl Recorded {
    /// The name of a kind's type.
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<&str> {
        self.kinds.get(&format!("{api_version} {kind}")).map(String::as_str)
    }

    /// The fields of a struct.
    pub(super) fn fields(&self, of: StructId) -> &BTreeMap<String, GoField> {
        // A number comes from `ids`, which has one for each struct.
        &self.structs[of.0].1
    }

    /// The name of a struct.
    pub(super) fn name(&self, of: StructId) -> &str {
        &self.structs[of.0].0
    }

    /// A type: for Go, and for server-side apply.
    pub(super) fn id(&self, name: &str) -> Option<(Go, TypeId)> {
        self.ids.get(name).map(|(of, id)| (Go::Struct(*of), *id))
    }

    /// The type of every kind's metadata.
    pub(super) fn metadata(&self) -> Option<(Go, TypeId)> {
        self.id(OBJECT_META)
    }
}

fn compile(file: File) -> Recorded {
    let mut recorded = Recorded { kinds: file.kinds, ..Recorded::default() };
    // Types refer to each other, so all have their numbers before the first is filled in.
    for name in file.types.keys() {
        let id = recorded.types.add(Atom::default());
        recorded.ids.insert(name.clone(), (StructId(recorded.structs.len()), id));
        recorded.structs.push((name.clone(), BTreeMap::new()));
    }
    let mut atomic = Vec::new();
    for (name, fields) in &file.types {
        let mut named = BTreeMap::new();
        let mut structure = BTreeMap::new();
        for (field, text) in fields.iter().filter(|(field, _)| *field != "!") {
            let (expression, flags) = text.split_once(' ').unwrap_or((text, ""));
            let (go, of) = recorded.expression(expression);
            let default =
                flags.split(' ').find_map(|flag| serde_json::from_str(flag.strip_prefix('=')?).ok());
            let has = |flag| flags.split(' ').any(|text| text == flag);
            if has("!") {
                atomic.push((name.clone(), field.clone(), of));
            }
            let called = flags.split(' ').find_map(|flag| flag.strip_prefix(':')).map(str::to_owned);
            let within = flags.split(' ').find_map(|flag| flag.strip_prefix('^')).map(str::to_owned);
            let described = GoField { go, omit_empty: has("o"), omit_zero: has("z"), called, within };
            structure.insert(field.clone(), described);
            named.insert(field.clone(), Field { of, default });
        }
        let fields = Fields { named, others: None, atomic: fields.contains_key("!") };
        if let Some((StructId(place), id)) = recorded.ids.get(name).copied() {
            recorded.structs[place].1 = structure;
            recorded.types.replace(id, Atom { map: Some(fields), ..Atom::default() });
        }
    }
    for (name, field, of) in atomic {
        recorded.make_atomic(&name, &field, of);
    }
    recorded
}

impl Recorded {
    /// A field whose type is atomic only there.
    fn make_atomic(&mut self, name: &str, field: &str, of: TypeId) {
        let mut whole = self.types.atom(of).clone();
        if let Some(map) = &mut whole.map {
            map.atomic = true;
        }
        let whole = self.types.add(whole);
        let Some((_, id)) = self.id(name) else { return };
        let mut owner = self.types.atom(id).clone();
        if let Some(place) = owner.map.as_mut().and_then(|map| map.named.get_mut(field)) {
            place.of = whole;
        }
        self.types.replace(id, owner);
    }

    fn expression(&mut self, text: &str) -> (Go, TypeId) {
        if let Some(rest) = text.strip_prefix('*') {
            let (go, of) = self.expression(rest);
            return (Go::Pointer(Box::new(go)), of);
        }
        if let Some((relation, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            let (go, item) = self.expression(rest);
            let relation = match relation {
                "atomic" => Relation::Atomic,
                "set" => Relation::Set,
                keys => Relation::Keys(keys.split(',').map(str::to_owned).collect()),
            };
            let list = Atom { list: Some(List { relation, item }), ..Atom::default() };
            return (Go::List(Box::new(go)), self.types.add(list));
        }
        if let Some((relation, rest)) = text.strip_prefix('{').and_then(|text| text.split_once('}')) {
            let (go, value) = self.expression(rest);
            let map = Fields { named: BTreeMap::new(), others: Some(value), atomic: relation == "atomic" };
            return (Go::Map(Box::new(go)), self.types.add(Atom { map: Some(map), ..Atom::default() }));
        }
        if let Some(known) = text.strip_prefix('@').and_then(|name| self.id(name)) {
            return known;
        }
        let (go, form) = match text {
            "s" => (Go::Text, Form::Text),
            "n" => (Go::Number, Form::Number),
            "b" => (Go::Bool, Form::Bool),
            "T" => (Go::Time, Form::Any),
            "M" => (Go::MicroTime, Form::Any),
            "Q" => (Go::Quantity, Form::Any),
            "I" => (Go::IntOrString, Form::Any),
            "B" => (Go::Bytes, Form::Text),
            _ => return (Go::Any, DEDUCED),
        };
        (go, self.types.add(Atom { scalar: Some(form), ..Atom::default() }))
    }
}

/// A field's value, null where it is absent.
pub(super) fn at<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}
