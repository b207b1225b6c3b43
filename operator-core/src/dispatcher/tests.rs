//! A run may be dropped at every await.

mod status;

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, channel::mpsc};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::yield_now;
use tower::{BoxError, service_fn, util::BoxService};

use super::*;
use crate::{
    cache::Informer,
    client::{ResponseBody, TransportHook},
    event_source::{EventSource, InformerEventSource, RustType},
    observe::{Causes, Observation, Observer, Observers},
    processor::{FailureKind, RunId},
    reconciler::{Context, Offline, OfflineParts, Reconciler, UpdateControl, erased, run},
    resource::{ObjectKey, ResourceVersion, Uid},
};

/// Later than any answer of the server.
const LATEST: u64 = 1_000_000;

/// Answers each write after a few awaits with what was written, in a new version.
#[derive(Clone, Default)]
struct Server {
    /// Namespaces that end.
    ending: Arc<Mutex<Vec<&'static str>>>,
    /// The refusal of a read of the live primary.
    refusal: Arc<Mutex<Option<Value>>>,
    version: Arc<AtomicU64>,
    watches: Arc<Mutex<Vec<mpsc::UnboundedSender<Bytes>>>>,
}

impl Server {
    async fn answer(self, request: Request<Body>) -> Result<Response<ResponseBody>, BoxError> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let path = request.uri().path().to_owned();
        if query.contains("watch=true") {
            let (sender, receiver) = mpsc::unbounded();
            self.watches.lock().push(sender);
            let frames = receiver.map(|bytes| Ok::<_, BoxError>(Frame::data(bytes)));
            return Ok(Response::new(StreamBody::new(frames).boxed_unsync()));
        }
        if path.ends_with("/configmaps/one")
            && request.method() == http::Method::GET
            && let Some(refusal) = &*self.refusal.lock()
        {
            return refused(404, refusal);
        }
        let answer = if request.method() == http::Method::GET {
            let items = if path.ends_with("/configmaps") { vec![primary(1, &json!({}))] } else { vec![] };
            json!({ "metadata": { "resourceVersion": "1" }, "items": items })
        } else {
            for _ in 0..3 {
                yield_now().await;
            }
            let version = self.version.fetch_add(1, Ordering::SeqCst) + 2;
            let sent: Value = serde_json::from_slice(&request.into_body().collect_bytes().await?)?;
            if self.ending.lock().iter().any(|ending| path.contains(&format!("/{ending}/secrets/"))) {
                let refusal = json!({
                    "kind": "Status", "code": 403, "reason": "Forbidden",
                    "details": { "causes": [{ "reason": "NamespaceTerminating" }] },
                });
                return refused(403, &refusal);
            }
            if path.contains("/secrets/") {
                let mut secret = sent;
                secret["metadata"]["uid"] = "secret".into();
                secret["metadata"]["resourceVersion"] = version.to_string().into();
                secret
            } else {
                primary(version, &sent)
            }
        };
        Ok(Response::new(BodyExt::map_err(Full::new(answer.to_string().into()), never).boxed_unsync()))
    }
}

fn refused(code: u16, status: &Value) -> Result<Response<ResponseBody>, BoxError> {
    let body = BodyExt::map_err(Full::new(status.to_string().into()), never).boxed_unsync();
    Ok(Response::builder().status(code).body(body)?)
}

fn never(never: Infallible) -> BoxError {
    match never {}
}

fn primary(version: u64, sent: &Value) -> Value {
    let finalizers = sent.pointer("/metadata/finalizers").cloned().unwrap_or_else(|| json!([]));
    json!({
        "metadata": {
            "name": "one", "namespace": "shop", "uid": "u", "resourceVersion": version.to_string(),
            "finalizers": finalizers,
        },
    })
}

/// Writes a secondary and the primary in all ways that differ in their awaits.
struct Writes {
    child_in: &'static str,
}

impl Reconciler for Writes {
    type Primary = ConfigMap;

    async fn reconcile(
        &self,
        map: &ConfigMap,
        context: &mut Context<ConfigMap>,
    ) -> Result<UpdateControl<ConfigMap>, BoxError> {
        let mut secret = Secret::default();
        (secret.metadata.name, secret.metadata.namespace) =
            (Some("child".into()), Some(self.child_in.into()));
        let operations = context.resource_operations();
        operations.server_side_apply(&secret).await?;
        operations.json_patch(map, |map| map.data = Some([("a".into(), "b".into())].into())).await?;
        let mut desired = map.clone();
        desired.immutable = Some(false);
        Ok(UpdateControl::patch_resource(desired))
    }
}

/// Runs that have started and not finished.
#[derive(Debug, Default)]
struct UnderWay(AtomicI64);

impl Observer for UnderWay {
    fn observe(&self, observation: &Observation<'_>) {
        match observation {
            Observation::RunStarted { .. } => self.0.fetch_add(1, Ordering::SeqCst),
            Observation::RunFinished { .. } => self.0.fetch_sub(1, Ordering::SeqCst),
            _ => 0,
        };
    }
}

struct World {
    server: Server,
    under_way: Arc<UnderWay>,
    dispatcher: Dispatcher,
}

impl World {
    async fn new(timeout: Option<Duration>) -> Self {
        Self::with_child_in("shop", timeout).await
    }

    async fn with_child_in(child_in: &'static str, timeout: Option<Duration>) -> Self {
        Self::with(Writes { child_in }, timeout).await
    }

    async fn with(reconciler: Writes, timeout: Option<Duration>) -> Self {
        let server = Server::default();
        let hook = {
            let server = server.clone();
            TransportHook::new(move |_| {
                let server = server.clone();
                BoxService::new(service_fn(move |request| server.clone().answer(request)))
            })
        };
        let under_way = Arc::new(UnderWay::default());
        let shared = Offline::<ConfigMap>::new(OfflineParts {
            hooks: vec![hook],
            finalizer: Some("example.com/finalizer".into()),
            sources: vec![Arc::new(InformerEventSource::<Secret>::new())],
            observers: Observers::new(vec![Arc::clone(&under_way) as Arc<dyn Observer>]),
            ..OfflineParts::default()
        })
        .shared;
        let (environment, primaries) = (&shared.writer.environment, shared.primary.informer());
        shared.scopes.follow(primaries);
        let secrets = shared.sources.all().next().expect("the source of secrets");
        environment.spawn("test", EventSource::run(primaries));
        environment.spawn("test", secrets.run());
        primaries.synced().await;
        secrets.synced().await;
        let code = Arc::new(Code { reconciler, cleanup: None });
        let source_names = Arc::from(["Secret".to_owned()]);
        let dispatcher = Dispatcher {
            code,
            status: Some(erased(|_: &ConfigMap, _: &run::Run<ConfigMap>| json!({}))),
            never_retries: false,
            paused_when: None,
            timeout,
            source_names,
            shared,
        };
        Self { server, under_way, dispatcher }
    }

    fn run(&self) -> Run {
        Run {
            id: RunId::default(),
            key: ObjectKey::namespaced("shop", "one"),
            uid: Uid::new("u"),
            causes: Causes::NONE,
            retry: None,
            departed: None,
        }
    }

    /// The watches go past all versions that were ever answered; what is still kept then was left behind.
    async fn assert_nothing_is_left(&self, polls: usize) {
        assert_eq!(
            self.under_way.0.load(Ordering::SeqCst),
            0,
            "a run counts as under way after {polls} polls"
        );
        let bookmark = json!({
            "type": "BOOKMARK",
            "object": { "kind": "Any", "apiVersion": "v1", "metadata": { "resourceVersion": LATEST.to_string() } },
        });
        for watch in &*self.server.watches.lock() {
            let _ = watch.unbounded_send(format!("{bookmark}\n").into());
        }
        let shared = &self.dispatcher.shared;
        nothing_is_left(shared.primary.informer(), polls).await;
        let secrets = shared
            .sources
            .named_of(RustType::of::<Secret>(), "Secret", &ObjectKey::namespaced("shop", "a"))
            .expect("the source of secrets");
        nothing_is_left(secrets.informer(), polls).await;
    }
}

async fn nothing_is_left(informer: &Informer, polls: usize) {
    let has_passed =
        || informer.last_syncs().iter().all(|(_, sync)| *sync >= Some(ResourceVersion::new(LATEST)));
    while !has_passed() {
        yield_now().await;
    }
    let sizes = informer.sizes();
    assert_eq!((sizes.windows, sizes.overlay), (0, 0), "{} after {polls} polls", informer.name());
}

/// Drops a run after one poll more each time, until it comes to its end.
async fn dropped_at_any_await<F: Future<Output = World>>(world: impl Fn() -> F) {
    let mut polls = 0;
    loop {
        let world = world().await;
        let mut run = Box::pin(world.dispatcher.dispatch(world.run()));
        let mut outcome = None;
        for _ in 0..polls {
            if let std::task::Poll::Ready(ended) = futures::poll!(&mut run) {
                outcome = Some(ended);
                break;
            }
            // Lets the clients' tasks, which carry the requests, continue.
            yield_now().await;
        }
        drop(run);
        world.assert_nothing_is_left(polls).await;
        if let Some(outcome) = outcome {
            assert_eq!(outcome, Outcome::Success { reschedule: None });
            break;
        }
        polls += 1;
    }
    // Five writes of several awaits each: finalizer, child, data, object, status.
    assert!(polls > 15, "only {polls} polls");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_at_any_await_leaves_nothing_behind() {
    dropped_at_any_await(|| World::new(None)).await;
    dropped_at_any_await(|| async { status::with_a_function(None).await.0 }).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_passes_its_deadline_fails_and_leaves_nothing_behind() {
    let world = World::new(Some(Duration::ZERO)).await;
    let outcome = world.dispatcher.dispatch(world.run()).await;
    assert_eq!(outcome, Outcome::Failed { kind: FailureKind::Retryable, not_before: None, again: None });
    world.assert_nothing_is_left(0).await;
}

#[tokio::test(start_paused = true)]
async fn only_a_primary_that_goes_with_its_namespace_is_not_tried_again() {
    for (child_in, kind) in [("shop", FailureKind::Permanent), ("elsewhere", FailureKind::Outside)] {
        let world = World::with_child_in(child_in, None).await;
        world.server.ending.lock().push(child_in);
        let outcome = world.dispatcher.dispatch(world.run()).await;
        assert_eq!(outcome, Outcome::Failed { kind, not_before: None, again: None }, "{child_in}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_an_answer_that_names_the_primary_says_that_it_is_gone() {
    let failed = Outcome::Failed { kind: FailureKind::Server, not_before: None, again: None };
    // A server that doesn't serve the kind just now answers 404 as well.
    for (details, outcome) in [(json!({ "name": "one" }), Outcome::Gone), (json!({}), failed)] {
        let world = World::new(None).await;
        let refusal = json!({ "kind": "Status", "code": 404, "reason": "NotFound", "details": details });
        *world.server.refusal.lock() = Some(refusal);
        let run = world.run();
        world.dispatcher.shared.primary.doubt(&run.key);
        assert_eq!(world.dispatcher.dispatch(run).await, outcome, "{details}");
    }
}
