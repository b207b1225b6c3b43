//! Converts a desired object to the API server's notation, where both notations mean the same.
//!
//! JOSDK's sanitizers change a copy of the actual object, on each match. These change a copy of the desired one, and
//! only once the plain comparison has failed.
//!
//! - `rules`: what is known about the kinds that come with Kubernetes.
//! - here: `stringData` of a Secret, which is for writing only.

mod pattern;
mod quantity;
mod rules;

use k8s_openapi::ByteString;
use serde_json::Value;

/// `desired` in the server's notation, or `None` if it already is.
///
/// JOSDK: `PodTemplateSpecSanitizer`, `ResourceRequirementsSanitizer`, and the part about claim templates of
/// `SSABasedGenericKubernetesResourceMatcher`.
pub(super) fn sanitized(desired: &Value, actual: &Value) -> Option<Value> {
    let kind = kind_of(desired).or_else(|| kind_of(actual))?;
    let mut adapted = desired.clone();
    let mut changed = rules::apply(kind, &mut adapted, actual);
    changed |= kind == ("", "Secret") && encode(&mut adapted, actual);
    changed.then_some(adapted)
}

/// Group and kind of an object.
type Kind<'a> = (&'a str, &'a str);

fn kind_of(object: &Value) -> Option<Kind<'_>> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Some((group, object.get("kind")?.as_str()?))
}

/// Removes those texts from `stringData` that are in the actual `data` already. The server never shows `stringData`, so
/// it would differ forever.
///
/// A text that is no longer desired is not detected, and can't be: applying doesn't remove it either, because only
/// writing it is owned. To remove keys, write `data`.
fn encode(desired: &mut Value, actual: &Value) -> bool {
    let Some(texts) = desired.get_mut("stringData").and_then(Value::as_object_mut) else { return false };
    let before = texts.len();
    texts.retain(|key, text| {
        let stored = actual.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
        let is_stored = match (text.as_str(), stored) {
            (Some(text), Some(stored)) => is_encoded(text, stored),
            _ => false,
        };
        !is_stored
    });
    let changed = texts.len() != before;
    if texts.is_empty()
        && let Some(fields) = desired.as_object_mut()
    {
        fields.remove("stringData");
    }
    changed
}

/// Whether `stored` is the base64 of `text`.
fn is_encoded(text: &str, stored: &str) -> bool {
    let encoded = serde_json::to_value(ByteString(text.as_bytes().to_vec()));
    encoded.is_ok_and(|encoded| encoded == stored)
}
