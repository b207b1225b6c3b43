//! Acts at the very moment at which an operator makes a request, which no wait could hit.

use futures::future::BoxFuture;
use http::Method;
use operator_core::{
    client::TransportHook,
    testing::faults::{Faults, Rule},
};

/// A hook that asks `action` about each request, with its method and path; the returned future is awaited before the
/// request is sent.
pub fn before(
    action: impl Fn(&Method, &str) -> Option<BoxFuture<'static, ()>> + Send + Sync + 'static,
) -> TransportHook {
    TransportHook::around(move |request, inner| {
        let action = action(request.method(), request.uri().path());
        async move {
            if let Some(action) = action {
                action.await;
            }
            inner.send(request).await
        }
    })
}

/// A hook that loses the answer to the first request of `method` whose path ends with `path`: the server has carried it
/// out, and the client never learns of it.
pub fn lose_answer(method: Method, path: impl Into<String>) -> TransportHook {
    let path = path.into();
    let is_it =
        move |request: &http::request::Parts| request.method == method && request.uri.path().ends_with(&path);
    Faults::new([Rule::when("that request", is_it).first(1).answer_lost()]).hook()
}
