//! The table: each file of `cases` holds an object as it was applied by the manager `test`, the same as a real API server
//! has stored it, and what becomes of the comparison by value when one of them is changed.

use std::{fs, path::Path};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{
    GenericMatcher, Match, digest,
    fields::{applied, matches_applied, matches_owned_fields},
    still_owned,
};

pub(super) const MANAGER: &str = "test";

/// One file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) desired: Value,
    pub(super) actual: Value,
    /// How the two match by value as they are.
    generic: Expected,
    #[serde(default)]
    changes: Vec<Change>,
}

/// One change of the objects, as JSON patches.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Change {
    what: String,
    #[serde(default)]
    desired: json_patch::Patch,
    #[serde(default)]
    actual: json_patch::Patch,
    generic: Expected,
}

/// A match as it is written in a case.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected {
    /// `equal`.
    Word(String),
    Paths(Vec<String>),
}

impl Default for Expected {
    fn default() -> Self {
        Self::Word("equal".to_owned())
    }
}

impl Expected {
    fn into_match(self) -> Match {
        match self {
            Self::Paths(paths) => Match::Differs(paths),
            Self::Word(word) if word == "equal" => Match::Equal,
            Self::Word(word) => panic!("`{word}` is no expectation"),
        }
    }
}

pub(super) fn managed_fields(object: &Value) -> Vec<ManagedFieldsEntry> {
    serde_json::from_value(object["metadata"]["managedFields"].clone()).unwrap()
}

/// The same entries with their fields as text, as a cache holds them.
fn as_cached(entries: &[ManagedFieldsEntry]) -> Vec<ManagedFieldsEntry> {
    let mut entries = entries.to_vec();
    for FieldsV1(fields) in entries.iter_mut().filter_map(|entry| entry.fields_v1.as_mut()) {
        *fields = Value::String(fields.to_string());
    }
    entries
}

/// All cases by the names of their files.
pub(super) fn all() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/operations/matcher/tests/cases");
    let mut cases: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let case = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap());
            (name.clone(), case.unwrap_or_else(|error| panic!("{name}: {error}")))
        })
        .collect();
    cases.sort_by(|(one, _), (other, _)| one.cmp(other));
    cases
}

#[test]
fn every_case_matches_by_value_as_it_says() {
    let mut wrong = Vec::new();
    let cases = all();
    assert!(cases.len() > 15, "{}", cases.len());
    let mut check = |what: &str, desired: &Value, actual: &Value, expected: Expected| {
        let (found, expected) = (GenericMatcher::new().matches(desired, actual), expected.into_match());
        if found != expected {
            wrong.push(format!("{what}: {found:?} instead of {expected:?}"));
        }
    };
    for (name, case) in cases {
        check(&name, &case.desired, &case.actual, case.generic);
        for change in case.changes {
            let what = format!("{name}: {}", change.what);
            let (mut desired, mut actual) = (case.desired.clone(), case.actual.clone());
            json_patch::patch(&mut desired, &change.desired)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            json_patch::patch(&mut actual, &change.actual).unwrap_or_else(|error| panic!("{what}: {error}"));
            check(&what, &desired, &actual, change.generic);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_text_matches_as_its_tree_does_and_owners_that_are_apart_as_those_in_the_set() {
    for (name, case) in all() {
        let managed = managed_fields(&case.actual);
        let as_cached = || {
            applied(&managed, MANAGER, None).map(|mut entry| {
                let fields = entry.fields.as_mut().unwrap().to_mut();
                let owners = fields.get_mut("f:metadata").and_then(|all| all.get_mut("f:ownerReferences"));
                entry.owners = owners.map(|owners| std::mem::replace(owners, json!({})));
                entry
            })
        };
        assert_eq!(matches_applied(&case.desired, None, as_cached()), Match::Equal, "{name}");
        for change in [Change::default()].into_iter().chain(case.changes) {
            let (mut desired, mut actual) = (case.desired.clone(), case.actual.clone());
            json_patch::patch(&mut desired, &change.desired).unwrap();
            json_patch::patch(&mut actual, &change.actual).unwrap();
            let of_tree = matches_owned_fields(&desired, &actual, &managed, MANAGER, None);
            let of_text = matches_applied(&desired, Some(&actual.to_string()), as_cached());
            assert_eq!(of_text, of_tree, "{name}: {}", change.what);
        }
    }
}

/// Whatever the server has made of the values.
#[test]
fn what_was_applied_is_still_owned() {
    for (name, case) in all() {
        let managed = managed_fields(&case.actual);
        assert_eq!(still_owned(&case.desired, &managed, MANAGER), Match::Equal, "{name}");
        let cached = as_cached(&managed);
        assert_eq!(still_owned(&case.desired, &cached, MANAGER), Match::Equal, "{name}, as it is cached");
    }
}

/// All sets that have lost one place of these, and those that have one more, by where that is.
fn other_sets(fields: &Value, at: &str, less: &mut Vec<(String, Value)>, more: &mut Vec<Value>) {
    let Some(all) = fields.as_object().filter(|all| !all.is_empty()) else { return };
    more.push(with_field(fields, "f:another", json!({})));
    for (key, below) in all.iter().filter(|(key, _)| *key != ".") {
        let (at, without) = (format!("{at}/{key}"), {
            let mut without = all.clone();
            without.remove(key);
            without
        });
        let (mut less_below, mut more_below) = (Vec::new(), Vec::new());
        other_sets(below, &at, &mut less_below, &mut more_below);
        // Nothing is left of a place of which all is lost.
        less_below.retain(|(_, below)| *below != json!({}));
        less.extend(less_below.into_iter().map(|(at, below)| (at, with_field(fields, key, below))));
        more.extend(more_below.into_iter().map(|below| with_field(fields, key, below)));
        less.push((at, Value::Object(without)));
    }
}

fn with_field(fields: &Value, name: &str, value: Value) -> Value {
    let mut fields = fields.clone();
    fields[name] = value;
    fields
}

#[test]
fn no_field_can_be_lost_or_added_without_being_noticed() {
    let mut unnoticed = Vec::new();
    for (name, case) in all() {
        let [entry]: [_; 1] = managed_fields(&case.actual).try_into().unwrap();
        let is_owned = |fields: Value| {
            let entry = ManagedFieldsEntry { fields_v1: Some(FieldsV1(fields)), ..entry.clone() };
            still_owned(&case.desired, &[entry], MANAGER).is_equal()
        };
        let (mut less, mut more) = (Vec::new(), Vec::new());
        other_sets(&json!(entry.fields_v1), "", &mut less, &mut more);
        assert!(!less.is_empty() && !more.is_empty(), "{name}");
        let lost = less.into_iter().filter(|(_, fields)| is_owned(fields.clone()));
        unnoticed.extend(lost.map(|(at, _)| format!("{name} {at}")));
        for fields in more {
            assert!(!is_owned(fields.clone()), "{name}: {fields}");
        }
    }
    // Lists, labels and annotations of which nothing is wanted; and the keys of items that have nothing else, which can't be
    // lost by themselves.
    let containers = "/f:spec/f:template/f:spec/f:containers/k:{\"name\":\"web\"}";
    let expected = [
        format!("deployment {containers}/f:env/k:{{\"name\":\"NONE\"}}/f:name"),
        format!(
            "deployment {containers}/f:ports/k:{{\"containerPort\":8080,\"protocol\":\"TCP\"}}/f:containerPort"
        ),
        "deployment /f:spec/f:template/f:spec/f:tolerations".to_owned(),
        "gadget /f:spec/f:list".to_owned(),
        "service /f:metadata".to_owned(),
        "service /f:spec/f:externalIPs".to_owned(),
        "service-plain /f:spec/f:ports/k:{\"port\":80,\"protocol\":\"TCP\"}/f:port".to_owned(),
        "serviceaccount /f:metadata".to_owned(),
    ];
    assert_eq!(unnoticed, expected);
}

/// Places whose change can't matter to the server: what the server decides, and texts that are gone once written.
fn says_nothing(pointer: &str) -> bool {
    ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"].contains(&pointer)
        || pointer.ends_with("/creationTimestamp")
}

/// The pointers of all scalars.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                leaves(field, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, &format!("{at}/{index}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

#[test]
fn no_leaf_can_be_changed_without_being_noticed() {
    let of = |object: &Value| digest(object, "example.com/mark", false);
    let mut wrong = Vec::new();
    for (name, case) in all() {
        let mut pointers = Vec::new();
        leaves(&case.desired, "", &mut pointers);
        for pointer in pointers.iter().filter(|pointer| !says_nothing(pointer)) {
            let mut desired = case.desired.clone();
            let leaf = desired.pointer_mut(pointer).unwrap();
            *leaf = match leaf {
                Value::Bool(value) => (!*value).into(),
                Value::Number(number) => (number.as_f64().unwrap() + 17.0).into(),
                _ => "changed".into(),
            };
            if of(&desired) == of(&case.desired) {
                wrong.push(format!("{name}, digest: {pointer}"));
            }
            if GenericMatcher::new().matches(&desired, &case.actual).is_equal() {
                wrong.push(format!("{name}, generic: {pointer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
