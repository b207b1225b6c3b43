//! Reports each request to the observers: its verb, the code of its answer and how long that took.
//!
//! This layer is above all other hooks and below any retry, so each attempt counts, as the operator has seen it. A request
//! that is dropped before its answer isn't reported.

use http::{Method, Request};
use kube::client::Body;

use super::{
    TransportHook,
    verb::{ResourcePath, Verb},
};
use crate::{
    environment::Clock,
    observe::{Observation, Observers},
};

/// The hook that reports them.
pub(crate) fn measuring(observers: Observers, clock: Clock) -> TransportHook {
    TransportHook::around(move |request, inner| {
        let (observers, verb) = (observers.clone(), verb(&request));
        async move {
            let began = clock.now();
            let answer = inner.send(request).await;
            let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
            observers.observe(&Observation::Requested { verb, code, took: clock.now() - began });
            answer
        }
    })
}

/// The verb as in role rules; for a request that isn't about an object, the verb follows from the method.
fn verb(request: &Request<Body>) -> &'static str {
    let place = ResourcePath::of(request.uri().path());
    let verb = place.and_then(|place| Verb::of(request.method(), &place, request.uri().query()));
    match verb {
        Some(verb) => verb.in_full(request.headers()).as_str(),
        None if request.method() == Method::GET => Verb::Get.as_str(),
        None => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use http::Response;
    use http_body_util::{BodyExt, Full};
    use tower::{BoxError, Service, service_fn, util::BoxService};

    use parking_lot::Mutex;

    use super::*;
    use crate::{client::Transport, observe::Observer};

    /// What it was told, as `get 200 2s`.
    #[derive(Debug, Default)]
    struct Told(Mutex<Vec<String>>);

    impl Observer for Told {
        fn observe(&self, observation: &Observation<'_>) {
            if let Observation::Requested { verb, code, took } = observation {
                self.0.lock().push(format!("{verb} {} {took:?}", code.unwrap_or_default()));
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_request_is_told_with_its_verb_its_code_and_its_time() {
        let told = Arc::new(Told::default());
        let observer = Arc::clone(&told) as Arc<dyn Observer>;
        let transport: Transport = BoxService::new(service_fn(|request: Request<Body>| async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            if request.method() == Method::DELETE {
                return Err(BoxError::from("reset"));
            }
            let body = Full::default().map_err(|never| match never {}).boxed_unsync();
            Ok(Response::builder()
                .status(if request.method() == Method::PUT { 409 } else { 200 })
                .body(body)?)
        }));
        let hook = measuring(Observers::new(vec![observer]), Clock::start());
        let mut measured = hook.wrap(transport);
        let apply = ("content-type", "application/apply-patch+yaml");
        for (method, path, (name, value)) in [
            ("GET", "/api/v1/namespaces/shop/pods", ("x", "")),
            ("GET", "/api/v1/namespaces/shop/pods?watch=true", ("x", "")),
            ("GET", "/api/v1/namespaces/shop/pods/one", ("x", "")),
            ("GET", "/version", ("x", "")),
            ("PATCH", "/api/v1/namespaces/shop/pods/one", apply),
            ("PUT", "/api/v1/namespaces/shop", ("x", "")),
            ("DELETE", "/api/v1/namespaces/shop/pods/one", ("x", "")),
        ] {
            let request = Request::builder().method(method).uri(path).header(name, value);
            let request = request.body(Body::empty()).expect("a request");
            let _ = measured.call(request).await;
        }
        let expected = ["list 200", "watch 200", "get 200", "get 200", "apply 200", "update 409", "delete 0"];
        assert_eq!(*told.0.lock(), expected.map(|request| format!("{request} 2s")));
    }
}
