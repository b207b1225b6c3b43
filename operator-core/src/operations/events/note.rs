//! What an Event says, its name, and how many of them a primary may have. Pure.
//!
//! The quota is that of client-go's spam filter: a burst for each object, then one in each interval.

use std::{num::NonZeroU32, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{api::core::v1::Event, apimachinery::pkg::apis::meta::v1::Time};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    environment::{Now, Quota, QuotaState},
    resource::{LONGEST_NAME, ObjectKey, ResourceType, Uid, cut, cut_at, digits},
};

/// The namespace of Events about cluster-scoped objects: the server takes them in no other one.
const OF_CLUSTER_SCOPED: &str = "default";

/// As many as the server takes, in bytes.
const LONGEST_MESSAGE: usize = 1024;
const LONGEST_REASON: usize = 128;

/// How many digits of the hash are in the name.
const DIGITS: usize = 32;

/// The type of Events.
pub(super) fn kind() -> ResourceType {
    ResourceType::of::<Event>()
}

/// The object that an Event is about.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) kind: ResourceType,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
    /// The state that the run works on; `None` if it is gone.
    pub(crate) version: Option<String>,
    /// The primary that has made it, if it isn't one.
    pub(crate) primary: Option<ObjectKey>,
}

impl About {
    fn reference(&self) -> Value {
        let Self { kind, key, uid, version, .. } = self;
        let mut reference = json!({
            "apiVersion": kind.api_version(), "kind": kind.kind(), "name": key.name(), "uid": uid.as_str(),
        });
        for (field, value) in [("namespace", key.namespace()), ("resourceVersion", version.as_deref())] {
            if let Some(value) = value {
                reference[field] = value.into();
            }
        }
        reference
    }
}

/// Whether it needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// Normal, and not forwarded.
    Trace,
    Normal,
    Warning,
}

impl Severity {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Trace | Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// An Event to be written.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) about: About,
    pub(super) severity: Severity,
    pub(super) reason: String,
    message: String,
    key: Option<String>,
}

/// Who writes it, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reporter<'r> {
    pub(super) component: &'r str,
    /// The machine or pod; empty if that is unknown.
    pub(super) instance: &'r str,
    pub(super) now: Timestamp,
}

impl Note {
    pub(super) fn new(
        about: About,
        severity: Severity,
        reason: String,
        message: String,
        key: Option<String>,
    ) -> Self {
        let (reason, message) = (cut(reason, LONGEST_REASON), cut(message, LONGEST_MESSAGE));
        Self { about, severity, reason, message, key }
    }

    /// Where it is, with the name that the same Event always has.
    pub(super) fn place(&self, component: &str) -> ObjectKey {
        let About { kind, key, uid, .. } = &self.about;
        let what = self.key.as_ref().unwrap_or(&self.message);
        let parts =
            [kind.kind(), uid.as_str(), self.severity.as_str(), &self.reason, component, what].join("\0");
        let hash = digits(Sha256::digest(parts), DIGITS);
        let object = cut_at(key.name(), LONGEST_NAME - DIGITS - ".".len());
        let namespace = key.namespace().unwrap_or(OF_CLUSTER_SCOPED);
        ObjectKey::namespaced(namespace, &format!("{object}.{hash}"))
    }

    /// The whole Event, the first time.
    pub(super) fn body(&self, place: &ObjectKey, reporter: Reporter<'_>) -> Value {
        let mut body = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": { "name": place.name(), "namespace": place.namespace() },
            "involvedObject": self.about.reference(),
            "type": self.severity.as_str(),
            "reason": self.reason,
            "message": self.message,
            "count": 1,
            "firstTimestamp": Time(reporter.now),
            "lastTimestamp": Time(reporter.now),
            // The column FROM of kubectl.
            "source": { "component": reporter.component },
            "reportingComponent": reporter.component,
        });
        if !reporter.instance.is_empty() {
            body["reportingInstance"] = reporter.instance.into();
        }
        body
    }

    /// Whether it is forwarded.
    pub(super) fn is_forwarded(&self) -> bool {
        self.severity != Severity::Trace
    }

    /// The form in which Flux's notification controller takes it.
    pub(super) fn notification(&self, reporter: Reporter<'_>) -> Value {
        json!({
            "involvedObject": self.about.reference(),
            "severity": if self.severity == Severity::Warning { "error" } else { "info" },
            "timestamp": Time(reporter.now),
            "message": self.message,
            "reason": self.reason,
            "reportingController": reporter.component,
            "reportingInstance": reporter.instance,
        })
    }

    /// What changes when it happens again, bound to the state that was counted: the Event that is there already.
    pub(super) fn again(&self, known: &Event, now: Timestamp) -> Value {
        json!({
            "metadata": { "resourceVersion": known.metadata.resource_version },
            "count": known.count.unwrap_or(1).saturating_add(1),
            "lastTimestamp": Time(now),
            // With a key of its own it may have changed.
            "message": self.message,
        })
    }
}

/// The number of Events that a primary may have at once.
const BURST: NonZeroU32 = NonZeroU32::new(25).expect("it is not zero");

/// The number of warnings that it may have beside them: what has gone well must not hide what hasn't.
const WARNINGS: NonZeroU32 = NonZeroU32::new(5).expect("it is not zero");

/// The time after which it may have one more.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// What is left of a primary's quota.
#[derive(Debug, Default)]
pub(super) struct EventQuota {
    all: Option<QuotaState>,
    /// Used once nothing else is left.
    warnings: Option<QuotaState>,
}

impl EventQuota {
    /// Takes one. Returns whether there was one.
    pub(super) fn take(&mut self, severity: Severity, now: Now) -> bool {
        let of = |quota: &mut Option<QuotaState>, burst| {
            quota.get_or_insert_with(|| Quota::every(INTERVAL, burst).start(now)).take(now).is_ok()
        };
        of(&mut self.all, BURST) || severity == Severity::Warning && of(&mut self.warnings, WARNINGS)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Node, Pod};
    use proptest::prelude::*;

    use super::*;
    use crate::resource::KubeObject;

    fn about<K: KubeObject<DynamicType: Default>>(key: ObjectKey) -> About {
        let (uid, version) = (Uid::new("u1"), Some("7".to_owned()));
        About { kind: ResourceType::of::<K>(), key, uid, version, primary: None }
    }

    fn pod() -> About {
        about::<Pod>(ObjectKey::namespaced("shop", "one"))
    }

    fn note(about: About, reason: &str, message: &str, key: Option<&str>) -> Note {
        Note::new(about, Severity::Normal, reason.to_owned(), message.to_owned(), key.map(str::to_owned))
    }

    fn name(note: &Note) -> String {
        note.place("web").name().to_owned()
    }

    #[test]
    fn the_name_follows_from_what_is_said_of_what_by_whom() {
        let first = note(pod(), "Created", "a page", None);
        let hash = digits(Sha256::digest("Pod\0u1\0Normal\0Created\0web\0a page"), 32);
        assert_eq!(first.place("web"), ObjectKey::namespaced("shop", &format!("one.{hash}")));
        assert_eq!(name(&first), name(&note(About { version: None, ..pod() }, "Created", "a page", None)));
        let warning = Note { severity: Severity::Warning, ..first.clone() };
        let others = [
            name(&warning),
            name(&note(pod(), "Changed", "a page", None)),
            name(&note(pod(), "Created", "another page", None)),
            name(&note(About { uid: Uid::new("u2"), ..pod() }, "Created", "a page", None)),
            first.place("other").name().to_owned(),
        ];
        assert!(!others.contains(&name(&first)), "{others:?}");
        let keyed = |message| name(&note(pod(), "Slow", message, Some("slow")));
        assert_eq!(keyed("after 3 s"), keyed("after 4 s"));
    }

    #[test]
    fn an_event_about_a_cluster_scoped_object_is_in_the_namespace_default() {
        let of_node = note(about::<Node>(ObjectKey::cluster_scoped("n1")), "Full", "no room", None);
        let place = of_node.place("web");
        assert_eq!(place.namespace(), Some("default"));
        let now = Timestamp::UNIX_EPOCH;
        let body = of_node.body(&place, Reporter { component: "web", instance: "", now });
        assert_eq!(
            body["involvedObject"],
            json!({ "apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u1", "resourceVersion": "7" })
        );
        assert!(body.get("reportingInstance").is_none());
    }

    #[test]
    fn a_notification_has_the_form_that_flux_takes() {
        let now = Timestamp::from_second(3).unwrap();
        let reporter = Reporter { component: "web", instance: "web-0", now };
        let of = |severity| Note { severity, ..note(pod(), "Slow", "after 4 s", None) };
        let expected = json!({
            "involvedObject": {
                "apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "one", "uid": "u1", "resourceVersion": "7",
            },
            "severity": "error", "timestamp": "1970-01-01T00:00:03Z", "reason": "Slow", "message": "after 4 s",
            "reportingController": "web", "reportingInstance": "web-0",
        });
        assert_eq!(of(Severity::Warning).notification(reporter), expected);
        assert_eq!(of(Severity::Normal).notification(reporter)["severity"], "info");
        let forwarded =
            [Severity::Trace, Severity::Normal, Severity::Warning].map(|of_it| of(of_it).is_forwarded());
        assert_eq!(forwarded, [false, true, true]);
        assert_eq!(
            name(&of(Severity::Trace)),
            name(&of(Severity::Normal)),
            "the cluster knows no third type"
        );
    }

    #[test]
    fn a_repetition_is_counted_with_its_time_and_bound_to_the_version() {
        let known = |count: Value| -> Event {
            serde_json::from_value(json!({ "metadata": { "resourceVersion": "7" }, "count": count })).unwrap()
        };
        let now = Timestamp::from_second(3).unwrap();
        let slow = note(pod(), "Slow", "after 4 s", Some("slow"));
        let again = slow.again(&known(json!(2)), now);
        let expected = json!({
            "metadata": { "resourceVersion": "7" }, "count": 3,
            "lastTimestamp": "1970-01-01T00:00:03Z", "message": "after 4 s",
        });
        assert_eq!(again, expected);
        assert_eq!(slow.again(&known(Value::Null), now)["count"], 2);
        assert_eq!(slow.again(&known(json!(i32::MAX)), now)["count"], i32::MAX);
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn texts_are_bounded_and_short_ones_are_kept(
            name in "[a-z]{1,253}", reason in "\\PC{0,200}", message in "\\PC{0,1500}",
        ) {
            let one = note(about::<Pod>(ObjectKey::namespaced("shop", &name)), &reason, &message, None);
            prop_assert!(one.message.len() <= 1024 && one.reason.len() <= 128);
            prop_assert_eq!(one.message == message, message.len() <= 1024);
            prop_assert_eq!(one.reason == reason, reason.len() <= 128);
            let place = one.place("web");
            prop_assert!(place.name().len() <= 253);
            prop_assert!(place.name().starts_with(&name[..name.len().min(220)]));
        }
    }

    fn at(seconds: u64) -> Now {
        Now::at(Duration::from_secs(seconds))
    }

    #[test]
    fn a_primary_has_a_burst_and_then_one_now_and_then() {
        let mut quota = EventQuota::default();
        let mut passed = |severity, seconds| (0..100).filter(|_| quota.take(severity, at(seconds))).count();
        let all = [0, 299, 300, 900].map(|seconds| passed(Severity::Normal, seconds));
        assert_eq!(all, [25, 0, 1, 2]);
        let warnings = [900, 1199, 1200].map(|seconds| passed(Severity::Warning, seconds));
        assert_eq!(warnings, [5, 0, 2], "some beside the others, and one of each quota later");
    }
}
