//! The forms of a key's value.

use std::time::Duration;

use jiff::SignedDuration;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, LitFloat, spanned::Spanned};

use crate::{
    entries::{Entry, Value},
    errors::{Errors, instead},
};

/// The form that a key accepts. Only literals are checked here; any other expression is checked by the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A string.
    Text,
    /// An array of strings.
    Texts,
    /// `true` or `false`; without a value it is `true`.
    Switch,
    /// A whole number.
    Count,
    /// A number, with or without a fraction.
    Factor,
    /// A duration, as text or as an expression.
    Time,
    /// Any expression.
    Any,
}

/// The keys of an attribute, with what they accept and an example.
pub(crate) type Keys = [(&'static str, Form, &'static str)];

/// The value of `entry` in the form that `keys` require, as an expression. `None` if it has been reported.
pub(crate) fn read(entry: &Entry, keys: &Keys, errors: &mut Errors) -> Option<TokenStream> {
    let name = entry.name();
    let Some((_, form, example)) = keys.iter().find(|(key, ..)| *key == name) else {
        unknown_key(entry, keys.iter().map(|(key, ..)| *key), errors);
        return None;
    };
    let value = match &entry.value {
        Value::Is(value) => value,
        Value::Flag if *form == Form::Switch => return Some(quote!(true)),
        Value::Flag | Value::List(_) | Value::Of(..) => {
            errors.at(&entry.key, format!("`{name}` takes {}: `{name} = {example}`", form.words()));
            return None;
        }
    };
    let Some(literal) = literal(value) else { return Some(value.to_token_stream()) };
    match (form, literal) {
        (Form::Any, _)
        | (Form::Text, Lit::Str(_))
        | (Form::Switch, Lit::Bool(_))
        | (Form::Count, Lit::Int(_))
        | (Form::Factor, Lit::Float(_)) => Some(value.to_token_stream()),
        (Form::Factor, Lit::Int(whole)) => {
            let fraction = LitFloat::new(&format!("{}.0", whole.base10_digits()), whole.span());
            Some(fraction.to_token_stream())
        }
        (Form::Time, Lit::Str(text)) => match duration(&text.value()) {
            Some(duration) => Some(constant(duration, value)),
            None => {
                let wrong = text.value();
                errors.at(
                    text,
                    format!("`{wrong}` isn't a duration: write it as \"250ms\", \"90s\", \"1m30s\" or \"10h\"; hours are the largest unit"),
                );
                None
            }
        },
        _ => {
            errors.at(value, format!("`{name}` takes {}: `{name} = {example}`", form.words()));
            None
        }
    }
}

/// Reports an unknown key.
pub(crate) fn unknown_key<'k>(entry: &Entry, known: impl IntoIterator<Item = &'k str>, errors: &mut Errors) {
    let name = entry.name();
    errors.at(&entry.key, format!("unknown key `{name}`{}", instead(&name, known)));
}

/// Reports keys that are given more than once, and keeps the first of each.
pub(crate) fn once(entries: Vec<Entry>, errors: &mut Errors) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        if kept.iter().any(|other| other.key == entry.key) {
            errors.at(&entry.key, format!("`{}` is given twice; leave one of them out", entry.name()));
        } else {
            kept.push(entry);
        }
    }
    kept
}

/// A flag: an entry that must not have a value.
pub(crate) fn flag(entry: &Entry, errors: &mut Errors) {
    if !matches!(entry.value, Value::Flag) {
        let name = entry.name();
        errors.at(&entry.key, format!("`{name}` takes no value: write `{name}`, or leave it out"));
    }
}

impl Form {
    const fn words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Texts => "an array of strings",
            Self::Switch => "`true` or `false`",
            Self::Count => "a whole number",
            Self::Factor => "a number",
            Self::Time => "a duration",
            Self::Any => "an expression",
        }
    }
}

pub(crate) fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

/// A duration as people write it; the command line reads it in the same way.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let signed: SignedDuration = text.parse().ok()?;
    Duration::try_from(signed).ok()
}

fn constant(duration: Duration, place: &Expr) -> TokenStream {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    if nanos == 0 {
        quote_spanned!(place.span()=> ::core::time::Duration::from_secs(#seconds))
    } else {
        quote_spanned!(place.span()=> ::core::time::Duration::new(#seconds, #nanos))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_a_duration_or_none(text in "-?[0-9]{0,20}(\\.[0-9]{1,9})?(ms|us|s|m|h|d|w)?[0-9]{0,3}(s|ms)?|.{0,8}") {
            let Some(duration) = duration(&text) else { return Ok(()) };
            prop_assert!(!text.starts_with('-') || duration.is_zero(), "{text}: {duration:?}");
            // The macro writes that very duration.
            let place: Expr = syn::parse_quote!("10s");
            let written = constant(duration, &place).to_string();
            prop_assert!(written.contains(&duration.as_secs().to_string()), "{written}");
        }

        #[test]
        fn whole_seconds_are_what_they_say(seconds in 0_u64..10_000_000) {
            prop_assert_eq!(duration(&format!("{seconds}s")), Some(Duration::from_secs(seconds)));
            let hours = format!("{}h{}m{}s", seconds / 3600, seconds / 60 % 60, seconds % 60);
            prop_assert_eq!(duration(&hours), Some(Duration::from_secs(seconds)), "{}", hours);
        }
    }
}
