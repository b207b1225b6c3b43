//! What is read from files and variables, and which of them wins.

use std::time::Duration;

use super::{ConfigEntry, keys, names, of_file, of_variables, resolved, sound, value, variables};

const SECOND: Duration = Duration::from_secs(1);

/// Every key, with a value that can be.
const ALL: &str = "
operator:   # nested, dotted, in flow style
  check-crd: true
  use-ssa-to-patch-primary-resource: false
  reconciliation: { concurrent-threads: 7, termination-timeout: PT40S }
  workflow.executor-threads: 3
  informer:
    cache-sync-timeout: 1m 30s
    stop-on-error-during-startup: true
  dependent-resources.ssa-based-create-update-match: false
  leader-election:
    enabled: true
    lease-name: 'web-operator'
    lease-namespace: \"operators\"
    identity: me
    lease-duration: 30 seconds
    renew-deadline: PT20S
    retry-period: 5s
  http-address: 127.0.0.1:8080
  namespaces: [shop, blog]
  controller:
    pages:
      finalizer: example.com/pages
      generation-aware: false
      label-selector: app=web,tier in (front, back)
      max-reconciliation-interval: P1D
      field-manager: pager
      informer.list-limit: 100
      shard-selector: shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
      trigger-reconciler-on-all-events: true
      retry: { max-attempts: 3, initial-interval: 100ms, interval-multiplier: 2, max-interval: 1h }
      rate-limiter: { limit-for-period: 10, refresh-period: 1m }
operator.controller.pages.old.retry.max-attempts: 0
";

#[test]
fn nested_and_dotted_keys_of_a_file_are_the_same() {
    let all = sound(ALL);
    let operator = &all.operator;
    assert_eq!(value(&operator.check_definitions), Some(true));
    assert_eq!(value(&operator.use_ssa_to_patch_primary), Some(false));
    assert_eq!(value(&operator.max_concurrent_reconciles), Some(7));
    assert_eq!(value(&operator.termination_timeout), Some(40 * SECOND));
    assert_eq!(value(&operator.max_concurrent_dependents), Some(3));
    assert_eq!(value(&operator.cache_sync_timeout), Some(90 * SECOND));
    assert_eq!(value(&operator.stop_on_source_error_at_start), Some(true));
    assert_eq!(value(&operator.use_ssa_for_dependents), Some(false));
    assert_eq!(value(&operator.http_address), Some(([127, 0, 0, 1], 8080).into()));
    assert_eq!(value(&operator.namespaces), Some(vec!["shop".to_owned(), "blog".to_owned()]));
    let election = &operator.election;
    assert_eq!(value(&election.enabled), Some(true));
    assert_eq!(value(&election.lease_name).as_deref(), Some("web-operator"));
    assert_eq!(value(&election.lease_namespace).as_deref(), Some("operators"));
    assert_eq!(value(&election.identity).as_deref(), Some("me"));
    assert_eq!(value(&election.lease_duration), Some(30 * SECOND));
    assert_eq!(value(&election.renew_deadline), Some(20 * SECOND));
    assert_eq!(value(&election.retry_period), Some(5 * SECOND));
    let pages = &all.controllers["pages"];
    assert_eq!(value(&pages.finalizer).as_deref(), Some("example.com/pages"));
    assert_eq!(value(&pages.generation_aware), Some(false));
    assert_eq!(value(&pages.label_selector).as_deref(), Some("app=web,tier in (front, back)"));
    assert_eq!(value(&pages.max_reconciliation_interval), Some(24 * 60 * 60 * SECOND));
    assert_eq!(value(&pages.field_manager).as_deref(), Some("pager"));
    assert_eq!(value(&pages.all_events), Some(true));
    assert_eq!(value(&pages.page_size), Some(100));
    assert!(value(&pages.shard_selector).is_some_and(|selector| selector.starts_with("shardRange(")));
    assert_eq!(value(&pages.retry.max_attempts), Some(3));
    assert_eq!(value(&pages.retry.initial_interval), Some(Duration::from_millis(100)));
    assert_eq!(value(&pages.retry.multiplier), Some(2.0));
    assert_eq!(value(&pages.retry.max_interval), Some(60 * 60 * SECOND));
    assert_eq!(value(&pages.rate_limiter.limit), Some(10));
    assert_eq!(value(&pages.rate_limiter.period), Some(60 * SECOND));
    // A name may have dots, and be the beginning of another one.
    assert_eq!(value(&all.controllers["pages.old"].retry.max_attempts), Some(0));
    assert_eq!(all.places["operator.controller.pages.retry.max-attempts"], "operator.yaml:31");
}

#[test]
fn each_key_has_a_variable_that_sets_the_same() {
    let (entries, _) = of_file(ALL);
    // `pages.old` and a controller `pages-old` would share theirs; these two don't.
    let set: Vec<(String, String)> =
        entries.iter().map(|entry| (variables::variable(&entry.key), entry.value.clone())).collect();
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (&**name, &**value)).collect();
    let (of_variables, mistakes) = of_variables(&set, &names());
    assert_eq!(mistakes, []);
    let sorted = |entries: &[ConfigEntry]| {
        let mut sorted: Vec<_> =
            entries.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect();
        sorted.sort();
        sorted
    };
    assert_eq!(sorted(&of_variables), sorted(&entries));
    assert!(set.contains(&("OPERATOR_CONTROLLER_PAGES_RETRY_MAX_ATTEMPTS", "3")), "{set:?}");
}

#[test]
fn a_later_source_wins_key_by_key() {
    let entry = |key: &str, value: &str, place: &str| ConfigEntry::new(key, value, place);
    let first = vec![
        entry("operator.workflow.executor-threads", "1", "first"),
        entry("operator.reconciliation.concurrent-threads", "1", "first"),
        entry("operator.controller.web.label-selector", "a=1", "first"),
    ];
    let second = vec![
        entry("operator.workflow.executor-threads", "2", "second"),
        entry("operator.controller.web.informer.label-selector", "a=2", "second"),
    ];
    let third = vec![entry("operator.workflow.executor-threads", "3", "third")];
    let (resolved, mistakes) = resolved(&[first, second, third]);
    assert_eq!(mistakes, []);
    assert_eq!(value(&resolved.operator.max_concurrent_dependents), Some(3));
    assert_eq!(value(&resolved.operator.max_concurrent_reconciles), Some(1));
    assert_eq!(value(&resolved.controllers["web"].label_selector).as_deref(), Some("a=2"));
    assert_eq!(resolved.places["operator.workflow.executor-threads"], "third");
    assert_eq!(resolved.places["operator.controller.web.label-selector"], "second");
}

#[test]
fn variables_that_are_meant_for_others_are_left_alone() {
    let others = [
        ("PATH", "/bin"),
        ("OPERATOR", "x"),
        ("OPERATOR_CONDITION_NAME", "web.v1"),
        ("OPERATOR_NAME", "web"),
        ("OPERATOR_SERVICE_HOST", "10.0.0.1"),
        ("OPERATOR_SERVICE_PORT", "443"),
        ("OPERATOR_SERVICE_PORT_METRICS", "443"),
        ("OPERATOR_PORT", "tcp://10.0.0.1:443"),
        ("OPERATOR_PORT_443_TCP", "tcp://10.0.0.1:443"),
        ("OPERATOR_WEBHOOK_PORT_443_TCP_PROTO", "tcp"),
        ("OPERATOR_WEBHOOK_PORT_443_TCP_ADDR", "10.0.0.1"),
    ];
    assert_eq!(of_variables(&others, &names()), (Vec::new(), Vec::new()));
}

#[test]
fn every_key_can_be_found_by_its_name() {
    let known = keys::known(&names());
    assert_eq!(known.len(), keys::OF_OPERATOR.len() + 3 * keys::OF_CONTROLLER.len());
    let entries: Vec<ConfigEntry> =
        known.iter().map(|key| ConfigEntry::new(key.clone(), "no such value", "here")).collect();
    // Each is told to be wrong, or to have no meaning; none to be unknown.
    let (_, mistakes) = resolved(&[entries]);
    assert!(mistakes.iter().all(|mistake| !mistake.what().contains("no key")), "{mistakes:#?}");
}

#[test]
fn files_without_a_setting_set_nothing() {
    for text in ["", "# nothing\n", "---\n", "operator: {}\n", "operator:\n  controller: {}\n"] {
        let (entries, mistakes) = of_file(text);
        assert_eq!((entries, mistakes), (Vec::new(), Vec::new()), "{text:?}");
    }
}
