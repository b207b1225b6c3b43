//! All that is wrong, told at once, with its place.

use super::{ConfigEntry, of_file, of_variables, resolved, told};

const WRONG: &str = "operator:
  chek-crd: true
  check-crd: yes
  reconciliation:
    concurrent-threads: 0
    termination-timeout: 40
  reconciliation.concurrent-threads: 5
  clone-secondary-resources-when-getting-from-cache: true
  http-address: \"8080\"
  namespaces: [a, '']
  workflow.executor-threads:
  leader-election: &x { lease-name: ' ' }
  informer: *x
  controller:
    page:
      retry.max-attempts: 3
    pages:
      label-selector: a=1
      informer.label-selector: a=2
      retry: { max-attemps: 3, initial-interval: 0s, interval-multiplier: 0.5, max-interval: 1 month }
      informer.list-limit: 0
josdk:
  check-crd: true
controller.pages.finalizer: a/b
metrics: { enabled: true }
";

#[test]
fn everything_that_is_wrong_with_a_file_is_told_at_once_with_its_line() {
    let (entries, mut mistakes) = of_file(WRONG);
    mistakes.extend(resolved(&[entries]).1);
    for mistake in &mistakes {
        assert!(mistake.what().starts_with("operator.yaml:"), "{mistake}");
    }
    insta::assert_snapshot!("wrong_file", told(&mistakes));
}

#[test]
fn what_is_no_yaml_or_no_mapping_is_told_with_its_line() {
    let mut all = String::new();
    for text in [
        "operator:\n  check-crd: true\n   a: b\n",
        "- operator\n",
        "text\n",
        "? [a, b]\n: c\noperator: { check-crd: true }\n",
        "operator: { check-crd: true }\n---\noperator: { check-crd: false }\n",
        "operator: { namespaces: [a, [b]] }\n",
    ] {
        let (_, mistakes) = of_file(text);
        assert!(!mistakes.is_empty(), "{text}");
        all += &told(&mistakes);
    }
    insta::assert_snapshot!("no_yaml", all);
}

#[test]
fn wrong_variables_are_told_by_their_names() {
    let controllers = ["web-page", "web.page"].map(str::to_owned);
    let (entries, mut mistakes) = of_variables(
        &[
            ("OPERATOR_CHECK_CRDS", "true"),
            ("OPERATOR_REPLICAS", "3"),
            // Of a Service it would be `tcp://…`.
            ("OPERATOR_HTTP_PORT", "8080"),
            ("OPERATOR_CONTROLLER_WEB_PAGE_FINALIZER", "a.b/c"),
            ("OPERATOR_WORKFLOW_EXECUTOR_THREADS", ""),
        ],
        &controllers,
    );
    mistakes.extend(resolved(&[entries]).1);
    insta::assert_snapshot!("wrong_variables", told(&mistakes));
}

#[test]
fn what_is_set_twice_in_one_source_is_told_with_both_places() {
    let entry = |key: &str, value: &str, place: &str| ConfigEntry::new(key, value, place);
    let source = vec![
        entry("operator.controller.web.label-selector", "a=1", "first"),
        entry("operator.controller.web.informer.label-selector", "a=2", "second"),
        entry("operator.check-crd", "true", "third"),
        entry("operator.check-crd", "true", "fourth"),
    ];
    let (_, mistakes) = resolved(&[source]);
    let told: Vec<String> =
        mistakes.iter().map(|mistake| format!("{}; {}", mistake.what(), mistake.why())).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("second:") && told[0].contains("first sets the same"), "{told:?}");
    assert!(told[1].starts_with("fourth:") && told[1].contains("third sets it as well"), "{told:?}");
}

#[test]
fn a_wrong_value_is_told_even_if_another_source_wins() {
    let source = |value: &str| vec![ConfigEntry::new("operator.check-crd", value, value)];
    let (_, mistakes) = resolved(&[source("maybe"), source("true")]);
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
}
