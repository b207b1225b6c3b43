//! What server-side apply knows about a type: how its values are merged.
//!
//! Types refer to each other by number, because some contain themselves.

use std::collections::BTreeMap;

use serde_json::Value;

use super::set::{Element, Scalar};

/// The number of a type among its [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeId(usize);

/// Values of any form, whose objects are merged field by field.
pub(super) const DEDUCED: TypeId = TypeId(0);
/// Values of any form, each of them atomic.
pub(super) const UNTYPED: TypeId = TypeId(1);

/// Types, which refer to each other. Some extend others, which they share.
#[derive(Clone, Debug)]
pub(super) struct Types {
    shared: &'static [Atom],
    own: Vec<Atom>,
}

/// The forms that values of a type may have.
#[derive(Clone, Debug, Default)]
pub(super) struct Atom {
    pub(super) scalar: Option<Form>,
    pub(super) list: Option<List>,
    pub(super) map: Option<Fields>,
}

/// A kind of scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Number,
    Bool,
    Any,
}

/// A list.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) relation: Relation,
    pub(super) item: TypeId,
}

/// How the items of a list are distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Not at all: the list is atomic.
    Atomic,
    /// By their values.
    Set,
    /// By some of their fields.
    Keys(Vec<String>),
}

/// An object: named fields, or any.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) named: BTreeMap<String, Field>,
    /// The type of other fields; `None` if there may be none.
    pub(super) others: Option<TypeId>,
    pub(super) atomic: bool,
}

/// A named field.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) of: TypeId,
    /// The value of a key if it is absent.
    pub(super) default: Option<Value>,
}

/// The form that a value has, or the forms that it may have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    Map(&'a Fields),
    Scalar(Form),
    List(&'a List),
}

impl Default for Types {
    fn default() -> Self {
        let any = |object: TypeId, atomic: bool| Atom {
            scalar: Some(Form::Any),
            list: Some(List { relation: Relation::Atomic, item: UNTYPED }),
            map: Some(Fields { named: BTreeMap::new(), others: Some(object), atomic }),
        };
        Self { shared: &[], own: vec![any(DEDUCED, false), any(UNTYPED, true)] }
    }
}

impl Types {
    /// Types that may refer to those of `shared`, which keep their numbers. Those extend no others themselves.
    pub(super) fn upon(shared: &'static Self) -> Self {
        Self { shared: &shared.own, own: Vec::new() }
    }

    /// Adds a type.
    pub(super) fn add(&mut self, atom: Atom) -> TypeId {
        self.own.push(atom);
        TypeId(self.shared.len() + self.own.len() - 1)
    }

    /// Replaces a type that was added, and which others may refer to already.
    pub(super) fn replace(&mut self, id: TypeId, atom: Atom) {
        if let Some(place) = id.0.checked_sub(self.shared.len()).and_then(|at| self.own.get_mut(at)) {
            *place = atom;
        }
    }

    pub(super) fn atom(&self, id: TypeId) -> &Atom {
        // A number comes from `add`, or is one of the two that are always there.
        self.shared.get(id.0).unwrap_or_else(|| &self.own[id.0 - self.shared.len()])
    }

    /// The shape of a value: if its type allows several, the one that it has.
    pub(super) fn shape(&self, id: TypeId, value: Option<&Value>) -> Option<Shape<'_>> {
        let atom = self.atom(id);
        let scalar = || atom.scalar.map(Shape::Scalar);
        let list = || atom.list.as_ref().map(Shape::List);
        let map = || atom.map.as_ref().map(Shape::Map);
        let own = match value {
            None | Some(Value::Null) => None,
            Some(Value::Array(_)) => list(),
            Some(Value::Object(_)) => map(),
            Some(_) => scalar(),
        };
        own.or_else(map).or_else(scalar).or_else(list)
    }

    /// Whether two values of a type have the same shape, so that they are compared side by side.
    pub(super) fn alike(&self, id: TypeId, one: &Value, two: &Value) -> bool {
        let atom = self.atom(id);
        let form = |value: &Value| match value {
            Value::Null => 0,
            Value::Array(_) if atom.list.is_some() => 1,
            Value::Object(_) if atom.map.is_some() => 2,
            Value::Array(_) | Value::Object(_) => 0,
            _ if atom.scalar.is_some() => 3,
            _ => 0,
        };
        form(one) == form(two)
            || usize::from(atom.scalar.is_some())
                + usize::from(atom.list.is_some())
                + usize::from(atom.map.is_some())
                < 2
    }

    /// The path element of a list's item.
    pub(super) fn element(&self, list: &List, item: &Value) -> Result<Element, String> {
        match &list.relation {
            Relation::Atomic => Err("invalid indexing of non-associative list".to_owned()),
            Relation::Keys(keys) => self.key_element(list.item, keys, item),
            Relation::Set => match item {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".to_owned())
                }
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => {
                    Err("associative list without keys has an element that's an explicit null".to_owned())
                }
                value => Ok(Element::Item(Scalar(value.clone()))),
            },
        }
    }

    fn key_element(&self, of: TypeId, keys: &[String], item: &Value) -> Result<Element, String> {
        let item = match item {
            Value::Object(item) => item,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let named = self.atom(of).map.as_ref().map(|map| &map.named);
        let default =
            |key: &str| named.and_then(|named| named.get(key)).and_then(|field| field.default.as_ref());
        let mut found: Vec<_> = keys
            .iter()
            .filter_map(|key| {
                let value = item.get(key).or_else(|| default(key))?;
                Some((key.clone(), Scalar(value.clone())))
            })
            .collect();
        if found.is_empty() {
            let keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                keys.join(" ")
            ));
        }
        found.sort();
        Ok(Element::Key(found))
    }

    /// The type of a field.
    pub(super) fn of_field(fields: &Fields, name: &str) -> Option<TypeId> {
        fields.named.get(name).map(|field| field.of).or(fields.others)
    }
}
