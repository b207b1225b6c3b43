//! Lists of many pages: some incarnations of an operator get one object in a page.

use http::Uri;

use crate::client::TransportHook;

use super::Choices;

/// What a list asks for by default.
const USUAL: &str = "limit=500";

/// Makes each page of the operator's lists as small as can be, if the tape says so.
pub(super) fn drawn(choices: &Choices) -> TransportHook {
    let is_small = choices.rarely("small pages", 4, 1) != 0;
    TransportHook::around(move |mut request, inner| async move {
        if is_small && request.uri().query().is_some_and(|query| query.contains(USUAL)) {
            *request.uri_mut() = request.uri().to_string().replace(USUAL, "limit=1").parse::<Uri>()?;
        }
        inner.send(request).await
    })
}
