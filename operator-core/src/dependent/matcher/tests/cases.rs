//! The table: each file of `cases` holds an object as it was applied by the manager `test`, the same as a real API server
//! has stored it, and what becomes of the match when one of them is changed.

use std::{fs, path::Path};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde::Deserialize;
use serde_json::Value;

use super::super::{GenericMatcher, Match, matches_applied};

pub(super) const MANAGER: &str = "test";

/// One file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) desired: Value,
    pub(super) actual: Value,
    /// How the two match as they are.
    ssa: Expected,
    generic: Expected,
    #[serde(default)]
    changes: Vec<Change>,
}

/// One change of the objects, as JSON patches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    what: String,
    #[serde(default)]
    desired: json_patch::Patch,
    #[serde(default)]
    actual: json_patch::Patch,
    ssa: Expected,
    generic: Expected,
}

/// A match as it is written in a case.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected {
    /// `equal` or `never applied`.
    Word(String),
    Paths(Vec<String>),
}

impl Expected {
    fn into_match(self) -> Match {
        match self {
            Self::Paths(paths) => Match::Differs(paths),
            Self::Word(word) if word == "equal" => Match::Equal,
            Self::Word(word) if word == "never applied" => Match::NeverApplied,
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dependent/matcher/tests/cases");
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

fn check(
    wrong: &mut Vec<String>,
    what: &str,
    desired: &Value,
    actual: &Value,
    expected: (Expected, Expected),
) {
    let applied = |managed: &[ManagedFieldsEntry]| matches_applied(desired, actual, managed, MANAGER);
    let (tree, by_content) = (managed_fields(actual), GenericMatcher::new().matches(desired, actual));
    let ssa = expected.0.into_match();
    for (matcher, found, expected) in [
        ("ssa", applied(&tree), &ssa),
        ("ssa as it is cached", applied(&as_cached(&tree)), &ssa),
        ("generic", by_content, &expected.1.into_match()),
    ] {
        if found != *expected {
            wrong.push(format!("{what}, {matcher}: {found:?} instead of {expected:?}"));
        }
    }
}

#[test]
fn every_case_matches_as_it_says() {
    let mut wrong = Vec::new();
    let cases = all();
    assert!(cases.len() > 15, "{}", cases.len());
    for (name, case) in cases {
        check(&mut wrong, &name, &case.desired, &case.actual, (case.ssa, case.generic));
        for change in case.changes {
            let what = format!("{name}: {}", change.what);
            let (mut desired, mut actual) = (case.desired.clone(), case.actual.clone());
            json_patch::patch(&mut desired, &change.desired)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            json_patch::patch(&mut actual, &change.actual).unwrap_or_else(|error| panic!("{what}: {error}"));
            check(&mut wrong, &what, &desired, &actual, (change.ssa, change.generic));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
            let managed = managed_fields(&case.actual);
            if matches_applied(&desired, &case.actual, &managed, MANAGER).is_equal() {
                wrong.push(format!("{name}, ssa: {pointer}"));
            }
            if GenericMatcher::new().matches(&desired, &case.actual).is_equal() {
                wrong.push(format!("{name}, generic: {pointer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
