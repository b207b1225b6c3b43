//! Waiting until a control plane is of use.

use std::{future::Future, time::Duration};

use k8s_openapi::api::core::v1::{Namespace, Node, ServiceAccount};
use kube::{Api, Client};

use super::process::Supervisor;
use crate::testing::Error;

/// Between two looks. A control plane is ready after some seconds, and a look takes about a millisecond.
const INTERVAL: Duration = Duration::from_millis(50);

/// Waits for `condition` until `timeout` or until a part dies, whichever is first. `what` is a phrase like
/// "the node is".
pub(super) async fn within(
    timeout: Duration,
    supervisor: &Supervisor,
    what: &str,
    condition: impl Future<Output = ()>,
) -> Result<(), Error> {
    tokio::select! {
        biased;
        error = supervisor.failed() => Err(error),
        result = tokio::time::timeout(timeout, condition) => result.map_err(|_| Error::NotReady {
            what: what.to_owned(),
            seconds: timeout.as_secs(),
            last: None,
        }),
    }
}

/// Looks again and again until it is true.
async fn until<F: Future<Output = bool>>(mut look: impl FnMut() -> F) {
    while !look().await {
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Something accepts connections on the socket.
pub(super) async fn listens(socket: &std::path::Path) {
    until(|| async { tokio::net::UnixStream::connect(socket).await.is_ok() }).await;
}

/// `/readyz` is ok, and the namespace `default` is there, which is made only afterwards.
pub(super) async fn api_server(client: &Client) {
    let namespaces = Api::<Namespace>::all(client.clone());
    until(|| async { is_ready(client).await && namespaces.get("default").await.is_ok() }).await;
}

async fn is_ready(client: &Client) -> bool {
    let Ok(request) = http::Request::get("/readyz").body(Vec::new()) else { return false };
    client.request_text(request).await.is_ok_and(|answer| answer == "ok")
}

/// The controllers work: one of them has made a service account.
pub(super) async fn controllers(client: &Client) {
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "default");
    until(|| async { accounts.get("default").await.is_ok() }).await;
}

/// The node is ready, and the controllers have taken away the taint that a new node gets.
pub(super) async fn node(client: &Client, name: &str) {
    let nodes = Api::<Node>::all(client.clone());
    until(|| async { nodes.get(name).await.is_ok_and(|node| takes_pods(&node)) }).await;
}

fn takes_pods(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready =
        conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let tainted = node.spec.iter().any(|spec| spec.taints.iter().flatten().next().is_some());
    ready && !tainted
}
