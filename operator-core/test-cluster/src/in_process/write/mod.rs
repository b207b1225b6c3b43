//! Writes: from a request's body to what is stored.
//!
//! ```text
//!  POST ─▶ create ─┐
//!  PUT ──▶ replace ─┼─▶ fields: the object and who owns what ─▶ metadata: what the server alone decides ─▶ store
//!  PATCH ▶ patch ──┘
//!  DELETE ▶ delete ─▶ finalizers? marked : removed
//! ```

mod apply_own;
mod create;
mod delete;
mod json_patch;
pub(super) mod metadata;
mod own;
mod patch;
mod strategic;
mod strict;
pub(super) mod subresources;
mod update;

pub(super) use apply_own::apply_own;
pub(super) use create::{create, put};
pub(super) use delete::{How, delete, delete_collection, remove};
pub(super) use own::{create_own, delete_own, write_own};
pub(super) use patch::patch;
pub(super) use strict::check_names;
pub(super) use update::replace;

use std::sync::Arc;

use kube::core::GroupVersionKind;
use serde_json::{Map, Value};

use super::{
    failure::Failure,
    fields::{self, Endpoint, Schema},
    go::{json, text_of},
    kinds::Kind,
    request::Request,
    store::Path,
};
use patch::form;

/// The parameters that all writes share.
#[derive(Clone, Copy, Debug)]
struct Options {
    dry_run: bool,
    /// What becomes of unknown fields.
    validation: strict::Validation,
    /// Whether somebody reads warnings.
    warns: bool,
}

impl Options {
    /// Reads the parameters of a write; `of` is their type, for messages.
    fn new(request: &Request, of: &str) -> Result<Self, Failure> {
        let dry_run = request.query.all("dryRun");
        if dry_run.iter().any(|value| value != "All") {
            let values = dry_run.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",");
            let message = format!("Unsupported value: [{values}]: supported values: \"All\"");
            return Err(Failure::option(of, "dryRun", "FieldValueNotSupported", &message));
        }
        match request.query.get("fieldValidation") {
            None | Some("Ignore" | "Warn" | "Strict") => {}
            Some(other) => {
                let message = format!(
                    "Unsupported value: \"{other}\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
                );
                return Err(Failure::option(of, "fieldValidation", "FieldValueNotSupported", &message));
            }
        }
        if request.query.get("fieldManager").is_some_and(|manager| manager.len() > 128) {
            let message = "Too long: may not be more than 128 bytes";
            return Err(Failure::option(of, "fieldManager", "FieldValueTooLong", message));
        }
        Ok(Self { dry_run: !dry_run.is_empty(), validation: strict::Validation::of(request), warns: true })
    }
}

/// A write on its way to the store.
struct Target<'w> {
    kind: &'w Arc<Kind>,
    path: &'w Path,
    endpoint: Endpoint,
    manager: String,
    options: Options,
}

impl Target<'_> {
    fn name(&self) -> &str {
        self.path.name()
    }

    /// The circumstances in the form of [`fields`].
    fn fields(&self, now: jiff::Timestamp) -> Result<fields::Write<'_>, Failure> {
        Ok(fields::Write {
            schema: self.kind.schema()?,
            endpoint: self.endpoint,
            manager: &self.manager,
            time: now,
        })
    }
}

/// The endpoint that a request writes to.
fn endpoint(request: &Request) -> Endpoint {
    match &request.route {
        super::request::Route::Objects(target) if target.subresource.is_some() => Endpoint::Status,
        _ => Endpoint::Main,
    }
}

/// The body of a POST or PUT, with its type filled in if that is optional.
fn body(request: &Request, kind: &Kind) -> Result<Value, Failure> {
    let mut body = parse(request, kind)?;
    let text = |field: &str| body.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, name) = (text("apiVersion"), text("kind"));
    if kind.is_custom() && name.is_empty() {
        let message = format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{}' ({})",
            kind.kind,
            text_of(&request.body),
            summary(&request.body)
        );
        return Err(Failure::bad_request(message));
    }
    let differs = |given: &str, wanted: &str| (kind.is_custom() || !given.is_empty()) && given != wanted;
    if kind.is_custom() && api_version == kind.api_version() {
        is_of_kind(kind, &body)?;
    }
    if differs(&name, &kind.kind) || differs(&api_version, &kind.api_version()) {
        return Err(other_kind(kind, &api_version, &name));
    }
    body["apiVersion"] = kind.api_version().into();
    body["kind"] = kind.kind.clone().into();
    Ok(body)
}

/// Checks that a custom object is of the kind of the request's path.
fn is_of_kind(kind: &Kind, object: &Value) -> Result<(), Failure> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, name) = (text("apiVersion"), text("kind"));
    let wrong = |field: &str, given: &str, wanted: &str| {
        let message = format!("Invalid value: {given:?}: must be {wanted}");
        let causes = [("FieldValueInvalid".to_owned(), field.to_owned(), message)];
        Err(Failure::invalid_as(kind, name, meta(object, "name"), &causes))
    };
    if name != kind.kind {
        return wrong("kind", name, &kind.kind);
    }
    if api_version != kind.api_version() {
        return wrong("apiVersion", api_version, &kind.api_version());
    }
    Ok(())
}

/// 400: the body is an object of another kind.
fn other_kind(kind: &Kind, api_version: &str, name: &str) -> Failure {
    let message = if kind.is_custom() {
        format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            kind.api_version()
        )
    } else {
        let (version, wanted) = (api_version.rsplit('/').next().unwrap_or_default(), &kind.kind);
        let internal = kind.go_package();
        let of =
            GroupVersionKind::gvk(api_version.rsplit_once('/').map_or("", |(group, _)| group), version, name);
        let why = if name == kind.kind || Schema::builtin(&of).is_none() {
            format!(
                "no kind \"{name}\" is registered for version \"{api_version}\" in scheme \"pkg/runtime/scheme.go:111\""
            )
        } else {
            format!("converting ({version}.{name}) to ({internal}.{wanted}): unknown conversion")
        };
        format!("{name} in version \"{version}\" cannot be handled as a {wanted}: {why}")
    };
    Failure::bad_request(message)
}

/// The body as an object.
fn parse(request: &Request, kind: &Kind) -> Result<Value, Failure> {
    let parsed = match request.content_type.as_str() {
        "" | "application/json" => {
            let read = match kind.is_custom() {
                true => json::read(&request.body),
                // What is wrong with the number follows from the field's type.
                false => json::read_typed(&request.body),
            };
            let read = read.and_then(|body| with_type(&body).map(|()| body));
            read.map_err(|error| match error.starts_with(json::WRONG_NUMBER) && error.ends_with("float64") {
                true => error,
                false => format!("json parse error: {error} ({})", summary(&request.body)),
            })
        }
        "application/yaml" => yaml(&request.body),
        other => {
            let message = "the body of the request was in an unknown format - accepted media types include: \
                           application/json, application/yaml, application/vnd.kubernetes.protobuf";
            return Err(if other.contains("protobuf") || other.contains("cbor") {
                Failure::not_modelled(format_args!("bodies of type {other}"))
            } else {
                Failure::new(415, "UnsupportedMediaType", message)
            });
        }
    };
    match parsed {
        Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
        // Which has no type, either.
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(other) => Err(unrecognized(kind, &format!("it is no object but {other}"))),
        Err(error) if error.starts_with(json::WRONG_NUMBER) => Err(Failure::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {error}",
            kind.kind, kind.version, kind.kind
        ))),
        Err(error) => Err(unrecognized(kind, &error)),
    }
}

/// Whether what an object says about its type consists of texts; the error is Go's.
fn with_type(object: &Value) -> Result<(), String> {
    let fields = match object {
        Value::Object(fields) => fields,
        Value::Null => return Ok(()),
        other => {
            let of = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";
            return Err(format!("json: cannot unmarshal {} into Go value of type {of}", form(other)));
        }
    };
    for name in ["apiVersion", "kind"] {
        match fields.get(name) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(other) => {
                let form = form(other);
                return Err(format!(
                    "json: cannot unmarshal {form} into Go struct field .{name} of type string"
                ));
            }
        }
    }
    Ok(())
}

/// The beginning of a body, as messages show it: in hexadecimal digits if it doesn't begin as JSON does.
fn summary(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let begin = &body[..body.len().min(SHOWN)];
    let shown = match body.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => text_of(begin),
        Some(_) => begin.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if body.len() > SHOWN { format!("{shown} ...") } else { shown }
}

fn unrecognized(kind: &Kind, why: &str) -> Failure {
    Failure::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): couldn't get version/kind; {why}",
        kind.kind
    ))
}

/// YAML as JSON, in which whole numbers have no point. Not all JSON is YAML.
fn yaml(body: &[u8]) -> Result<Value, String> {
    match json::wrong_as_yaml(body).filter(|_| body.trim_ascii_start().starts_with(b"{")) {
        Some(why) => Err(format!("error converting YAML to JSON: {why}")),
        None => json_or_yaml(body).map(fields::whole),
    }
}

/// Any of the two.
fn json_or_yaml(body: &[u8]) -> Result<Value, String> {
    // Reading JSON as such is exact and quicker.
    if let Ok(value) = json::read_yaml(body) {
        return Ok(value);
    }
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// A text in an object's metadata; empty if it doesn't exist.
fn meta<'o>(object: &'o Value, field: &str) -> &'o str {
    object["metadata"].get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The finalizers of an object.
pub(super) fn finalizers(object: &Value) -> Vec<&str> {
    let list = object["metadata"].get("finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether an object is marked for deletion.
pub(super) fn is_deleting(object: &Value) -> bool {
    !meta(object, "deletionTimestamp").is_empty()
}
