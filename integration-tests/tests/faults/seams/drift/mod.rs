//! Changes by others that an apply can't undo. Only a real server validates the merged object.
//!
//! Each test judges the requests about the dependent one by one, by their kind: an apply, a JSON patch, and their answers.

mod immutable;
mod others;
mod ours;
mod ports;
mod races;

use futures::future::BoxFuture;
use http::{Method, Request, header::CONTENT_TYPE};
use integration_tests::prelude::*;
use k8s_openapi::NamespaceResourceScope;
use operator_core::{client::TransportHook, resource::KubeObject, testing::Profile, workflow::IntoNode};

/// The handling of a refused apply.
const PUT_BACK: [&str; 5] = ["apply 422", "get 200", "json patch 200", "json patch 200", "apply 200"];

/// A namespace on a server without controllers, which would write as well.
async fn scene() -> Result<Scene> {
    let cluster = cluster_with(Profile::ApiServer).await?;
    cluster.control_plane()?;
    Scene::on(cluster, "drift").await
}

/// The requests about one dependent, `one-web`, and the actions of others just before some of them.
#[derive(Clone, Default)]
struct Requests {
    made: Arc<Mutex<Vec<String>>>,
    bodies: Arc<Mutex<Vec<Value>>>,
    before: Arc<Mutex<Option<Before>>>,
}

/// The action before the request of that kind and number.
struct Before {
    kind: &'static str,
    number: AtomicUsize,
    action: Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send>,
}

impl Requests {
    /// The requests since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.made.lock())
    }

    /// How many of the requests since the last time are this one.
    fn count(&self, request: &str) -> usize {
        self.made.lock().iter().filter(|made| *made == request).count()
    }

    /// The bodies of the JSON patches and deletions since the last time.
    fn bodies(&self) -> Vec<Value> {
        std::mem::take(&mut self.bodies.lock())
    }

    /// Does something once, just before the request with that number among those of its kind, counted from 1.
    fn before(
        &self,
        kind: &'static str,
        number: usize,
        action: impl Fn() -> BoxFuture<'static, Result<()>> + Send + 'static,
    ) {
        let number = AtomicUsize::new(number);
        *self.before.lock() = Some(Before { kind, number, action: Box::new(action) });
    }

    fn due(&self, kind: &str) -> Option<BoxFuture<'static, Result<()>>> {
        let mut before = self.before.lock();
        let due = before.as_ref().filter(|before| before.kind == kind)?;
        if due.number.fetch_sub(1, Ordering::SeqCst) > 1 {
            return None;
        }
        before.take().map(|before| (before.action)())
    }

    fn hook(&self) -> TransportHook {
        let requests = self.clone();
        TransportHook::around(move |request, inner| {
            let requests = requests.clone();
            async move {
                if !request.uri().path().ends_with("/one-web") {
                    return inner.send(request).await;
                }
                let content = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
                let kind = match (request.method(), content) {
                    (&Method::PATCH, Some("application/apply-patch+yaml")) => "apply",
                    (&Method::PATCH, Some("application/json-patch+json")) => "json patch",
                    (&Method::GET, _) => "get",
                    (&Method::DELETE, _) => "delete",
                    _ => "something else",
                };
                if let Some(action) = requests.due(kind) {
                    action.await.expect("others can do what the test wants them to do");
                }
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                if let ("json patch" | "delete", Ok(body)) = (kind, serde_json::from_slice(&body)) {
                    requests.bodies.lock().push(body);
                }
                let request = Request::from_parts(parts, body.into());
                let answer = inner.send(request).await;
                let code = answer
                    .as_ref()
                    .map_or_else(|_| "no answer".to_owned(), |one| one.status().as_u16().to_string());
                requests.made.lock().push(format!("{kind} {code}"));
                answer
            }
        })
    }
}

/// What is refused is tried again after the test has looked at the first attempt.
fn after_a_minute() -> Result<GenericRetry> {
    Ok(GenericRetry::linear(Duration::from_secs(60), 1)?)
}

/// An operator with one dependent, for the primary `one` with that value, when all is as desired.
async fn started<M, N: IntoNode<TestResource, M>>(
    scene: &Scene,
    dependent: N,
    value: &str,
) -> Result<(TestOperator, Requests, Script)> {
    let (requests, script) = (Requests::default(), Script::idle());
    let controller = scene.managed(&script, &workflow_of_one(dependent)?).retry(after_a_minute()?);
    let operator = scene.start_through(requests.hook(), controller).await?;
    scene.create("one", value).await?;
    operator.settled().await?;
    assert_eq!(requests.take(), ["apply 201"]);
    Ok((operator, requests, script))
}

/// The operator's requests about the dependent until nothing happens any more.
async fn requests(operator: &TestOperator, requests: &Requests) -> Result<Vec<String>> {
    operator.settled().await?;
    Ok(requests.take())
}

/// Someone edits the dependent.
async fn edit<K>(scene: &Scene, operations: Value) -> Result<K>
where
    K: KubeObject + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    edited(&scene.api(), operations).await
}

async fn edited<K: KubeObject>(api: &Api<K>, operations: Value) -> Result<K> {
    let editor = PatchParams { field_manager: Some("kubectl-edit".to_owned()), ..PatchParams::default() };
    let patch = Patch::<K>::Json(serde_json::from_value(operations)?);
    Ok(api.patch("one-web", &editor, &patch).await?)
}

/// The operations of a JSON patch and where they are.
fn operations(patch: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let operations = patch.as_array().into_iter().flatten();
    operations.map(|one| format!("{} {}", text(&one["op"]), text(&one["path"]))).collect()
}

/// The names and numbers of the service's ports.
async fn ports(scene: &Scene) -> Result<Vec<(String, i32)>> {
    let service = scene.api::<Service>().get("one-web").await?;
    let ports = service.spec.and_then(|spec| spec.ports).context("a service has ports")?;
    Ok(ports.into_iter().map(|port| (port.name.unwrap_or_default(), port.port)).collect())
}

/// Ports as the value of a primary says them: `http:80 admin:90`.
fn said(value: &str) -> Vec<(String, i32)> {
    let port = |word: &str| {
        word.split_once(':').and_then(|(name, port)| Some((name.to_owned(), port.parse().ok()?)))
    };
    value.split(' ').filter_map(port).collect()
}

/// The service that the primary's value describes.
fn service(primary: &TestResource) -> Service {
    let port = |(name, port): (String, i32)| serde_json::json!({ "name": name, "port": port });
    let ports: Vec<_> = said(&primary.spec.value).into_iter().map(port).collect();
    let service = serde_json::json!({
        "metadata": integration_tests::meta_of(primary, "web"),
        "spec": { "selector": { "app": "web" }, "ports": ports },
    });
    integration_tests::from_json(&service).expect("a service")
}
