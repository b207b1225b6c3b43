//! What someone else does to an object, just before the operator makes a request about it.

use std::fmt;

use http::Method;
use serde_json::{Value, json};

use super::{
    fields,
    requests::{Reply, Requests},
};
use crate::{
    resource::MarkNames,
    testing::{
        faults::{RequestTarget, Verb},
        simulation::objects::named,
    },
};

/// The one who acts.
const SOMEBODY: &str = "somebody";

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It is deleted.
    Delete,
    /// It is deleted, and made again as it was: another object under the same name.
    Replace,
    /// It is changed by a patch of this media type.
    Patch(&'static str, Value),
}

/// What is done, to which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) deed: Deed,
    /// The name under which it is counted.
    pub(super) kind: &'static str,
    words: String,
    /// Whether it changes what shows the object's owner.
    spoils_marks: bool,
    target: RequestTarget,
}

impl Act {
    /// All acts on `object`, which is the target `target`. `number` selects the value that is edited, so that each has
    /// its turn.
    pub(super) fn all(target: &RequestTarget, object: &Value, number: u32) -> Vec<Self> {
        let target = RequestTarget { verb: Verb::Patch, subresource: None, ..target.clone() };
        let (of, names, metadata) = (object_name(&target), MarkNames::default(), &object["metadata"]);
        let mut acts = Vec::new();
        let mut add = |kind, words, spoils_marks, deed| {
            acts.push(Self { deed, kind, words, spoils_marks, target: target.clone() });
        };
        let merge = |metadata: Value| Deed::Patch("merge-patch", json!({ "metadata": metadata }));
        add("somebody: deletes", format!("delete {of}"), false, Deed::Delete);
        add("somebody: replaces", format!("delete {of} and make it again"), false, Deed::Replace);
        if let Some((at, value)) = fields::edit(object, number) {
            let words = format!("edit {of}: {at} is {value}");
            let patch = json!([{ "op": "replace", "path": at, "value": value }]);
            add("somebody: edits the spec", words, false, Deed::Patch("json-patch", patch));
        }
        // A label is added, and the first existing one gets another value: but an object that is given to another controller
        // stays as it is, and is looked at for ever.
        let existing = metadata["labels"].as_object();
        let stays = [SOMEBODY, names.controller()];
        let first = existing.and_then(|labels| labels.keys().find(|label| !stays.contains(&label.as_str())));
        let mut labels = json!({ SOMEBODY: "was-here" });
        let mut words = format!("label {of}");
        if let Some(first) = first {
            labels[first] = json!(SOMEBODY);
            words = format!("edit labels of {of}, {first} among them");
        }
        let is_mark = first.is_some_and(|first| names.has(first));
        add("somebody: edits labels", words, is_mark, merge(json!({ "labels": labels })));
        if let Some(finalizer) = metadata["finalizers"][0].as_str() {
            let words = format!("take the finalizer {finalizer} off {of}");
            let at = "/metadata/finalizers/0";
            let test = json!({ "op": "test", "path": at, "value": finalizer });
            let patch = json!([test, { "op": "remove", "path": at }]);
            add("somebody: takes a finalizer", words, false, Deed::Patch("json-patch", patch));
        }
        let owned = metadata["ownerReferences"].as_array().is_some_and(|owners| !owners.is_empty());
        let labelled = metadata["labels"][names.node()].is_string();
        let marked = metadata["annotations"][names.mark()].is_string();
        let no_labels = json!({ names.controller(): null, names.node(): null, names.owner(): null });
        let marks = [
            (owned, "somebody: strips the owners", json!({ "ownerReferences": null })),
            (labelled, "somebody: strips the labels of the marks", json!({ "labels": no_labels })),
            (labelled, "somebody: edits the node", json!({ "labels": { names.node(): SOMEBODY } })),
            (marked, "somebody: strips the mark", json!({ "annotations": { names.mark(): null } })),
            (marked, "somebody: edits the mark", json!({ "annotations": { names.mark(): SOMEBODY } })),
        ];
        for (_, kind, patch) in marks.into_iter().filter(|(is_there, ..)| *is_there) {
            let words = format!("{} of {of}", kind.trim_start_matches("somebody: "));
            add(kind, words, true, merge(patch));
        }
        acts
    }

    /// The object's name in states.
    pub(super) fn object(&self) -> String {
        object_name(&self.target)
    }

    /// Whether the object still lacks what this act has removed from the marks of its owner.
    pub(super) fn is_unmended(&self, object: &Value) -> bool {
        matches!(&self.deed, Deed::Patch(_, patch) if self.spoils_marks && stands_in(patch, object))
    }

    /// The paths of the object's collection and of the object.
    fn paths(&self) -> (String, String) {
        let collection = self.target.path_in(self.target.namespace.as_deref());
        let name = self.target.name.as_deref().unwrap_or_default();
        (collection.clone(), format!("{collection}/{name}"))
    }

    /// Performs it at once: nothing else has a turn in between. What is left to be done is in the answer.
    pub(super) async fn perform(&self, requests: &Requests) -> Done {
        let (_, one) = self.paths();
        match &self.deed {
            Deed::Delete => done(&requests.delete(&one).await),
            Deed::Replace => {
                let before = requests.send(Method::GET, &one, JSON, &Value::Null).await;
                let deleted = requests.delete(&one).await;
                match before.code == 200 && deleted.code < 300 {
                    true => {
                        self.make_again(as_new(&before.body), &before.body["metadata"]["uid"], requests).await
                    }
                    false => done(&deleted),
                }
            }
            Deed::Patch(media, patch) => {
                let (uri, media) =
                    (format!("{one}?fieldManager={SOMEBODY}"), format!("application/{media}+json"));
                done(&requests.send(Method::PATCH, &uri, &media, patch).await)
            }
        }
    }

    /// Creates the object again, unless the one with this uid still exists.
    pub(super) async fn make_again(&self, object: Value, uid: &Value, requests: &Requests) -> Done {
        let (collection, one) = self.paths();
        let uri = format!("{collection}?fieldManager={SOMEBODY}");
        let made = requests.send(Method::POST, &uri, JSON, &object).await;
        if made.code != 409 {
            return done(&made);
        }
        let there = requests.send(Method::GET, &one, JSON, &Value::Null).await;
        match there.code == 404 || there.body["metadata"]["uid"] == *uid {
            true => Ok(Some((object, uid.clone()))),
            false => Err("somebody else was quicker".to_owned()),
        }
    }
}

fn object_name(target: &RequestTarget) -> String {
    let [namespace, name] = [&target.namespace, &target.name].map(|part| part.as_deref().unwrap_or_default());
    named(&target.resource, namespace, name)
}

/// Whether a merge patch would change nothing.
fn stands_in(patch: &Value, object: &Value) -> bool {
    match patch {
        Value::Object(fields) => fields.iter().all(|(name, patch)| stands_in(patch, &object[name])),
        Value::Null => object.is_null() || *object == json!([]),
        value => value == object,
    }
}

const JSON: &str = "application/json";

/// The outcome of an act: why it was refused; or what is left to be done, an object that has to be created when the one
/// with the uid is gone, which a finalizer holds.
pub(super) type Done = Result<Option<(Value, Value)>, String>;

fn done(reply: &Reply) -> Done {
    match reply.code {
        200..300 => Ok(None),
        code => Err(format!("{code} {}", reply.body["message"].as_str().unwrap_or_default())),
    }
}

/// The object as someone with a copy of it would create it.
fn as_new(object: &Value) -> Value {
    let mut new = object.clone();
    let old = std::mem::replace(&mut new["metadata"], json!({}));
    for field in ["name", "namespace", "labels", "annotations", "ownerReferences"] {
        if !old[field].is_null() {
            new["metadata"][field] = old[field].clone();
        }
    }
    if let Some(fields) = new.as_object_mut() {
        fields.remove("status");
    }
    new
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
