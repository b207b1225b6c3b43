//! How far the objects of a set are. Pure.

use jiff::Timestamp;
use serde_json::Value;

use super::policies::Hints;
use crate::{
    results::{Operation, Progress, Secondary},
    status::kstatus::{self, Kstatus, Status},
};

/// How many objects are ready, and those that aren't.
#[derive(Default)]
pub(super) struct Progressing {
    ready: usize,
    /// Those that needn't exist.
    pub(super) over: usize,
    /// With their positions.
    unready: Vec<(usize, Secondary, Kstatus)>,
}

impl Progressing {
    /// Counts an object that needn't exist.
    pub(super) fn skip(&mut self) {
        self.over += 1;
    }

    /// Counts the object at this position, after this was done about it.
    pub(super) fn see(
        &mut self,
        at: usize,
        (operation, object): (Operation, &Secondary),
        hints: &Hints,
        now: Timestamp,
    ) {
        let is_plain = object.has_no_status() && *hints == Hints::default();
        let status = if operation == Operation::Deleted {
            Kstatus {
                status: Status::Terminating,
                reason: "Recreated".into(),
                message: "is deleted, and made anew when it is gone".to_owned(),
            }
        } else {
            let json = if is_plain { None } else { object.to_json() };
            json.map_or_else(Kstatus::without_status, |json| judged(&json, hints, now))
        };
        if status.is_current() {
            self.ready += 1;
            return;
        }
        self.unready.push((at, object.clone(), status));
    }

    /// Whether all that were counted are ready.
    pub(super) fn is_ready(&self) -> bool {
        self.unready.is_empty()
    }

    /// In words, of so many; what isn't ready may wait for this reason. Of those that aren't ready, one that has failed comes first.
    fn told(&self, of: usize, waits: Option<String>) -> Kstatus {
        let count = format!("{}/{of} ready", self.ready + self.over);
        let first = self.unready.iter().min_by_key(|(at, _, status)| (status.status != Status::Failed, *at));
        match (first, waits) {
            (Some((_, object, status)), _) => {
                let kind = object.kind().map_or("", |kind| kind.kind());
                let message = format!("{count}; {kind} {}: {}", object.id(), status.message);
                Kstatus { message, ..status.clone() }
            }
            (None, Some(reason)) => Kstatus {
                status: Status::InProgress,
                reason: "Waiting".into(),
                message: format!("{count}; {reason}"),
            },
            (None, None) => Kstatus { message: count, ..Kstatus::without_status() },
        }
    }

    /// All of it, of so many. `is_whole`: the run came to the last of them.
    pub(super) fn of(self, all: usize, waits: Option<String>, is_whole: bool) -> Progress {
        let told = self.told(all, waits);
        let unready = self.unready.into_iter().map(|(_, object, status)| (object, status)).collect();
        Progress { told, is_whole, unready }
    }
}

/// Beside the rules of kstatus, what the next stage needs: a definition whose names are accepted, an API that is available, and
/// what the object's hints say.
fn judged(object: &Value, hints: &Hints, now: Timestamp) -> Kstatus {
    let status = kstatus::awaited(object, now);
    if !status.is_current() {
        return status;
    }
    let in_progress = |reason: String, message: String| Kstatus {
        status: Status::InProgress,
        reason: reason.into(),
        message,
    };
    if hints.observed_generation && object.pointer("/status/observedGeneration").is_none() {
        let message = "its generation isn't observed yet".to_owned();
        return in_progress("LatestGenerationNotObserved".to_owned(), message);
    }
    let needs: &[&str] = match (object["apiVersion"].as_str(), object["kind"].as_str()) {
        (Some("apiextensions.k8s.io/v1"), Some("CustomResourceDefinition")) => {
            &["Established", "NamesAccepted"]
        }
        (Some("apiregistration.k8s.io/v1"), Some("APIService")) => &["Available"],
        _ => &[],
    };
    let hinted = hints.ready_condition.then_some("Ready").into_iter();
    let mut needs = needs.iter().copied().chain(hinted).chain(hints.conditions.iter().map(String::as_str));
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let is_true = |name: &str| {
        let mut all = conditions.into_iter().flatten();
        all.any(|condition| condition["type"] == name && condition["status"] == "True")
    };
    match needs.find(|name| !is_true(name)) {
        Some(missing) => in_progress(format!("Not{missing}"), format!("condition {missing} isn't True")),
        None => status,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(object: &Value, hints: &Hints) -> String {
        let status = judged(object, hints, Timestamp::UNIX_EPOCH);
        format!("{} {}", status.status, status.message)
    }

    #[test]
    fn what_the_next_stage_needs_is_awaited() {
        let none = Hints::default();
        let with = |version: &str, kind: &str, conditions: &[&str]| {
            let all = conditions.iter().map(|of| json!({ "type": of, "status": "True" }));
            let status = json!({ "conditions": all.collect::<Vec<_>>() });
            json!({ "apiVersion": version, "kind": kind, "metadata": {}, "status": status })
        };
        let (crd, crds) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        let said_of = |conditions: &[&str]| said(&with(crd, crds, conditions), &none);
        assert!(said_of(&[]).starts_with("InProgress"));
        assert_eq!(said_of(&["Established"]), "InProgress condition NamesAccepted isn't True");
        assert!(said_of(&["NamesAccepted", "Established"]).starts_with("Current"));
        let (api, apis) = ("apiregistration.k8s.io/v1", "APIService");
        assert!(said(&with(api, apis, &[]), &none).starts_with("InProgress"));
        assert!(said(&with(api, apis, &["Available"]), &none).starts_with("Current"));
    }

    #[test]
    fn hints_add_to_what_is_known_of_a_kind() {
        let plain =
            json!({ "apiVersion": "example.com/v1", "kind": "Page", "metadata": { "generation": 1 } });
        assert!(said(&plain, &Hints::default()).starts_with("Current"));
        let observed = Hints { observed_generation: true, ..Hints::default() };
        assert!(said(&plain, &observed).starts_with("InProgress its generation"));
        let ready = Hints { ready_condition: true, ..Hints::default() };
        assert_eq!(said(&plain, &ready), "InProgress condition Ready isn't True");
        let several = Hints { conditions: vec!["A".to_owned(), "B".to_owned()], ..Hints::default() };
        let mut of_a = plain.clone();
        of_a["status"]["conditions"] =
            json!([{ "type": "A", "status": "True" }, { "type": "B", "status": "False" }]);
        assert_eq!(said(&of_a, &several), "InProgress condition B isn't True");
        of_a["status"]["conditions"][1]["status"] = json!("True");
        assert!(said(&of_a, &several).starts_with("Current"));
        let mut observed_now = plain;
        observed_now["status"]["observedGeneration"] = json!(1);
        assert!(said(&observed_now, &observed).starts_with("Current"));
    }
}
