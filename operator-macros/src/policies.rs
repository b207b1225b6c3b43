//! `retry(…)` and `rate_limiter(…)`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, Path};

use crate::{
    entries::{self, Entry, Value},
    errors::Errors,
    form::{self, Form, Keys, flag, once},
    literals,
};

const RETRY: &Keys = &[
    ("max_attempts", Form::Count, "5"),
    ("initial_interval", Form::Time, "\"2s\""),
    ("multiplier", Form::Factor, "1.5"),
    ("max_interval", Form::Time, "\"1m\""),
];
/// The flags among the keys of `retry`.
const WITHOUT: &[&str] = &["without_max_attempts", "without_max_interval"];

const RATE_LIMIT: &Keys = &[("limit", Form::Count, "10"), ("per", Form::Time, "\"10s\"")];

/// `.retry(…)` for the entry `retry`.
pub(crate) fn retry(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let inner = match &entry.value {
        Value::Is(retry) => return quote!(.retry(#retry)),
        Value::Flag | Value::Of(..) => {
            errors.at(
                &entry.key,
                "`retry` takes its settings: `retry(max_attempts = 5, initial_interval = \"2s\")`",
            );
            return TokenStream::new();
        }
        Value::List(inner) => once(entries::parse(inner.clone(), errors), errors),
    };
    // Each call with whether it may fail: a number of attempts is always possible; an interval or a factor may be invalid.
    let mut calls = Vec::new();
    for entry in &inner {
        if WITHOUT.contains(&entry.name().as_str()) {
            flag(entry, errors);
            let key = &entry.key;
            calls.push((quote!(#key()), false));
        } else if !RETRY.iter().any(|(key, ..)| *key == entry.name()) {
            let known = RETRY.iter().map(|(key, ..)| *key).chain(WITHOUT.iter().copied());
            form::unknown_key(entry, known, errors);
        } else if let Some(value) = form::read(entry, RETRY, errors) {
            literals::check(&entry.name(), entry, errors);
            let method = Ident::new(&format!("with_{}", entry.key), entry.key.span());
            calls.push((quote!(#method(#value)), entry.name() != "max_attempts"));
        }
    }
    let default = quote!(#library::GenericRetry::default());
    if calls.iter().all(|(_, may_fail)| !may_fail) {
        let calls = calls.iter().map(|(call, _)| call);
        return quote!(.retry(#default #(.#calls)*));
    }
    // The controller reports the failures, with all other mistakes. No user's expression could mean this name.
    let retry = Ident::new("retry", Span::mixed_site());
    let calls = calls.iter().map(|(call, may_fail)| match may_fail {
        true => quote!(.and_then(|#retry| #retry.#call)),
        false => quote!(.map(|#retry| #retry.#call)),
    });
    quote!(.retry(::core::result::Result::Ok(#default) #(#calls)*))
}

/// `.rate_limiter(…)` for the entry `rate_limiter`.
pub(crate) fn rate_limiter(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let inner = match &entry.value {
        Value::Is(limiter) => return quote!(.rate_limiter(#limiter)),
        Value::Flag | Value::Of(..) => Vec::new(),
        Value::List(inner) => once(entries::parse(inner.clone(), errors), errors),
    };
    let mut read = [None, None];
    for entry in &inner {
        let value = form::read(entry, RATE_LIMIT, errors);
        if value.is_some() {
            literals::check(&entry.name(), entry, errors);
        }
        if let Some(position) = RATE_LIMIT.iter().position(|(key, ..)| *key == entry.name()) {
            // An unreadable entry has been reported: it isn't missing as well.
            read[position] = Some(value.unwrap_or_else(|| quote!(::core::default::Default::default())));
        }
    }
    let [Some(limit), Some(per)] = read else {
        errors.at(&entry.key, "`rate_limiter` takes both numbers: `rate_limiter(limit = 10, per = \"10s\")`");
        return TokenStream::new();
    };
    quote!(.rate_limiter(#library::processor::GovernorRateLimiter::new(#limit, #per)))
}
