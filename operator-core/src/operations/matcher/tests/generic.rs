use serde_json::{Value, json};

use super::{
    super::{Comparison, GenericMatcher, Match, fields::MAX_PATHS},
    differs,
};

#[expect(clippy::needless_pass_by_value, reason = "literals read better without a reference")]
fn matched(matcher: &GenericMatcher, desired: Value, actual: Value) -> Match {
    matcher.matches(&desired, &actual)
}

#[test]
fn additions_are_tolerated_unless_all_must_be_equal() {
    for (desired, actual, path) in [
        (json!({ "spec": { "a": 1 } }), json!({ "spec": { "a": 1, "b": 2 } }), "spec.b"),
        (json!({ "data": {} }), json!({ "data": { "a": "1" } }), "data.a"),
        (json!({}), json!({ "rules": [1] }), "rules"),
        (json!({ "spec": [1, 3] }), json!({ "spec": [1, 2, 3] }), "spec[1]"),
        (json!({ "spec": [{ "a": 1 }] }), json!({ "spec": [{ "b": 1 }, { "a": 1, "b": 2 }] }), "spec[0].a"),
    ] {
        assert_eq!(GenericMatcher::new().matches(&desired, &actual), Match::Equal, "{desired}");
        let exact = GenericMatcher::new().comparison(Comparison::Equal);
        let Match::Differs(paths) = exact.matches(&desired, &actual) else { panic!("{desired}") };
        assert_eq!(paths[0], path, "{desired}");
        assert_eq!(exact.matches(&actual, &actual), Match::Equal, "{actual}");
    }
}

#[test]
fn what_is_desired_must_be_there() {
    let matcher = GenericMatcher::new();
    for (desired, actual, paths) in [
        (json!({ "spec": { "a": 1 } }), json!({ "spec": {} }), ["spec.a"]),
        (json!({ "spec": { "a": 1 } }), json!({}), ["spec"]),
        (json!({ "spec": { "a": 1 } }), json!({ "spec": { "a": 2 } }), ["spec.a"]),
        (json!({ "spec": { "a": 1 } }), json!({ "spec": { "a": "1" } }), ["spec.a"]),
        (json!({ "spec": { "a": {} } }), json!({ "spec": {} }), ["spec.a"]),
        (json!({ "spec": [1, 2] }), json!({ "spec": [1] }), ["spec[1]"]),
        (json!({ "data": { "a.b": "1" } }), json!({ "data": {} }), ["data[a.b]"]),
    ] {
        assert_eq!(matcher.matches(&desired, &actual), differs(&paths), "{desired} {actual}");
    }
    assert_eq!(
        matched(&matcher, json!({ "spec": [1, 2] }), json!({ "spec": [2, 1] })),
        differs(&["spec[0]", "spec[1]"])
    );
}

#[test]
fn nothing_is_nothing_in_every_spelling() {
    for exact in [false, true] {
        let comparison = if exact { Comparison::Equal } else { Comparison::ToleratingAdditions };
        let matcher = GenericMatcher::new().comparison(comparison);
        let nothing =
            json!({ "data": {}, "spec": { "a": null, "list": [], "nodeSelector": {}, "one": 1.0 } });
        assert_eq!(matcher.matches(&nothing, &json!({ "spec": { "one": 1 } })), Match::Equal);
        assert_eq!(matcher.matches(&json!({ "spec": { "one": 1 } }), &nothing), Match::Equal);
    }
}

#[test]
fn an_ignored_path_is_ignored_by_whole_segments_and_all_else_is_compared() {
    let ignoring =
        |pointer: &str| GenericMatcher::new().comparison(Comparison::equal_except([pointer, "/spec/other"]));
    let desired = || json!({ "spec": { "size": 1, "sizeFoo": 1, "a/b": 1, "items": [{ "x": 1, "y": 1 }] } });
    let actual = |pointer: &str, value: i32| {
        let mut actual = desired();
        *actual.pointer_mut(pointer).unwrap() = value.into();
        actual
    };
    assert_eq!(matched(&ignoring("/spec/size"), desired(), actual("/spec/size", 2)), Match::Equal);
    assert_eq!(
        matched(&ignoring("/spec/size"), desired(), actual("/spec/sizeFoo", 2)),
        differs(&["spec.sizeFoo"])
    );
    assert_eq!(matched(&ignoring("/spec"), desired(), actual("/spec/items/0/x", 2)), Match::Equal);
    assert_eq!(matched(&ignoring("spec/a~1b"), desired(), actual("/spec/a~1b", 2)), Match::Equal);
    assert_eq!(matched(&ignoring("/spec/items/0/x"), desired(), actual("/spec/items/0/x", 2)), Match::Equal);
    assert_eq!(matched(&ignoring("/spec/items/0"), desired(), actual("/spec/items/0/y", 2)), Match::Equal);
    assert_eq!(
        matched(&ignoring("/spec/items/0/x"), desired(), actual("/spec/items/0/y", 2)),
        differs(&["spec.items[0].y"])
    );
    let mut more = desired();
    more["spec"]["added"] = 1.into();
    assert_eq!(matched(&ignoring("/spec/size"), desired(), more), differs(&["spec.added"]));
}

#[test]
fn of_the_metadata_only_labels_and_annotations_count() {
    let object =
        |labels: Value, name: &str| json!({ "metadata": { "labels": labels, "name": name, "uid": name } });
    let tolerant = GenericMatcher::new();
    let strict = GenericMatcher::new().labels_and_annotations_equality(true);
    for (desired, actual, tolerated, strictly) in [
        (json!({ "a": "1" }), json!({ "a": "1" }), Match::Equal, Match::Equal),
        (json!({ "a": "1" }), json!({ "a": "1", "b": "2" }), Match::Equal, differs(&["metadata.labels.b"])),
        (json!({}), json!({ "b": "2" }), Match::Equal, differs(&["metadata.labels.b"])),
        (json!(null), json!(null), Match::Equal, Match::Equal),
        (json!({ "a": "1" }), json!(null), differs(&["metadata.labels.a"]), differs(&["metadata.labels.a"])),
        (
            json!({ "a": "1" }),
            json!({ "a": "2" }),
            differs(&["metadata.labels.a"]),
            differs(&["metadata.labels.a"]),
        ),
    ] {
        let (desired, actual) = (object(desired, "one"), object(actual, "other"));
        assert_eq!(tolerant.matches(&desired, &actual), tolerated, "{desired} {actual}");
        assert_eq!(strict.matches(&desired, &actual), strictly, "{desired} {actual}");
    }
}

#[test]
fn type_and_status_are_not_compared_and_a_status_by_itself_is() {
    let desired = json!({ "apiVersion": "v2", "kind": "B", "status": { "ready": true } });
    let actual = json!({ "apiVersion": "v1", "kind": "A", "status": { "ready": false, "more": 1 } });
    assert_eq!(GenericMatcher::new().comparison(Comparison::Equal).matches(&desired, &actual), Match::Equal);
    assert_eq!(GenericMatcher::match_status(&desired, &actual), differs(&["status.ready"]));
    assert_eq!(GenericMatcher::match_status(&json!({ "status": { "more": 1 } }), &actual), Match::Equal);
    assert_eq!(GenericMatcher::match_status(&json!({}), &actual), Match::Equal);
    assert_eq!(GenericMatcher::match_status(&desired, &json!({})), differs(&["status"]));
}

#[test]
fn the_number_of_paths_is_bounded() {
    let object = |value: u32| json!({ "data": (0..50).map(|n| (format!("k{n}"), value.into())).collect::<serde_json::Map<_, _>>() });
    let Match::Differs(paths) = GenericMatcher::new().matches(&object(1), &object(2)) else {
        panic!("equal")
    };
    assert_eq!(paths.len(), MAX_PATHS);
}
