//! The rules of a schema: whether they fit it.

use serde_json::{Value, json};

use super::{Found, flag, has, items, schema::At, text};
use crate::in_process::{
    cel::{Expression, Type, declare},
    fields::field_path,
};

/// What rules say besides their expressions.
pub(super) fn words(schema: &Value, path: &str, found: &mut Found) {
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    for (at, rule) in items(schema, "x-kubernetes-validations").enumerate() {
        let path = format!("{path}.x-kubernetes-validations[{at}]");
        let field = |word: &str| format!("{path}.{word}");
        let breaks = |text: &str| text.contains(['\n', '\r']);
        let (message, expression) = (text(rule, "message"), text(rule, "rule").trim());
        if expression.is_empty() {
            found.required(&field("rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            found.invalid(&field("message"), &message.into(), "must be non-empty if specified");
        } else if breaks(message.trim()) {
            found.invalid(&field("message"), &message.into(), "must not contain line breaks");
        } else if breaks(expression) && message.trim().is_empty() {
            found.required(&field("message"), "message must be specified if rule contains line breaks");
        }
        let made = text(rule, "messageExpression");
        if !made.is_empty() && made.trim().is_empty() {
            found.required(&field("messageExpression"), "messageExpression must be non-empty if specified");
        }
        let reason = text(rule, "reason");
        if has(rule, "reason") && !REASONS.contains(&reason) {
            found.unsupported(&field("reason"), &reason.into(), &REASONS);
        }
        let place = text(rule, "fieldPath");
        if !place.is_empty() && place.trim().is_empty() {
            found.invalid(&field("fieldPath"), &place.into(), "must be non-empty if specified");
        }
        if breaks(place) {
            found.invalid(&field("fieldPath"), &place.into(), "must not contain line breaks");
        }
        if !place.is_empty() && field_path(schema, place).is_err() {
            found.invalid(&field("fieldPath"), &place.into(), "must be a valid path");
        }
    }
}

/// Compiles the rules of a schema.
pub(super) fn check(schema: &Value, path: &str, at: &At, found: &mut Found) {
    if items(schema, "x-kubernetes-validations").next().is_none() {
        return;
    }
    let path = format!("{path}.x-kubernetes-validations");
    let is_root = at.is_root || flag(schema, "x-kubernetes-embedded-resource");
    let Some(declared) = declare(schema, is_root, "selfType0") else {
        let why = "Internal error: internal error: failed to construct type information for x-kubernetes-validations \
                   rules: unable to convert structural schema to CEL declarations";
        found.causes.push(("InternalError".to_owned(), path, why.to_owned()));
        return;
    };
    for (index, rule) in items(schema, "x-kubernetes-validations").enumerate() {
        one(rule, &format!("{path}[{index}]"), at, &declared, found);
    }
}

fn one(rule: &Value, path: &str, at: &At, declared: &Type, found: &mut Found) {
    let (field, message) = (format!("{path}.rule"), format!("{path}.messageExpression"));
    let optional = flag(rule, "optionalOldSelf");
    let compiled = match Expression::compile(text(rule, "rule"), declared, optional) {
        Ok(compiled) if compiled.is_bool() => compiled,
        Ok(_) => return invalid(&field, rule, "cel expression must evaluate to a bool", found),
        Err(why) => return invalid(&field, rule, &format!("compilation failed: {why}"), found),
    };
    let made = text(rule, "messageExpression");
    if !made.is_empty() {
        match Expression::compile(made, declared, optional) {
            Ok(compiled) if compiled.is_text() => {}
            Ok(_) => invalid(&message, rule, "messageExpression must evaluate to a string", found),
            Err(why) => {
                invalid(&message, rule, &format!("messageExpression compilation failed: {why}"), found);
            }
        }
    }
    if compiled.uses_old {
        if let Some(from) = &at.uncorrelated {
            let why =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {from}");
            found.invalid(&field, &text(rule, "rule").into(), &why);
        }
    } else if has(rule, "optionalOldSelf") {
        let why = "may not be set if oldSelf is not used in rule";
        found.invalid(&format!("{path}.optionalOldSelf"), &rule["optionalOldSelf"], why);
    }
}

/// The whole rule is shown, in the form that it has inside of the real server.
fn invalid(field: &str, rule: &Value, why: &str, found: &mut Found) {
    let part = |word: &str| rule.get(word).cloned().unwrap_or_default();
    let words = |word: &str| json!(text(rule, word));
    let shown = [
        ("Rule", words("rule")),
        ("Message", words("message")),
        ("MessageExpression", words("messageExpression")),
        ("Reason", part("reason")),
        ("FieldPath", words("fieldPath")),
        ("OptionalOldSelf", part("optionalOldSelf")),
    ];
    let shown: Vec<String> =
        shown.iter().map(|(word, value)| format!("{word:?}:{}", go_json(value))).collect();
    found.add("Invalid", field, format!("Invalid value: {{{}}}: {why}", shown.join(",")));
}

/// Go escapes a few signs in JSON.
fn go_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
