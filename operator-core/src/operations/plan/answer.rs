//! What a server answers to a write, made from the known object. Pure.
//!
//! ```text
//! known object, write ─▶ does it exist? same uid, same version? ─ no ─▶ 404, 409, 422
//!                              │ yes
//!                              ▼
//!          body applied, replaced or patched ─▶ what only a server sets ─▶ the object as it is stored
//! ```
//!
//! # Guarantees
//! - A write that changes nothing leaves the version as it is.
//! - `metadata.generation` grows when something changes beside metadata and status.
//!
//! # Assumptions
//! - A server fills in no defaults and refuses no value: what the known object has beside the written fields stays.
//! - Each kind whose status is written has the subresource for it.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::{Status, response::StatusDetails};
use serde_json::{Map, Value, json};

use super::apply::{applied, without_times};
use crate::{
    operations::send::request::{Verb, WriteRequest},
    resource::{ObjectKey, ResourceType},
};

/// The circumstances of a write.
#[derive(Debug)]
pub(crate) struct Moment<'m> {
    /// The field manager.
    pub(crate) manager: &'m str,
    pub(crate) now: Timestamp,
    /// The version of the next change.
    pub(crate) version: String,
    /// The uid of the next new object.
    pub(crate) uid: String,
}

/// What a write leads to.
#[derive(Debug, PartialEq)]
pub(crate) enum Answered {
    /// The object is stored.
    Stored {
        object: Value,
        /// It didn't exist before.
        created: bool,
    },
    /// The object is gone; this was its last state.
    Removed(Value),
}

/// Answers a write; `known` is the object of that key, if it exists.
pub(crate) fn answer(
    write: &WriteRequest<'_>,
    known: Option<&Value>,
    moment: &Moment<'_>,
) -> Result<Answered, Box<Status>> {
    let body: Value = serde_json::from_slice(&write.body).unwrap_or_default();
    let of = Subject { kind: write.kind, key: write.key };
    match (write.verb, known) {
        (Verb::Create, Some(_)) => Err(of.exists()),
        (Verb::Create, None) => Ok(created(write, body, "Update", moment)),
        (Verb::Apply, None) => match text(&body, "uid") {
            _ if write.subresource.is_some() => Err(of.is_missing()),
            Some(uid) => Err(of.conflict(&format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            ))),
            None => Ok(created(write, body, "Apply", moment)),
        },
        (_, None) => Err(of.is_missing()),
        (Verb::Delete, Some(known)) => {
            of.check(known, &json!({ "metadata": body["preconditions"] }))?;
            Ok(deleted(known, moment))
        }
        (Verb::JsonPatch, Some(known)) => {
            let mut patched = known.clone();
            let patch = serde_json::from_value::<json_patch::Patch>(body);
            let done = patch.ok().and_then(|patch| json_patch::patch(&mut patched, &patch).ok());
            done.ok_or_else(|| of.rejected())?;
            Ok(changed(write, known, patched, moment))
        }
        (Verb::Apply, Some(known)) => {
            of.check(known, &body)?;
            Ok(changed(write, known, applied(write, Some(known), &body, moment), moment))
        }
        (Verb::MergePatch, Some(known)) => {
            of.check(known, &body)?;
            let mut patched = known.clone();
            json_patch::merge(&mut patched, &body);
            Ok(changed(write, known, patched, moment))
        }
        (Verb::Update, Some(known)) => {
            of.check(known, &body)?;
            Ok(changed(write, known, body, moment))
        }
    }
}

/// A new object as it is stored.
fn created(write: &WriteRequest<'_>, mut body: Value, operation: &str, moment: &Moment<'_>) -> Answered {
    let mut object = match operation {
        "Apply" => applied(write, None, &body, moment),
        _ => body.take(),
    };
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
        fields.insert("apiVersion".to_owned(), write.kind.api_version().into());
        fields.insert("kind".to_owned(), write.kind.kind().into());
    }
    let meta = metadata(&mut object);
    meta.insert("name".to_owned(), write.key.name().into());
    if let Some(namespace) = write.key.namespace() {
        meta.insert("namespace".to_owned(), namespace.into());
    }
    meta.insert("uid".to_owned(), moment.uid.clone().into());
    meta.insert("resourceVersion".to_owned(), moment.version.clone().into());
    meta.insert("creationTimestamp".to_owned(), json!(Time(moment.now)));
    if has_generation(write.kind, &object) {
        metadata(&mut object).insert("generation".to_owned(), 1.into());
    }
    Answered::Stored { object, created: true }
}

/// Whether a server counts the generations of such objects: of most kinds with a spec that are not of the core group.
pub(crate) fn has_generation(kind: &ResourceType, object: &Value) -> bool {
    !kind.group().is_empty() && !object["spec"].is_null()
}

/// The known object after a change to `new`, of which only what the write is about counts.
fn changed(write: &WriteRequest<'_>, known: &Value, mut new: Value, moment: &Moment<'_>) -> Answered {
    let mut object = match write.subresource {
        Some(_) => {
            let mut object = known.clone();
            set(&mut object, "status", new.get_mut("status").map(Value::take));
            let managed = new["metadata"]["managedFields"].take();
            metadata(&mut object).insert("managedFields".to_owned(), managed);
            object
        }
        None => {
            set(&mut new, "status", known.get("status").cloned());
            new
        }
    };
    keep_what_a_server_sets(known, &mut object);
    if without_times(&object) == without_times(known) {
        return Answered::Stored { object: known.clone(), created: false };
    }
    let is_another = content(&object) != content(known);
    let meta = metadata(&mut object);
    if let (Some(generation), true) = (known["metadata"]["generation"].as_i64(), is_another) {
        meta.insert("generation".to_owned(), (generation + 1).into());
    }
    meta.insert("resourceVersion".to_owned(), moment.version.clone().into());
    if is_going(&object) && !has_finalizers(&object) {
        // It is removed instead of being stored.
        let version = known["metadata"]["resourceVersion"].clone();
        metadata(&mut object).insert("resourceVersion".to_owned(), version);
        return Answered::Removed(object);
    }
    Answered::Stored { object, created: false }
}

fn deleted(known: &Value, moment: &Moment<'_>) -> Answered {
    if !has_finalizers(known) {
        return Answered::Removed(known.clone());
    }
    let mut object = known.clone();
    if !is_going(known) {
        let generation = known["metadata"]["generation"].as_i64();
        let meta = metadata(&mut object);
        meta.insert("deletionTimestamp".to_owned(), json!(Time(moment.now)));
        meta.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
        meta.insert("resourceVersion".to_owned(), moment.version.clone().into());
        if let Some(generation) = generation {
            meta.insert("generation".to_owned(), (generation + 1).into());
        }
    }
    Answered::Stored { object, created: false }
}

/// Restores what no write changes.
fn keep_what_a_server_sets(known: &Value, object: &mut Value) {
    const SET: [&str; 8] = [
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
    ];
    for field in ["apiVersion", "kind"] {
        object[field] = known[field].clone();
    }
    let meta = metadata(object);
    for field in SET {
        match known["metadata"].get(field) {
            Some(value) => drop(meta.insert(field.to_owned(), value.clone())),
            None => drop(meta.remove(field)),
        }
    }
    if meta.get("managedFields").is_none_or(Value::is_null) {
        match known["metadata"].get("managedFields") {
            Some(managed) => drop(meta.insert("managedFields".to_owned(), managed.clone())),
            None => drop(meta.remove("managedFields")),
        }
    }
    // They are stored as none.
    for list in ["finalizers", "ownerReferences"] {
        if meta.get(list).is_some_and(|list| list.is_null() || list.as_array().is_some_and(Vec::is_empty)) {
            meta.remove(list);
        }
    }
}

fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let Some(fields) = object.as_object_mut() else { return };
    match value.filter(|value| !value.is_null()) {
        Some(value) => drop(fields.insert(field.to_owned(), value)),
        None => drop(fields.remove(field)),
    }
}

/// The object without metadata and status.
fn content(object: &Value) -> Vec<(&String, &Value)> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status")).collect()
}

fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"].as_object_mut().expect("it has just been made one")
}

fn text<'o>(object: &'o Value, field: &str) -> Option<&'o str> {
    object["metadata"][field].as_str()
}

fn is_going(object: &Value) -> bool {
    text(object, "deletionTimestamp").is_some()
}

fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}

/// The object of a refusal.
struct Subject<'s> {
    kind: &'s ResourceType,
    key: &'s ObjectKey,
}

impl Subject<'_> {
    /// Whether the known object is the one that a write is bound to.
    fn check(&self, known: &Value, bound: &Value) -> Result<(), Box<Status>> {
        let differs = |field| {
            let wanted = text(bound, field).filter(|wanted| !wanted.is_empty());
            wanted.is_some_and(|wanted| text(known, field) != Some(wanted))
        };
        match (differs("uid"), differs("resourceVersion")) {
            (true, _) => Err(self.conflict("the UID in the precondition is not that of the object")),
            (_, true) => Err(self.conflict(
                "the object has been modified; please apply your changes to the latest version and try again",
            )),
            (false, false) => Ok(()),
        }
    }

    fn conflict(&self, why: &str) -> Box<Status> {
        let what = self.what();
        self.refusal(409, "Conflict", &format!("Operation cannot be fulfilled on {what}: {why}"))
    }

    fn exists(&self) -> Box<Status> {
        self.refusal(409, "AlreadyExists", &format!("{} already exists", self.what()))
    }

    fn is_missing(&self) -> Box<Status> {
        self.refusal(404, "NotFound", &format!("{} not found", self.what()))
    }

    fn rejected(&self) -> Box<Status> {
        self.refusal(422, "Invalid", "the server rejected our request due to an error in our request")
    }

    fn what(&self) -> String {
        let group = match self.kind.group() {
            "" => String::new(),
            group => format!(".{group}"),
        };
        format!("{}{group} {:?}", self.kind.plural(), self.key.name())
    }

    fn refusal(&self, code: u16, reason: &str, message: &str) -> Box<Status> {
        let details = StatusDetails {
            name: self.key.name().to_owned(),
            group: self.kind.group().to_owned(),
            kind: self.kind.plural().to_owned(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        };
        Box::new(Status::failure(message, reason).with_code(code).with_details(details))
    }
}
