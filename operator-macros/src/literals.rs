//! Literals of the right form that can't work. The library checks the same for any expression when the controller is
//! built; here the mistake is shown at its place, and before anything runs.

use syn::{Expr, ExprArray, Lit, spanned::Spanned};

use crate::{
    entries::{Entry, Value},
    errors::Errors,
    form::{duration, literal},
};

/// Reports a literal that is not a valid value for the key `name`.
pub(crate) fn check(name: &str, entry: &Entry, errors: &mut Errors) {
    let Value::Is(value) = &entry.value else { return };
    let wrong = match value {
        Expr::Array(ExprArray { elems, .. }) => {
            (name == "namespaces" && elems.is_empty()).then_some(NO_NAMESPACE)
        }
        _ => literal(value).and_then(|literal| wrong(name, literal)),
    };
    if let Some(wrong) = wrong {
        errors.push(syn::Error::new(value.span(), wrong));
    }
}

const NO_NAMESPACE: &str =
    "the list of namespaces is empty; name one, or leave `namespaces` out to watch all";

/// The mistake in it.
fn wrong(name: &str, literal: &Lit) -> Option<&'static str> {
    match literal {
        Lit::Str(text) => of_text(name, &text.value()),
        Lit::Int(number) => of_number(name, number.base10_parse().ok()?),
        Lit::Float(number) => of_number(name, number.base10_parse().ok()?),
        _ => None,
    }
}

fn of_text(name: &str, text: &str) -> Option<&'static str> {
    let letters = |more: &'static str| move |c: char| c.is_ascii_alphanumeric() || more.contains(c);
    match name {
        "name" => {
            let valid = !text.is_empty()
                && text.chars().all(letters("-._"))
                && !text.contains(|c: char| c.is_ascii_uppercase());
            (!valid).then_some(
                "a controller's name has lower-case letters, digits, `-`, `.` and `_`, as it becomes the field \
                 manager: `name = \"web-pages\"`",
            )
        }
        "field_manager" => {
            let valid = !text.is_empty() && text.len() <= 128 && text.chars().all(letters("-._/"));
            (!valid).then_some(
                "a field manager has at most 128 letters, digits, `-`, `_`, `.` and `/`, and at least one: \
                 `field_manager = \"web-pages\"`",
            )
        }
        "finalizer" => {
            let valid = text.split_once('/').is_some_and(|(domain, name)| {
                domain.contains('.')
                    && !name.is_empty()
                    && domain.chars().all(letters("-._"))
                    && name.chars().all(letters("-._"))
            });
            (!valid).then_some(
                "a finalizer is of the form `domain/name`: `finalizer = \"webpages.example.com/finalizer\"`",
            )
        }
        _ => {
            let duration = duration(text)?;
            match name {
                "max_reconciliation_interval" if duration.is_zero() => Some(
                    "without time between runs each would be followed by the next one at once; give more, or `None` \
                     for no limit",
                ),
                "reconcile_timeout" if duration.is_zero() => Some(
                    "a run without time would be dropped at once; give more, or leave `reconcile_timeout` out",
                ),
                "initial_interval" | "max_interval" if duration.as_millis() == 0 => {
                    Some("failing runs would follow each other without a pause; give `\"1ms\"` or more")
                }
                "per" if duration.is_zero() => Some(
                    "with a period of zero the limit has no effect; give more, or leave `rate_limiter` out",
                ),
                _ => None,
            }
        }
    }
}

fn of_number(name: &str, number: f64) -> Option<&'static str> {
    match name {
        "max_concurrent_reconciles" if number < 1.0 => Some(
            "at most 0 runs at the same time would mean none at all; give 1 or more, or leave it out for 50",
        ),
        "jitter" if !(0.0..=0.5).contains(&number) => {
            Some("a jitter is a share of the delay, from 0 to 0.5; leave it out for 0.1")
        }
        "multiplier" if number < 1.0 => Some("the delays would shrink; give a multiplier of at least 1"),
        "limit" if number < 1.0 => Some(
            "nothing would ever run; give a limit of at least 1, or leave `rate_limiter` out to have none",
        ),
        _ => None,
    }
}
