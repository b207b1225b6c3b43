//! Tests share their custom resources: each further type costs another copy of everything that is generic over a primary.

use crate::sources;

/// Types of custom resources that the tests declare, all together.
const MOST_TYPES: usize = 22;

/// Cut in two, so that this file declares nothing.
const DERIVE: &str = concat!("#[der", "ive(");

/// How many types a file declares.
fn declared(code: &str) -> usize {
    let derives = code.split(DERIVE).skip(1).filter_map(|rest| rest.split(')').next());
    let derives = derives.filter(|list| list.split(',').any(|item| item.trim().ends_with("CustomResource")));
    derives.count()
}

#[test]
fn types_are_counted_in_all_their_spellings() {
    let code = format!(
        "use kube::CustomResource;\n{DERIVE}CustomResource, Clone)]\nstruct A;\n\
         {DERIVE}\n    ::kube::CustomResource,\n    Debug,\n)]\nstruct B;\n\
         {DERIVE}Clone)]\nstruct C;\n"
    );
    assert_eq!(declared(&code), 2);
}

#[test]
fn tests_share_their_custom_resources() {
    let sources = sources::rust("integration-tests/tests");
    let types = sources.iter().map(|source| (declared(&source.code()), &source.path));
    let types: Vec<_> = types.filter(|(types, _)| *types > 0).collect();
    let all: usize = types.iter().map(|(types, _)| types).sum();
    assert!(all > 0, "the check finds what there is");
    assert!(
        all <= MOST_TYPES,
        "{all} types of custom resources, at most {MOST_TYPES}: use `TestResource`, `ClusterTestResource` or \
         `LateTestResource` of the fixtures: {types:#?}"
    );
}
