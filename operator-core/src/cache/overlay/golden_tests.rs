//! The golden cases of the specification, one row each, and what differs from them on purpose.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time};

use super::*;
use crate::cache::{ChangeKind, tests::known::kept};

fn map(version: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some("a".to_owned());
    object.metadata.namespace = Some("shop".to_owned());
    object.metadata.uid = Some("uid-1".to_owned());
    object.metadata.resource_version = Some(version.to_owned());
    object
}

fn object(version: u64) -> Arc<TextObject> {
    kept(&map(&version.to_string()))
}

fn update(version: u64) -> Observed {
    Observed { old: Some(object(version - 1)), new: object(version), initial: false, listed: false }
}

fn listed(version: u64) -> Observed {
    Observed { listed: true, ..update(version) }
}

fn added(version: u64) -> Observed {
    Observed { old: None, ..update(version) }
}

/// A window with these waiting events, these own versions and this number of writes under way.
fn window(events: impl IntoIterator<Item = Observed>, own: &[u64], active: usize) -> Window {
    let mut window = Window::default();
    window.active = active;
    for event in events {
        let version = event.new.resource_version().unwrap();
        window.buffer(version, event);
    }
    for version in own {
        window.own(ResourceVersion::new(*version), Some("uid-1".into()));
    }
    window
}

/// A change in short: `+5`, `4>5` or `-5`.
fn short(change: &ChangeKind<TextObject>) -> String {
    let version = |object: &Arc<TextObject>| object.version().unwrap_or_default().to_owned();
    match change {
        ChangeKind::Added { new, .. } => format!("+{}", version(new)),
        ChangeKind::Updated { old, new } => format!("{}>{}", version(old), version(new)),
        ChangeKind::Deleted { last, .. } => format!("-{}", version(last)),
    }
}

#[test]
fn golden_cases() {
    let updates = |versions: &[u64]| versions.iter().copied().map(update).collect::<Vec<_>>();
    // The state at the check, the change that is handed over, and whether the window is gone.
    let cases: [(&str, Window, Option<&str>, bool); 11] = [
        ("E{5} O{5} A0", window(updates(&[5]), &[5], 0), None, true),
        ("E{4,5} O{5} A0", window(updates(&[4, 5]), &[5], 0), Some("3>5"), true),
        ("E{4,5} O{4} A0", window(updates(&[4, 5]), &[4], 0), Some("3>5"), true),
        ("E{4} O{5} A0", window(updates(&[4]), &[5], 0), None, false),
        ("E{4} O{} A1", window(updates(&[4]), &[], 1), None, false),
        ("E{4} O{} A0", window(updates(&[4]), &[], 0), Some("3>4"), true),
        ("E{1,2,3,4} O{1,3} A1", window(updates(&[1, 2, 3, 4]), &[1, 3], 1), Some("0>3"), false),
        ("E{1,2,3,4} O{1,3,5} A0", window(updates(&[1, 2, 3, 4]), &[1, 3, 5], 0), Some("0>4"), false),
        ("E{5 listed} O{5} A0", window([listed(5)], &[5], 0), Some("4>5"), true),
        ("E{5 added} O{5} A0", window([added(5)], &[5], 0), None, true),
        // JOSDK says "updated from 4 to 5", which an update filter could drop though nobody has heard of the object.
        ("E{4 added,5} O{5} A0", window([added(4), update(5)], &[5], 0), Some("+5"), true),
    ];
    for (case, mut window, expected, over) in cases {
        let change = window.check();
        assert_eq!(change.as_ref().map(short).as_deref(), expected, "{case}");
        assert_eq!(window.is_over(), over, "{case}");
    }
}

#[test]
fn what_stays_after_a_partial_flush_is_decided_later() {
    let mut window = window([update(1), update(2), update(3), update(4)], &[1, 3], 1);
    assert_eq!(window.check().as_ref().map(short).as_deref(), Some("0>3"));
    window.active = 0;
    assert_eq!(window.check().as_ref().map(short).as_deref(), Some("3>4"), "4 was foreign");

    let mut window = self::window([update(1)], &[1, 3], 1);
    assert!(window.check().is_none());
    window.buffer(ResourceVersion::new(3), update(3));
    window.active = 0;
    assert!(window.check().is_none());
    assert!(window.is_over());
}

/// A list may stand for several changes, even if the watch has already shown the last of them.
#[test]
fn what_a_list_shows_again_is_no_echo() {
    for (first, second) in [(update(5), listed(5)), (listed(5), update(5))] {
        let mut window = window([first, second], &[5], 0);
        assert_eq!(window.check().as_ref().map(short).as_deref(), Some("4>5"));
        assert!(window.is_over());
    }
}

fn overlay() -> Overlay {
    use crate::{cache::WatchScope, resource::ResourceType};
    Overlay::new(Scopes::new(&WatchScope::All, &ResourceType::of::<ConfigMap>()), &Indexers::default())
}

const SCOPE: ScopeIndex = ScopeIndex(0);

/// An event of the watch, as the engine passes it on.
fn watched(overlay: &mut Overlay, event: Observed) -> Vec<String> {
    let key = key();
    let version = event.new.resource_version().unwrap();
    let mut changes: Vec<_> = overlay.observed(&key, event).into_iter().collect();
    changes.extend(overlay.advance(SCOPE, version).changes);
    changes.iter().map(|change| short(&change.kind)).collect()
}

fn key() -> ObjectKey {
    ObjectKey::namespaced("shop", "a")
}

fn version(number: u64) -> Option<ResourceVersion> {
    Some(ResourceVersion::new(number))
}

#[test]
fn a_deletion_goes_out_at_once_and_a_re_creation_it_has_overtaken_is_not_swallowed() {
    // JOSDK's cases E{6 DELETED, 7 ADDED} O{7}, E{5, 9 DELETED} O{5} and E{3 DELETED} O{} A1 in one.
    let mut overlay = overlay();
    overlay.begin(&key());
    assert!(watched(&mut overlay, update(5)).is_empty());
    overlay.deleted(&key(), version(6));
    assert!(overlay.wrote(&key(), None, &object(7), None).is_empty());
    assert!(overlay.finish(&key()).is_none());
    assert_eq!(watched(&mut overlay, added(7)), Vec::<String>::new(), "created after the deletion was known");
    assert_eq!((overlay.windows(), overlay.recent.len()), (0, 0));

    // The answer to our creation overtakes the events of an earlier object.
    overlay.begin(&key());
    assert!(overlay.wrote(&key(), None, &object(12), None).is_empty());
    assert!(overlay.finish(&key()).is_none());
    assert!(watched(&mut overlay, added(10)).is_empty());
    overlay.deleted(&key(), version(11));
    assert_eq!(overlay.recent.len(), 1, "ours is newer than the deletion");
    assert_eq!(watched(&mut overlay, added(12)), ["+12"], "whoever heard of the deletion hears of ours");
    assert_eq!((overlay.windows(), overlay.recent.len()), (0, 0));
}

#[test]
fn a_mark_for_deletion_is_handed_over_even_if_it_is_ours() {
    let mut overlay = overlay();
    let mut marked = map("6");
    marked.metadata.deletion_timestamp = Some(Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH));
    let marked = kept(&marked);
    overlay.begin(&key());
    assert!(overlay.wrote(&key(), version(5), &marked, Some(&object(5))).is_empty());
    assert!(overlay.finish(&key()).is_none());
    let event = Observed { old: Some(object(5)), new: marked, initial: false, listed: false };
    assert_eq!(watched(&mut overlay, event), ["5>6"]);
}

/// A write that takes long doesn't keep anything back that has been seen.
#[test]
fn events_wait_for_a_write_and_a_write_alone_is_no_event() {
    let mut overlay = overlay();
    overlay.begin(&key());
    assert!(!overlay.has_waiting_events(SCOPE));
    assert!(watched(&mut overlay, update(5)).is_empty());
    assert!(overlay.has_waiting_events(SCOPE));
    assert_eq!(overlay.finish(&key()).map(|change| short(&change.kind)).as_deref(), Some("4>5"));
    assert!(!overlay.has_waiting_events(SCOPE));
}

#[test]
fn a_write_that_changed_nothing_swallows_no_foreign_event() {
    let mut overlay = overlay();
    overlay.begin(&key());
    assert!(watched(&mut overlay, update(4)).is_empty());
    // The write started from 4, which a foreign writer made; the server found nothing to change.
    assert!(overlay.wrote(&key(), version(4), &object(4), Some(&object(4))).is_empty());
    assert_eq!(overlay.finish(&key()).map(|change| short(&change.kind)).as_deref(), Some("3>4"));
    assert_eq!(overlay.windows(), 0);
}

#[test]
fn an_echo_belongs_to_the_same_uid() {
    let mut window = window([update(5)], &[], 0);
    window.own(ResourceVersion::new(5), Some("uid-2".into()));
    assert_eq!(window.check().as_ref().map(short).as_deref(), Some("4>5"));
}

#[test]
fn what_the_collection_has_passed_is_dropped() {
    let mut overlay = overlay();
    overlay.begin(&key());
    assert!(overlay.wrote(&key(), version(3), &object(5), Some(&object(3))).is_empty());
    assert!(overlay.finish(&key()).is_none());
    assert!(watched(&mut overlay, update(4)).is_empty(), "an own version is still awaited");
    // Version 5 doesn't match our selectors, say. What waited for it was foreign.
    assert_eq!(
        overlay
            .advance(SCOPE, ResourceVersion::new(9))
            .changes
            .iter()
            .map(|change| short(&change.kind))
            .collect::<Vec<_>>(),
        ["3>4"]
    );
    assert_eq!((overlay.windows(), overlay.recent.len()), (0, 0));
}

/// A follower of own writes would otherwise be told that an object is gone which it has just seen.
#[test]
fn only_what_was_not_shown_is_reported_as_not_shown() {
    for (shown, expected) in [(true, vec![]), (false, vec![key()])] {
        let mut overlay = overlay();
        overlay.put(&key(), &object(5), None);
        if shown {
            watched(&mut overlay, update(5));
        }
        assert_eq!(overlay.advance(SCOPE, ResourceVersion::new(9)).not_shown, expected);
        assert_eq!(overlay.recent.len(), 0);
    }
}

/// Otherwise it would be awaited forever.
#[test]
fn what_is_awaited_of_an_object_goes_with_it_to_its_new_collection() {
    use crate::{cache::WatchScope, resource::ResourceType};
    let scopes = Scopes::new(&WatchScope::All, &ResourceType::of::<ConfigMap>());
    let mut overlay = Overlay::new(scopes.clone(), &Indexers::default());
    overlay.begin(&key());
    assert!(overlay.wrote(&key(), version(4), &object(5), Some(&object(4))).is_empty());
    assert!(overlay.finish(&key()).is_none());
    let changed = scopes.change(&WatchScope::from(["shop"]));
    overlay.rescoped(&changed);
    assert_eq!((overlay.windows(), overlay.awaited(), overlay.recent.len()), (1, 1, 1));
    assert_eq!(overlay.advance(changed.new[0], ResourceVersion::new(9)).not_shown, [key()]);
    assert_eq!((overlay.windows(), overlay.awaited(), overlay.recent.len()), (0, 0, 0));
}

#[test]
fn nothing_is_kept_about_objects_that_are_not_followed_any_more() {
    use crate::{cache::WatchScope, resource::ResourceType};
    let scopes = Scopes::new(&WatchScope::All, &ResourceType::of::<ConfigMap>());
    let mut overlay = Overlay::new(scopes.clone(), &Indexers::default());
    let names = ["is-read", "is-awaited", "is-written"];
    let [read, awaited, written] = names.map(|name| ObjectKey::namespaced("shop", name));
    overlay.put(&read, &object(5), None);
    overlay.begin(&awaited);
    assert!(overlay.wrote(&awaited, version(4), &object(5), None).is_empty());
    assert!(overlay.finish(&awaited).is_none());
    overlay.begin(&written);
    assert_eq!(overlay.not_followed(), []);
    overlay.rescoped(&scopes.change(&WatchScope::from(["bank"])));
    let left: BTreeSet<_> = overlay.not_followed().into_iter().collect();
    assert_eq!(left, BTreeSet::from([read, awaited, written.clone()]));
    for key in &left {
        overlay.left(key);
    }
    assert_eq!((overlay.windows(), overlay.recent.len()), (1, 0), "a write in progress still ends");
    assert!(overlay.finish(&written).is_none());
    assert_eq!(overlay.windows(), 0);
}

#[test]
fn at_most_ten_thousand_own_versions_are_awaited() {
    let mut overlay = overlay();
    let answer = object(5);
    for number in 1..=10_002 {
        let key = ObjectKey::namespaced("shop", &number.to_string());
        overlay.begin(&key);
        assert!(overlay.wrote(&key, version(4), &answer, None).is_empty());
        assert!(overlay.finish(&key).is_none());
        assert_eq!(overlay.awaited(), number.min(10_000));
    }
}

#[test]
fn a_late_answer_does_not_bring_a_deleted_object_back() {
    let mut overlay = overlay();
    overlay.begin(&key());
    overlay.deleted(&key(), version(6));
    assert!(overlay.advance(SCOPE, ResourceVersion::new(6)).changes.is_empty());
    assert!(overlay.wrote(&key(), version(4), &object(5), None).is_empty());
    assert!(overlay.finish(&key()).is_none());
    assert_eq!((overlay.windows(), overlay.recent.len()), (0, 0));
}

#[test]
fn a_ghost_is_found_by_the_next_list() {
    let mut overlay = overlay();
    overlay.put(&key(), &object(5), None);
    assert!(overlay.take_ghosts(SCOPE, ResourceVersion::new(4), |_| false).is_empty(), "newer than the list");
    let ghosts = overlay.take_ghosts(SCOPE, ResourceVersion::new(8), |_| false);
    assert_eq!(ghosts.len(), 1);
    assert_eq!(overlay.recent.len(), 0);
}

#[test]
fn versions_that_cannot_be_compared_go_past_the_overlay() {
    let mut overlay = overlay();
    let opaque = kept(&map("abc"));
    overlay.begin(&key());
    assert!(overlay.wrote(&key(), None, &opaque, None).is_empty());
    let event = Observed { old: None, new: opaque, initial: false, listed: false };
    assert!(overlay.observed(&key(), event).is_some(), "told at once, though a write is under way");
    assert!(overlay.finish(&key()).is_none());
    assert_eq!((overlay.windows(), overlay.recent.len()), (0, 0));
}
