//! Field validation: unknown and doubled fields are refused (`Strict`), warned of (`Warn`, the default), or dropped.

use serde_json::Value;

use super::Options;
use crate::in_process::{
    failure::Failure,
    fields::{doubled, wrong_operations},
    kinds::Kind,
    request::Request,
};

/// What becomes of unknown and doubled fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validation {
    Ignore,
    Warn,
    Strict,
}

impl Validation {
    pub(super) fn of(request: &Request) -> Self {
        match request.query.get("fieldValidation") {
            Some("Ignore") => Self::Ignore,
            Some("Strict") => Self::Strict,
            _ => Self::Warn,
        }
    }
}

/// Refuses a body with unknown or doubled fields, or warns of them, as the request demands. `raw` is the body as it
/// came, if it is a whole object.
pub(super) fn check_fields(
    warnings: &mut Vec<String>,
    kind: &Kind,
    options: Options,
    body: &Value,
    raw: Option<&[u8]>,
) -> Result<(), Failure> {
    if options.validation == Validation::Ignore {
        return Ok(());
    }
    let raw = raw.filter(|raw| raw.trim_ascii_start().first() == Some(&b'{'));
    let wrong = kind.schema()?.wrong_fields(body, raw);
    tell_fields_of(warnings, kind, options, body, wrong)
}

/// The same for an object that a patch has made, whose own wrong fields come first.
pub(super) fn check_patched(
    warnings: &mut Vec<String>,
    kind: &Kind,
    options: Options,
    object: &Value,
    request: &Request,
) -> Result<(), Failure> {
    if options.validation == Validation::Ignore {
        return Ok(());
    }
    let mut wrong = match request.content_type.as_str() {
        "application/json-patch+json" => wrong_operations(&request.body),
        _ => doubled(&request.body),
    };
    wrong.extend(kind.schema()?.wrong_fields(object, None));
    tell_fields_of(warnings, kind, options, object, wrong)
}

fn tell_fields_of(
    warnings: &mut Vec<String>,
    kind: &Kind,
    options: Options,
    body: &Value,
    wrong: Vec<String>,
) -> Result<(), Failure> {
    // What can't be read at all is refused for that.
    if !wrong.is_empty() && kind.schema()?.read(body.clone()).is_err() {
        return Ok(());
    }
    tell_wrong_fields(warnings, options.validation, (&kind.kind, &kind.version), wrong)
}

/// The same for the fields of what is answered and never stored, of which the server knows no more than their names.
pub(in crate::in_process) fn check_names(
    warnings: &mut Vec<String>,
    request: &Request,
    of: (&str, &str),
    wrong: Vec<String>,
) -> Result<(), Failure> {
    tell_wrong_fields(warnings, Validation::of(request), of, wrong)
}

fn tell_wrong_fields(
    warnings: &mut Vec<String>,
    validation: Validation,
    (kind, version): (&str, &str),
    wrong: Vec<String>,
) -> Result<(), Failure> {
    if wrong.is_empty() || validation == Validation::Ignore {
        return Ok(());
    }
    if validation == Validation::Warn {
        warnings.extend(wrong);
        return Ok(());
    }
    let error = format!("strict decoding error: {}", wrong.join(", "));
    let message = format!("{kind} in version {version:?} cannot be handled as a {kind}: {error}");
    Err(Failure::bad_request(message))
}
