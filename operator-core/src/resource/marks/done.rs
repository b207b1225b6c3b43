//! The annotation of a primary that records its finished Jobs, with their content. Pure.
//!
//! ```text
//! {"<controller>/<node>":["<fingerprint of name and content>", …], …}
//! ```

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::batch::v1::Job;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ControllerMarks, digits};
use crate::resource::{Object, ObjectKey, ResourceType};

/// The number of digits of a hash that distinguish the contents of a primary's Jobs.
const DIGITS: usize = 16;

/// The fields of a Job that can be changed without running it again: how long it is kept, and how it is retried.
const NOT_CONTENT: [&str; 5] =
    ["activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend", "ttlSecondsAfterFinished"];

/// A node, as its entry names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoneBy(String);

impl ControllerMarks {
    /// The entry of a node, by its label's value. `beside`: the reconciler calls it in addition to the declared ones.
    pub(crate) fn done_by(&self, node: &str, beside: bool) -> DoneBy {
        let declared = if beside { "beside/" } else { "" };
        DoneBy(format!("{}/{declared}{node}", self.controller))
    }
}

/// Whether objects of this kind run once, and are done then.
pub(crate) fn is_job(kind: &ResourceType) -> bool {
    (kind.group(), kind.kind()) == ("batch", "Job")
}

/// Whether it has succeeded.
pub(crate) fn has_succeeded(job: &Value) -> bool {
    let conditions = job.pointer("/status/conditions").and_then(Value::as_array);
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Complete" && condition["status"] == "True")
}

/// The fingerprint of a Job: its name and what it runs, or only its name if changed content isn't run again anyway.
pub(crate) fn fingerprint(job: &dyn Object, with_content: bool) -> serde_json::Result<String> {
    let mut spec = if with_content { job.to_value()?["spec"].take() } else { Value::Null };
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|name, value| !NOT_CONTENT.contains(&&**name) && !value.is_null());
    }
    let key = ObjectKey::in_meta(job.meta());
    let content = in_order(&json!([key.namespace(), key.name(), spec]));
    Ok(digits(Sha256::digest(content.to_string()), DIGITS))
}

/// The same with its fields in the order of their names, whatever the order of maps in this build.
pub(crate) fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().map(|(name, value)| (name, in_order(value))).collect();
            sorted.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(in_order).collect(),
        plain => plain.clone(),
    }
}

/// What is recorded, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DoneJobs(BTreeMap<String, BTreeSet<String>>);

impl DoneJobs {
    /// The content of a primary's annotation. One that can't be parsed counts as empty, and is written again.
    pub(crate) fn of(primary: &dyn Object, marks: &ControllerMarks) -> Self {
        let annotations = primary.meta().annotations.as_ref();
        let text = annotations.and_then(|annotations| annotations.get(marks.names().done_jobs()));
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    /// The annotation's text; `None` if there is nothing to record.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| json!(self.0).to_string())
    }

    /// What is recorded for that node.
    pub(crate) fn of_node(&self, node: &DoneBy) -> BTreeSet<String> {
        self.0.get(&node.0).cloned().unwrap_or_default()
    }

    /// What is recorded for all nodes of the controller, including former ones: one may have another name today.
    pub(crate) fn of_all(&self, marks: &ControllerMarks) -> BTreeSet<String> {
        let ours = self.0.iter().filter(|(entry, _)| is_ours(entry, marks));
        ours.flat_map(|(_, done)| done.iter().cloned()).collect()
    }

    /// Records that the node has done this, in addition to its records that are still wanted. Everything else is
    /// forgotten.
    pub(crate) fn note(
        &mut self,
        node: &DoneBy,
        done: &BTreeSet<String>,
        is_wanted: impl Fn(&String) -> bool,
    ) {
        // The writer may not have seen the newest entries.
        let mut entry = self.0.remove(&node.0).unwrap_or_default();
        entry.retain(is_wanted);
        entry.extend(done.iter().cloned());
        if !entry.is_empty() {
            self.0.insert(node.0.clone(), entry);
        }
    }

    /// Forgets the nodes that the controller no longer has; returns whether there were any.
    pub(crate) fn forget_departed(&mut self, marks: &ControllerMarks) -> bool {
        let before = self.0.len();
        let jobs = ResourceType::of::<Job>();
        self.0.retain(|entry, _| {
            let node = entry.split_once('/').map_or("", |(_, node)| node);
            let stands = node.starts_with("beside/") || marks.nodes.has_of(node, &jobs);
            !is_ours(entry, marks) || (stands && entry.starts_with(&format!("{}/", marks.controller)))
        });
        self.0.len() < before
    }
}

fn is_ours(entry: &str, marks: &ControllerMarks) -> bool {
    entry.split_once('/').is_some_and(|(controller, _)| marks.is_us(controller))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{MarkNames, Nodes};

    fn job(name: &str, spec: &Value) -> Job {
        serde_json::from_value(json!({ "metadata": { "name": name, "namespace": "shop" }, "spec": spec }))
            .expect("it is a Job")
    }

    fn of(name: &str, spec: &Value) -> String {
        fingerprint(&job(name, spec), true).expect("it can be spelled")
    }

    #[test]
    fn what_is_run_is_told_apart_and_how_patiently_is_not() {
        let image = |image: &str| json!({ "spec": { "containers": [{ "name": "a", "image": image }] } });
        let plain = of("a", &json!({ "template": image("x:1") }));
        let kept = json!({ "template": image("x:1"), "ttlSecondsAfterFinished": 9, "backoffLimit": 1 });
        assert_eq!(plain, of("a", &kept));
        assert_ne!(plain, of("a", &json!({ "template": image("x:2") })));
        assert_ne!(plain, of("b", &json!({ "template": image("x:1") })));
        let by_name = |spec: &Value| fingerprint(&job("a", spec), false).expect("it can be spelled");
        assert_eq!(
            by_name(&json!({ "template": image("x:1") })),
            by_name(&json!({ "template": image("x:2") }))
        );
    }

    #[test]
    fn only_what_a_controller_has_no_more_is_forgotten() {
        let names = MarkNames::default();
        let nodes = [("migration", &ResourceType::of::<Job>())].into_iter().collect::<Nodes>();
        let marks = ControllerMarks::new(names, "shop", ["store".to_owned()].into(), nodes);
        let entries = ["shop/migration", "shop/gone", "store/migration", "shop/beside/x", "bank/gone"];
        let all = entries.map(|entry| (entry.to_owned(), BTreeSet::from([entry.to_owned()])));
        let mut jobs = DoneJobs(all.into());
        assert_eq!(jobs.of_all(&marks).len(), 4, "those of another controller are none of ours");
        assert!(jobs.forget_departed(&marks));
        let left: Vec<_> = jobs.0.keys().map(String::as_str).collect();
        assert_eq!(left, ["bank/gone", "shop/beside/x", "shop/migration"]);
        assert!(!jobs.forget_departed(&marks), "that was all");
    }
}
