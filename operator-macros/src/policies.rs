//! `retry(…)`, `no_retry` and `rate_limit(…)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, Path};

use crate::{
    entries::{self, Entry, Value},
    errors::Errors,
    form::{self, Form, Keys, flag, once},
};

const RETRY: &Keys = &[
    ("max_attempts", Form::Count, "5"),
    ("initial_interval", Form::Time, "\"2s\""),
    ("multiplier", Form::Factor, "1.5"),
    ("max_interval", Form::Time, "\"1m\""),
];
/// The flag among the keys of `retry`.
const UNLIMITED: &str = "unlimited";

const RATE_LIMIT: &Keys = &[("limit", Form::Count, "10"), ("per", Form::Time, "\"10s\"")];

/// `.retry(…)` for the entry `retry`.
pub(crate) fn retry(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let inner = match &entry.value {
        Value::Is(retry) => return quote!(.retry(#retry)),
        Value::Flag => {
            errors.at(
                &entry.key,
                "`retry` takes its settings: `retry(max_attempts = 5, initial_interval = \"2s\")`",
            );
            return TokenStream::new();
        }
        Value::List(inner) => once(entries::parse(inner.clone(), errors), errors),
    };
    let (mut calls, mut may_fail) = (TokenStream::new(), false);
    for entry in &inner {
        if entry.name() == UNLIMITED {
            flag(entry, errors);
            calls.extend(quote!(.without_max_attempts()));
        } else if !RETRY.iter().any(|(key, ..)| *key == entry.name()) {
            form::unknown_key(entry, RETRY.iter().map(|(key, ..)| *key).chain([UNLIMITED]), errors);
        } else if let Some(value) = form::read(entry, RETRY, errors) {
            let method = Ident::new(&format!("with_{}", entry.key), entry.key.span());
            // A number of attempts is always possible; an interval or a factor may make no sense.
            let check = (entry.name() != "max_attempts").then(|| quote!(?));
            may_fail |= check.is_some();
            calls.extend(quote!(.#method(#value) #check));
        }
    }
    let retry = quote!(#library::GenericRetry::default() #calls);
    if may_fail {
        quote!(.retry(#library::__private::policy(|| ::core::result::Result::Ok(#retry))))
    } else {
        quote!(.retry(#retry))
    }
}

/// `.retry(…)` for the entry `no_retry`.
pub(crate) fn no_retry(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    flag(entry, errors);
    quote!(.retry(#library::GenericRetry::no_retry()))
}

/// `.rate_limiter(…)` for the entry `rate_limit`.
pub(crate) fn rate_limit(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let inner = match &entry.value {
        Value::Is(limiter) => return quote!(.rate_limiter(#limiter)),
        Value::Flag => Vec::new(),
        Value::List(inner) => once(entries::parse(inner.clone(), errors), errors),
    };
    let mut read = [None, None];
    for entry in &inner {
        let value = form::read(entry, RATE_LIMIT, errors);
        if let Some(position) = RATE_LIMIT.iter().position(|(key, ..)| *key == entry.name()) {
            // What can't be read has been reported: it is not missing as well.
            read[position] = Some(value.unwrap_or_else(|| quote!(::core::default::Default::default())));
        }
    }
    let [Some(limit), Some(per)] = read else {
        errors.at(&entry.key, "`rate_limit` takes both numbers: `rate_limit(limit = 10, per = \"10s\")`");
        return TokenStream::new();
    };
    quote!(.rate_limiter(#library::processor::GovernorRateLimiter::new(#limit, #per)))
}
