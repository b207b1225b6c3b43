//! What someone else does to an object, just before the operator makes a request about it.

use std::fmt;

use http::Method;
use serde_json::{Value, json};

use super::{
    fields,
    requests::{Reply, Requests},
    spoilt::Spoilt,
};
use crate::{resource::MarkNames, testing::faults::RequestTarget};

/// The one who acts.
pub(super) const SOMEBODY: &str = "somebody";

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It is deleted.
    Delete,
    /// It is deleted, and made again as it was: another object under the same name.
    Replace,
    /// A value in the fields of its owners is changed.
    EditSpec { at: String, value: Value },
    /// A label is added, and the first existing one gets another value.
    EditLabels { first: Option<String> },
    /// The first finalizer is removed.
    TakeFinalizer { finalizer: String },
    /// Some of what shows the object's owner is removed or changed.
    Spoil(Spoilt),
}

/// What is done, to which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) deed: Deed,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Act {
    /// All acts on `object`, which is the target `target`. `number` selects the value that is edited, so that each has
    /// its turn.
    pub(super) fn all(target: &RequestTarget, object: &Value, number: u64) -> Vec<Self> {
        let Some(name) = &target.name else { return Vec::new() };
        let act = |deed| Self {
            deed,
            group: target.group.clone(),
            version: target.version.clone(),
            plural: target.resource.clone(),
            namespace: target.namespace.clone(),
            name: name.clone(),
        };
        let labels = object["metadata"]["labels"].as_object();
        let first = labels.and_then(|labels| labels.keys().find(|label| *label != SOMEBODY)).cloned();
        let finalizer = object["metadata"]["finalizers"][0].as_str().map(str::to_owned);
        let edit = fields::edit(object, number).map(|(at, value)| Deed::EditSpec { at, value });
        let deeds = [Some(Deed::Delete), Some(Deed::Replace), edit, Some(Deed::EditLabels { first })];
        let taken = finalizer.map(|finalizer| Deed::TakeFinalizer { finalizer });
        let spoilt = Spoilt::all(object).map(Deed::Spoil);
        deeds.into_iter().chain([taken]).flatten().chain(spoilt).map(act).collect()
    }

    /// The object's name in states.
    pub(super) fn object(&self) -> String {
        format!("{}/{}/{}", self.plural, self.namespace.as_deref().unwrap_or_default(), self.name)
    }

    /// The name under which it is counted.
    pub(super) fn kind(&self) -> &'static str {
        match self.deed {
            Deed::Delete => "somebody: deletes",
            Deed::Replace => "somebody: replaces",
            Deed::EditSpec { .. } => "somebody: edits the spec",
            Deed::EditLabels { .. } => "somebody: edits labels",
            Deed::TakeFinalizer { .. } => "somebody: takes a finalizer",
            Deed::Spoil(spoilt) => spoilt.kind(),
        }
    }

    /// Whether the object still lacks what this act has removed from the marks of its owner.
    pub(super) fn is_unmended(&self, object: &Value) -> bool {
        match &self.deed {
            Deed::Spoil(spoilt) => spoilt.stands_in(object),
            Deed::EditLabels { first: Some(first) } => {
                MarkNames::default().has(first) && object["metadata"]["labels"][first] == SOMEBODY
            }
            _ => false,
        }
    }

    /// The path of the object.
    fn path(&self) -> String {
        let base = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        let place = self.namespace.as_ref().map(|namespace| format!("/namespaces/{namespace}"));
        format!("{base}{}/{}", place.unwrap_or_default(), self.plural)
    }

    /// Performs it at once: nothing else has a turn in between. What is left to be done is in the answer.
    pub(super) async fn perform(&self, requests: &Requests) -> Done {
        let one = format!("{}/{}", self.path(), self.name);
        let patch = async |media: &str, patch: &Value| {
            let uri = format!("{one}?fieldManager={SOMEBODY}");
            requests.send(Method::PATCH, &uri, &format!("application/{media}+json"), patch).await.into()
        };
        match &self.deed {
            Deed::Delete => requests.delete(&one).await.into(),
            Deed::Replace => {
                let before = requests.send(Method::GET, &one, JSON, &Value::Null).await;
                let deleted = requests.delete(&one).await;
                match before.code == 200 && deleted.code < 300 {
                    true => {
                        self.make_again(as_new(&before.body), &before.body["metadata"]["uid"], requests).await
                    }
                    false => deleted.into(),
                }
            }
            Deed::EditSpec { at, value } => {
                patch("json-patch", &json!([{ "op": "replace", "path": at, "value": value }])).await
            }
            Deed::EditLabels { first } => {
                let mut labels = json!({ SOMEBODY: "was-here" });
                if let Some(first) = first {
                    labels[first] = json!(SOMEBODY);
                }
                patch("merge-patch", &json!({ "metadata": { "labels": labels } })).await
            }
            Deed::Spoil(spoilt) => patch("merge-patch", &spoilt.patch()).await,
            Deed::TakeFinalizer { finalizer } => {
                let at = "/metadata/finalizers/0";
                let test = json!({ "op": "test", "path": at, "value": finalizer });
                patch("json-patch", &json!([test, { "op": "remove", "path": at }])).await
            }
        }
    }

    /// Creates the object again, unless the one with this uid still exists.
    pub(super) async fn make_again(&self, object: Value, uid: &Value, requests: &Requests) -> Done {
        let uri = format!("{}?fieldManager={SOMEBODY}", self.path());
        let made = requests.send(Method::POST, &uri, JSON, &object).await;
        if made.code != 409 {
            return made.into();
        }
        let one = format!("{}/{}", self.path(), self.name);
        let there = requests.send(Method::GET, &one, JSON, &Value::Null).await;
        match there.code == 404 || there.body["metadata"]["uid"] == *uid {
            true => Done::WhenItIsGone { object, uid: uid.clone() },
            false => Done::Refused("somebody else was quicker".to_owned()),
        }
    }
}

const JSON: &str = "application/json";

/// The outcome of an act.
#[derive(Clone, Debug)]
pub(super) enum Done {
    /// Everything was done.
    All,
    /// This object has to be created when the one with the uid is gone, which a finalizer holds.
    WhenItIsGone { object: Value, uid: Value },
    /// The server has refused it.
    Refused(String),
}

impl From<Reply> for Done {
    fn from(reply: Reply) -> Self {
        match reply.code {
            200..300 => Self::All,
            code => Self::Refused(format!("{code} {}", reply.body["message"].as_str().unwrap_or_default())),
        }
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
        let object = self.object();
        match &self.deed {
            Deed::Delete => write!(f, "delete {object}"),
            Deed::Replace => write!(f, "delete {object} and make it again"),
            Deed::EditSpec { at, value } => write!(f, "edit {object}: {at} is {value}"),
            Deed::EditLabels { first: Some(first) } => {
                write!(f, "edit labels of {object}, {first} among them")
            }
            Deed::EditLabels { first: None } => write!(f, "label {object}"),
            Deed::Spoil(spoilt) => write!(f, "{} of {object}", spoilt.words()),
            Deed::TakeFinalizer { finalizer } => write!(f, "take the finalizer {finalizer} off {object}"),
        }
    }
}
