//! Reads the answer to a single request. kube's own code logs the whole answer if it can't decode it,
//! even a Secret, and loses the header `Retry-After`.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use kube::{
    Client,
    client::Body,
    core::{Status, response::StatusDetails},
};

use super::retry_after;

/// The longest part that is quoted of an answer that isn't a `Status`.
const LONGEST_QUOTE: usize = 300;

/// Whether a refusal means that the object called `name` doesn't exist: 404, and it names the object. The only code
/// that decides when an object is gone.
///
/// A path that the server doesn't serve also returns 404: a kind whose definition or version is not served (any more),
/// a server that has just started, a proxy in maintenance. Such an answer names no object, so nothing follows from it about any object.
pub(crate) fn is_end_of(status: &Status, name: &str) -> bool {
    status.code == 404 && status.details.as_ref().is_some_and(|details| details.name == name)
}

/// Whether a refusal means that the path isn't served: 404, and it names no object at all.
pub(crate) fn is_not_served(status: &Status) -> bool {
    status.code == 404 && status.details.as_ref().is_none_or(|details| details.name.is_empty())
}

/// Sends a request, and returns the answer's code and body, or the refusal. The error means that there was no answer,
/// or only part of one.
pub(crate) async fn exchange(
    client: &Client,
    request: Request<Body>,
) -> Result<Result<(StatusCode, Bytes), Box<Status>>, kube::Error> {
    let response = client.send(request).await?;
    let code = response.status();
    let asked = retry_after(response.headers());
    let body = response.into_body().collect().await?.to_bytes();
    if code.is_success() {
        return Ok(Ok((code, body)));
    }
    // A proxy between us and the server answers in its own words, perhaps in JSON as well.
    let status = serde_json::from_slice::<Status>(&body).ok().filter(|status| status.code != 0);
    let mut status = status.unwrap_or_else(|| {
        let words: String = String::from_utf8_lossy(&body).trim().chars().take(LONGEST_QUOTE).collect();
        let words = if words.is_empty() { code.to_string() } else { words };
        Status::failure(&words, "Unknown").with_code(code.as_u16())
    });
    if let Some(asked) = asked {
        let seconds = u32::try_from(asked.as_secs()).unwrap_or(u32::MAX);
        let none = || StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        };
        status.details.get_or_insert_with(none).retry_after_seconds = seconds;
    }
    Ok(Err(Box::new(status)))
}
