//! The former templates of StatefulSets and DaemonSets, kept as ControllerRevisions.

use serde_json::{Value, json};

use super::{
    Act, MANAGER,
    deployments::hash,
    view::{Found, View, number, reference, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    write::How,
};

/// Where ControllerRevisions are.
fn revisions() -> Resource {
    Resource::new("apps", "controllerrevisions")
}

/// The revisions of an object.
pub(super) struct Revisions<'s> {
    /// That of the present template.
    pub(super) update: Found<'s>,
    /// All, the oldest first.
    pub(super) all: Vec<Found<'s>>,
}

/// The revisions of `owner`, or what has to be written first. `label` is the label of the hash.
pub(super) fn of<'s>(
    view: &View<'s>,
    path: &Path,
    owner: &Value,
    label: &str,
) -> Result<Revisions<'s>, Vec<Act>> {
    let mut all = view.controlled(&revisions(), owner);
    all.sort_by_key(|(path, revision)| (number(&revision["revision"]), *path));
    let mut template = owner["spec"]["template"].clone();
    template["$patch"] = "replace".into();
    let data = json!({ "spec": { "template": template } });
    let newest = all.last().map_or(0, |(_, newest)| number(&newest["revision"]));
    match all.iter().rev().find(|(_, revision)| revision["data"] == data) {
        Some(update) if number(&update.1["revision"]) == newest => Ok(Revisions { update: *update, all }),
        // A template that comes back has the highest number again.
        Some((path, update)) => {
            let mut object = Value::clone(update);
            object["revision"] = (newest + 1).into();
            let (path, endpoint) = ((*path).clone(), Endpoint::Main);
            Err(vec![Act::Write { resource: revisions(), path, endpoint, manager: MANAGER, object }])
        }
        None => {
            let hash = hash(&data, &owner["status"]["collisionCount"]);
            let mut labels = owner["spec"]["template"]["metadata"]["labels"].clone();
            labels[label] = hash.clone().into();
            let mut metadata = json!({
                "name": format!("{}-{hash}", path.name()),
                "namespace": path.namespace(),
                "labels": labels,
                "ownerReferences": [reference(owner)],
            });
            if !owner["metadata"]["annotations"].is_null() {
                metadata["annotations"] = owner["metadata"]["annotations"].clone();
            }
            let object = json!({
                "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data,
                "revision": newest + 1,
            });
            Err(vec![Act::Create { resource: revisions(), manager: MANAGER, object }])
        }
    }
}

impl Revisions<'_> {
    /// The template of a revision.
    pub(super) fn template(&self, name: &str) -> Option<Value> {
        let (_, revision) = self.all.iter().find(|(path, _)| path.name() == name)?;
        let mut template = revision["data"]["spec"]["template"].clone();
        template.as_object_mut()?.remove("$patch");
        Some(template)
    }

    /// Deletes the oldest ones that nothing uses, if there are more than the owner keeps.
    pub(super) fn clean_up(&self, owner: &Value, is_used: impl Fn(&Value) -> bool) -> Vec<Act> {
        let kept = owner["spec"]["revisionHistoryLimit"].as_i64().unwrap_or(10);
        let old = self.all.iter().filter(|(path, old)| *path != self.update.0 && !is_used(old));
        let old: Vec<_> = old.collect();
        let surplus = old.len().saturating_sub(usize::try_from(kept).unwrap_or_default());
        let delete = |(path, _): &Found<'_>| Act::Delete {
            resource: revisions(),
            path: (*path).clone(),
            how: How::Background,
        };
        old.into_iter().take(surplus).map(delete).collect()
    }
}

/// The hash of a revision, as a label has it.
pub(super) fn hash_of<'r>(revision: &'r Value, label: &str) -> &'r str {
    text(&revision["metadata"]["labels"][label])
}
