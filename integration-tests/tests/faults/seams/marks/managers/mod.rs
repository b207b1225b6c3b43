//! A field manager that a newer version of the controller doesn't use any more: what it has applied becomes what the
//! newer version applies, so that a field which isn't wanted any more goes.
//!
//! Each test judges the requests one by one, by what they are, and the managed fields that they leave behind.

mod dependents;
mod primaries;

use futures::future::BoxFuture;
use http::{Method, header::CONTENT_TYPE};
use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use operator_core::client::TransportHook;

use super::{pass, scene, somebodys_map};

/// What somebody does.
type Action = Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send>;

/// The requests about the primary and its dependent, and what somebody does just before the first JSON patch.
#[derive(Clone, Default)]
struct Requests {
    made: Arc<Mutex<Vec<String>>>,
    before: Arc<Mutex<Option<Action>>>,
}

impl Requests {
    /// The requests since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.made.lock())
    }

    fn hook(&self) -> TransportHook {
        let requests = self.clone();
        TransportHook::around(move |request, inner| {
            let requests = requests.clone();
            async move {
                let path = request.uri().path().to_owned();
                let Some(at) = path.find("/one") else { return inner.send(request).await };
                let kind = path[..at].rsplit('/').next().unwrap_or_default();
                let object = format!("{kind}{}", &path[at..]);
                let content = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
                let verb = match (request.method(), content) {
                    (&Method::PATCH, Some("application/apply-patch+yaml")) => "apply",
                    (&Method::PATCH, Some("application/json-patch+json")) => "json patch",
                    (&Method::GET, _) => "get",
                    _ => "something else",
                };
                let action = requests.before.lock().take_if(|_| verb == "json patch");
                if let Some(action) = action.map(|action| action()) {
                    action.await.expect("others can do what the test wants them to do");
                }
                let answer = inner.send(request).await;
                let code = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
                requests.made.lock().push(format!("{verb} {object} {code}"));
                answer
            }
        })
    }
}

/// The older version has done its work for the primary `one`.
async fn after(scene: &Scene, older: ControllerBuilder<Script>) -> Result<()> {
    let operator = scene.start(older).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    operator.stop().await;
    Ok(())
}

/// The requests of the newer version in its first run; a later one makes none, nor does one of a new process.
async fn upgraded(
    scene: &Scene,
    requests: &Requests,
    newer: impl Fn() -> Result<ControllerBuilder<Script>>,
) -> Result<Vec<String>> {
    let mut first = None;
    for again in ["1", "2"] {
        let operator = scene.start_through(requests.hook(), newer()?.generation_aware(false)).await?;
        operator.settled().await?;
        match &first {
            None => first = Some(requests.take()),
            Some(_) => assert_eq!(requests.take(), [""; 0], "a new process"),
        }
        scene.patch("one", json!({ "metadata": { "annotations": { "again": again } } })).await?;
        let later = operator.settled().await?;
        assert_eq!((later.runs_of(&scene.key("one")), requests.take()), (1, Vec::new()), "the next run");
        operator.stop().await;
    }
    Ok(first.unwrap_or_default())
}

/// Manager, operation and subresource of an entry.
fn who(entry: &ManagedFieldsEntry) -> String {
    let parts = [&entry.manager, &entry.operation, &entry.subresource];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}
