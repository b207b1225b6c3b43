//! Random requests to one object, as they go over HTTP.

use http::{Method, Request};
use integration_tests::prelude::*;

use crate::kinds::{GROUP, Kind};

/// One request. A PUT is made of the object as it is then, which both servers must agree on.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The same without effect.
    DryRun(Box<Step>),
    Create {
        manager: &'static str,
        body: Value,
    },
    Apply {
        manager: &'static str,
        force: bool,
        status: bool,
        body: Value,
    },
    Put {
        manager: &'static str,
        status: bool,
        edits: Vec<Edit>,
    },
    Merge {
        manager: &'static str,
        status: bool,
        patch: Value,
    },
    Json {
        manager: &'static str,
        patch: Value,
    },
}

/// A field of a part of an object is replaced, or removed.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    part: String,
    field: Option<String>,
    value: Option<Value>,
}

const MANAGERS: [&str; 3] = ["one", "two", "three"];

/// A random story of one object.
pub(crate) fn story(kind: &Kind, random: &mut Random, length: usize) -> Vec<Step> {
    let mut steps = Vec::with_capacity(length);
    while steps.len() < length {
        let first = steps.is_empty();
        steps.push(step(kind, random, first));
    }
    steps
}

fn step(kind: &Kind, random: &mut Random, first: bool) -> Step {
    let manager = random.pick(&MANAGERS);
    let mut body = kind.object(random);
    if !first && random.chance(5) {
        return Step::DryRun(Box::new(step(kind, random, true)));
    }
    if first && random.chance(40) {
        return Step::Create { manager, body };
    }
    let status = !first && kind.has_status && random.chance(15);
    if random.chance(12) {
        let part = if kind.group() == GROUP { "/spec" } else { "" };
        if let Some(part) = body.pointer_mut(part) {
            disturb(part, random);
        }
    }
    match random.below(100) {
        roll if first || roll < 60 => Step::Apply { manager, force: random.chance(50), status, body },
        roll if roll < 78 => Step::Put { manager, status, edits: edits(&body, random) },
        roll if roll < 92 => {
            if random.chance(40) {
                nullify(&mut body, random);
            }
            Step::Merge { manager, status, patch: body }
        }
        _ => {
            let patch: Vec<_> = edits(&body, random).iter().filter_map(Edit::operation).collect();
            Step::Json { manager, patch: Value::Array(patch) }
        }
    }
}

/// Makes something of an object null or empty.
fn disturb(value: &mut Value, random: &mut Random) {
    let size = value.as_object().map_or(0, serde_json::Map::len);
    if size == 0 {
        return;
    }
    let chosen = random.below(size);
    let Some((name, place)) = value.as_object_mut().and_then(|map| map.iter_mut().nth(chosen)) else {
        return;
    };
    // Null among bytes is stored as null, and read as empty: its second write differs from its first.
    // And an empty list of policies isn't none to the real server, in its memory.
    if name == "binaryData" || name == "data" || name == "policies" {
        return;
    }
    if (place.is_object() && random.chance(80)) || name == "metadata" || name == "spec" {
        return disturb(place, random);
    }
    *place = match random.below(3) {
        0 => Value::Null,
        _ if place.is_array() => json!([]),
        _ if place.is_object() => json!({}),
        _ => Value::Null,
    };
}

/// Makes some fields null, which a merge patch removes.
fn nullify(value: &mut Value, random: &mut Random) {
    for place in value.as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
        if place.is_object() && random.chance(80) {
            nullify(place, random);
        } else if !place.is_object() && random.chance(30) {
            *place = Value::Null;
        }
    }
}

fn edits(from: &Value, random: &mut Random) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (part, value) in from.as_object().into_iter().flatten() {
        match value {
            Value::Object(fields) if matches!(part.as_str(), "metadata" | "spec" | "status" | "data") => {
                for (field, value) in fields {
                    if random.chance(35) {
                        let value = random.chance(80).then(|| value.clone());
                        edits.push(Edit { part: part.clone(), field: Some(field.clone()), value });
                    }
                }
            }
            value if random.chance(35) => {
                let value = random.chance(80).then(|| value.clone());
                edits.push(Edit { part: part.clone(), field: None, value });
            }
            _ => {}
        }
    }
    edits
}

impl Edit {
    fn describe(&self) -> String {
        let field = self.field.as_ref().map_or(String::new(), |field| format!(".{field}"));
        let value = self.value.as_ref().map_or("absent".to_owned(), Value::to_string);
        format!(".{}{field}: {value}", self.part)
    }

    fn make(&self, object: &mut Value) {
        let (target, field) = match &self.field {
            Some(field) => {
                if !object[&self.part].is_object() {
                    object[&self.part] = json!({});
                }
                (&mut object[&self.part], field)
            }
            None => (object, &self.part),
        };
        let Some(target) = target.as_object_mut() else { return };
        match &self.value {
            Some(value) => {
                target.insert(field.clone(), value.clone());
            }
            None => {
                target.remove(field);
            }
        }
    }

    /// The same as an operation of a JSON patch, where that is always possible.
    fn operation(&self) -> Option<Value> {
        let value = self.value.as_ref()?;
        match &self.field {
            Some(field) if matches!(self.part.as_str(), "metadata") => {
                Some(json!({"op": "add", "path": format!("/metadata/{field}"), "value": value}))
            }
            Some(field) => {
                Some(json!({"op": "add", "path": format!("/{}/{field}", self.part), "value": value}))
            }
            None => Some(json!({"op": "add", "path": format!("/{}", self.part), "value": value})),
        }
    }
}

impl Step {
    /// The step in one line.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::DryRun(step) => format!("dry run: {}", step.describe()),
            Self::Create { manager, body } => format!("{manager} creates {body}"),
            Self::Apply { manager, force, status, body } => {
                format!("{manager} applies (force: {force}, status: {status}) {body}")
            }
            Self::Put { manager, status, edits } => {
                let edits: Vec<_> = edits.iter().map(Edit::describe).collect();
                format!("{manager} puts (status: {status}) with {}", edits.join(", "))
            }
            Self::Merge { manager, status, patch } => format!("{manager} merges (status: {status}) {patch}"),
            Self::Json { manager, patch } => format!("{manager} patches {patch}"),
        }
    }

    /// What deletes the object, whatever its finalizers.
    pub(crate) fn end(kind: &Kind, namespace: &str, name: &str) -> http::Result<[Request<Vec<u8>>; 2]> {
        let path = format!("{}/{name}", kind.path(namespace));
        let free = json!({"metadata": {"finalizers": null}}).to_string().into_bytes();
        let mut end = [
            Request::patch(&path).header("content-type", "application/merge-patch+json").body(free)?,
            // Without this Jobs wait for their Pods to be orphaned.
            Request::delete(format!("{path}?propagationPolicy=Background")).body(Vec::new())?,
        ];
        // A deletion that waits for finalizers is another one than a deletion that doesn't.
        if name.bytes().map(usize::from).sum::<usize>().is_multiple_of(2) {
            end.reverse();
        }
        Ok(end)
    }

    /// The request; `current` is the object as it is.
    pub(crate) fn request(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        current: &Value,
    ) -> http::Result<Request<Vec<u8>>> {
        let all = kind.path(namespace);
        let one = |status: bool| format!("{all}/{name}{}", if status { "/status" } else { "" });
        let named = |mut body: Value| {
            body["apiVersion"] = json!(kind.api_version);
            body["kind"] = json!(kind.name);
            body["metadata"]["name"] = json!(name);
            body
        };
        let (method, path, query, media, body) = match self {
            Self::DryRun(step) => {
                let mut request = step.request(kind, namespace, name, current)?;
                *request.uri_mut() = format!("{}&dryRun=All", request.uri()).parse()?;
                return Ok(request);
            }
            Self::Create { manager, body } => (
                Method::POST,
                all,
                format!("fieldManager={manager}"),
                "application/json",
                named(body.clone()),
            ),
            Self::Apply { manager, force, status, body } => (
                Method::PATCH,
                one(*status),
                format!("fieldManager={manager}&force={force}"),
                "application/apply-patch+yaml",
                named(body.clone()),
            ),
            Self::Put { manager, status, edits } => {
                let mut body = current.clone();
                edits.iter().for_each(|edit| edit.make(&mut body));
                (Method::PUT, one(*status), format!("fieldManager={manager}"), "application/json", body)
            }
            Self::Merge { manager, status, patch } => (
                Method::PATCH,
                one(*status),
                format!("fieldManager={manager}"),
                "application/merge-patch+json",
                patch.clone(),
            ),
            Self::Json { manager, patch } => (
                Method::PATCH,
                one(false),
                format!("fieldManager={manager}"),
                "application/json-patch+json",
                patch.clone(),
            ),
        };
        Request::builder()
            .method(method)
            .uri(format!("{path}?{query}"))
            .header("content-type", media)
            .body(body.to_string().into_bytes())
    }
}
