//! Converts a desired object to the API server's notation, where both notations mean the same.
//!
//! JOSDK's sanitizers change a copy of the actual object, on each match. These change a copy of the desired one, and
//! only once the plain comparison has failed.
//!
//! - `rules`: what is known about the kinds that come with Kubernetes.
//! - `secret`: `stringData`.
//! - `dropped`, `filled`: what follows from the managed fields.

mod dropped;
mod filled;
mod pattern;
mod quantity;
mod rules;
mod secret;

use serde_json::{Map, Value};

/// `desired` in the server's notation, or `None` if it already is.
///
/// `owned` are the fields that the writer has applied, if it applies.
///
/// JOSDK: `PodTemplateSpecSanitizer`, `ResourceRequirementsSanitizer`, and the part about claim templates of
/// `SSABasedGenericKubernetesResourceMatcher`.
pub(super) fn sanitized(
    desired: &Value,
    actual: &Value,
    owned: Option<&Map<String, Value>>,
) -> Option<Value> {
    let mut adapted = desired.clone();
    let mut changed = false;
    let kind = kind_of(desired).or_else(|| kind_of(actual));
    if let Some(kind) = kind {
        changed |= rules::apply(kind, &mut adapted, actual);
        changed |= kind == ("", "Secret") && secret::encode(&mut adapted, actual);
    }
    if let Some(owned) = owned {
        changed |= dropped::drop_zeros(&mut adapted, actual, owned);
        changed |= kind.is_some_and(|kind| filled::fill_empty_objects(kind, &mut adapted, actual, owned));
    }
    changed.then_some(adapted)
}

/// Group and kind of an object.
type Kind<'a> = (&'a str, &'a str);

fn kind_of(object: &Value) -> Option<Kind<'_>> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Some((group, object.get("kind")?.as_str()?))
}

/// Whether a scalar means the same as its absence: many fields of Kubernetes' own types are written without it.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}
