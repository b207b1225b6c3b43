//! The mistakes of one item, collected.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Adds a mistake that the user made at `place`.
    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(place, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        // One error may stand for several.
        self.0.extend(error);
    }

    /// Records the error, if there is one.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }

    #[cfg(test)]
    pub(crate) fn into_vec(self) -> Vec<syn::Error> {
        self.0
    }
}

/// "; did you mean `…`?", or the possible choices.
pub(crate) fn instead<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known.iter().map(|name| (strsim::osa_distance(wrong, name), name)).min();
    // A third of it, or one character, may be mistyped; a completely different one is another word.
    let most = (wrong.chars().count() / 3).max(1);
    match nearest {
        Some((distance, name)) if distance <= most => format!("; did you mean `{name}`?"),
        Some(_) => format!("; there are {}", list(&known)),
        None => String::new(),
    }
}

/// `a`, `b` and `c`.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
