//! Errors as people read them.

use std::error::Error as StdError;

/// An error and its sources, from the outermost to the innermost.
pub(crate) fn with_sources<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

/// An error and its sources in one line.
pub(crate) fn error_chain(error: &(dyn StdError + 'static)) -> String {
    let texts: Vec<String> = with_sources(error).map(ToString::to_string).collect();
    texts.join(": ")
}
