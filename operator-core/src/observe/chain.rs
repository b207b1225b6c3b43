//! Errors as people read them.

use std::error::Error as StdError;

use crate::error::Permanent;

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

/// An error and its sources in one line. That it isn't retried is told elsewhere: by `Stalled`, and in the log line.
pub(crate) fn error_chain(error: &(dyn StdError + 'static)) -> String {
    let sources = with_sources(error).filter(|error| !Permanent::is_mark(*error));
    let mut texts: Vec<String> = sources.map(ToString::to_string).collect();
    // An error that stands for its source has the same words.
    texts.dedup();
    texts.join(": ")
}
