//! A model of applied objects: desired value, managed set and stored value of one tree, each by a function of its own.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A desired value together with what its schema says of merging.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A scalar.
    Scalar(Value),
    /// A list or map that is replaced as a whole; never empty.
    Atomic(Value),
    /// A mergeable object.
    Fields { fields: BTreeMap<String, Self>, foreign: bool },
    /// A list merged by the field `name`, and `side` if it is in the key; the content of each item beside it.
    Items { items: BTreeMap<String, BTreeMap<String, Self>>, side: Option<bool>, foreign: bool },
    /// A list that is a set.
    Set { values: BTreeSet<String>, foreign: bool },
}

/// What a mutation does to the place it hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutation {
    Change,
    Remove,
    Add,
}

pub(super) fn name() -> impl Strategy<Value = String> {
    "[a-e]{1,2}|[a-c]\\.io/\"?[a-c]"
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,3}".prop_map(Value::from)
    ]
}

/// Any JSON, with nulls and empty containers in any place.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), scalar(), (-9.0..9.0).prop_map(|float: f64| json!(float))];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map(name(), inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The fields of a desired object.
pub(super) fn fields() -> impl Strategy<Value = BTreeMap<String, Node>> {
    let leaf = prop_oneof![
        scalar().prop_map(Node::Scalar),
        prop::collection::vec(any_json(), 1..3).prop_map(|items| Node::Atomic(Value::Array(items))),
        (prop::collection::btree_set("[a-d\"]{0,2}", 0..4), any::<bool>())
            .prop_map(|(values, foreign)| Node::Set { values, foreign }),
    ];
    let node = leaf.prop_recursive(4, 24, 4, |inner| {
        let fields = prop::collection::btree_map(name(), inner, 0..4).boxed();
        prop_oneof![
            (fields.clone(), any::<bool>()).prop_map(|(fields, foreign)| Node::Fields { fields, foreign }),
            (prop::collection::btree_map("[a-d\"]{0,2}", fields, 0..4), any::<Option<bool>>(), any::<bool>())
                .prop_map(|(items, side, foreign)| Node::Items { items, side, foreign }),
        ]
    });
    prop::collection::btree_map(name(), node, 0..5)
}

/// The object that is applied.
pub(super) fn desired(node: &Node) -> Value {
    match node {
        Node::Scalar(value) | Node::Atomic(value) => value.clone(),
        Node::Fields { fields, .. } => Value::Object(desired_fields(fields)),
        // A key field that has its default (`Some(false)`) is left out.
        Node::Items { items, side, .. } => {
            items.iter().map(|(name, fields)| item(name, fields, *side == Some(true), desired)).collect()
        }
        Node::Set { values, .. } => json!(values),
    }
}

fn desired_fields(fields: &BTreeMap<String, Node>) -> Map<String, Value> {
    fields.iter().map(|(name, node)| (name.clone(), desired(node))).collect()
}

fn item(
    name: &str,
    fields: &BTreeMap<String, Node>,
    with_side: bool,
    content: impl Fn(&Node) -> Value,
) -> Value {
    let mut item: Map<_, _> = fields.iter().map(|(name, node)| (name.clone(), content(node))).collect();
    item.insert("name".to_owned(), json!(name));
    if with_side {
        item.insert("side".to_owned(), json!(true));
    }
    Value::Object(item)
}

/// The managed set that the API server records for it; `None` if it leaves no trace.
pub(super) fn managed(node: &Node) -> Option<Value> {
    match node {
        Node::Scalar(_) | Node::Atomic(_) => Some(json!({})),
        Node::Fields { fields, .. } if fields.is_empty() => Some(json!({})),
        Node::Fields { fields, .. } => Some(managed_fields(fields)).filter(|owned| *owned != json!({})),
        Node::Items { items, side, .. } => {
            let owned: Map<_, _> = items
                .iter()
                .map(|(name, fields)| {
                    let mut owned = managed_fields(fields);
                    owned["."] = json!({});
                    owned["f:name"] = json!({});
                    let mut key = json!({"name": name});
                    if let Some(side) = side {
                        key["side"] = json!(side);
                        if *side {
                            owned["f:side"] = json!({});
                        }
                    }
                    (format!("k:{key}"), owned)
                })
                .collect();
            Some(Value::Object(owned)).filter(|_| !items.is_empty())
        }
        Node::Set { values, .. } => {
            let owned: Map<_, _> =
                values.iter().map(|value| (format!("v:{}", json!(value)), json!({}))).collect();
            Some(Value::Object(owned)).filter(|_| !values.is_empty())
        }
    }
}

fn managed_fields(fields: &BTreeMap<String, Node>) -> Value {
    fields
        .iter()
        .filter_map(|(name, node)| Some((format!("f:{name}"), managed(node)?)))
        .collect::<Map<_, _>>()
        .into()
}

/// The object that is stored: what was applied, and what others added to it.
pub(super) fn actual(node: &Node) -> Value {
    match node {
        Node::Scalar(value) | Node::Atomic(value) => value.clone(),
        Node::Fields { fields, foreign } => {
            let mut stored: Map<_, _> =
                fields.iter().map(|(name, node)| (name.clone(), actual(node))).collect();
            // What is in an owned empty object can't be told from content that was applied, see the module's limits.
            if *foreign && managed(node) != Some(json!({})) {
                stored.insert("foreign".to_owned(), json!({"x": [1]}));
            }
            Value::Object(stored)
        }
        Node::Items { items, side, foreign } => {
            let stored = items.iter().rev().map(|(name, fields)| {
                let mut item = item(name, fields, false, actual);
                if let Some(side) = side {
                    item["side"] = json!(side);
                }
                if *foreign {
                    item["foreign"] = json!([{"x": 1}]);
                }
                item
            });
            let before = foreign.then(|| json!({"name": "foreign", "side": false}));
            before.into_iter().chain(stored).collect()
        }
        Node::Set { values, foreign } => {
            let foreign = foreign.then(|| "foreign".to_owned());
            json!(foreign.iter().chain(values.iter().rev()).collect::<Vec<_>>())
        }
    }
}

/// How many places a mutation can hit.
pub(super) fn places(fields: &BTreeMap<String, Node>) -> usize {
    let mut count = usize::MAX;
    mutate(&mut fields.clone(), Mutation::Change, &mut count);
    usize::MAX - count
}

/// Mutates the place with number `countdown`, counted in order of the walk. Answers whether that has happened.
///
/// Changes and removals hit what is owned (scalars, atomics, items, values); additions hit containers.
pub(super) fn mutate(fields: &mut BTreeMap<String, Node>, mutation: Mutation, countdown: &mut usize) -> bool {
    for name in fields.keys().cloned().collect::<Vec<_>>() {
        let Some(node) = fields.get_mut(&name) else { continue };
        match node {
            Node::Scalar(value) | Node::Atomic(value) => {
                if hit(countdown) {
                    match mutation {
                        Mutation::Change => *node = Node::Scalar(json!(format!("{value}-changed"))),
                        Mutation::Remove => drop(fields.remove(&name)),
                        Mutation::Add => drop(fields.insert("added".to_owned(), Node::Scalar(json!(1)))),
                    }
                    return true;
                }
            }
            Node::Fields { fields, .. } => {
                if mutate(fields, mutation, countdown) {
                    return true;
                }
            }
            Node::Items { items, .. } => {
                for key in items.keys().cloned().collect::<Vec<_>>() {
                    if hit(countdown) {
                        match mutation {
                            Mutation::Add => drop(items.insert("added".to_owned(), BTreeMap::new())),
                            Mutation::Remove => drop(items.remove(&key)),
                            Mutation::Change => {
                                let content = items.remove(&key).unwrap_or_default();
                                items.insert("changed".to_owned(), content);
                            }
                        }
                        return true;
                    }
                    if items.get_mut(&key).is_some_and(|fields| mutate(fields, mutation, countdown)) {
                        return true;
                    }
                }
            }
            Node::Set { values, .. } => {
                for value in values.clone() {
                    if hit(countdown) {
                        if mutation != Mutation::Add {
                            values.remove(&value);
                        }
                        if mutation != Mutation::Remove {
                            values.insert("changed".to_owned());
                        }
                        return true;
                    }
                }
            }
        }
    }
    false
}

fn hit(countdown: &mut usize) -> bool {
    let hit = *countdown == 0;
    *countdown = countdown.wrapping_sub(1);
    hit
}
