//! Waits until a control plane can be used.

use std::{path::Path, time::Duration};

use k8s_openapi::api::core::v1::{Namespace, Node, ServiceAccount};
use kube::{Api, Client};

use super::process::Supervisor;
use crate::{
    error::Error,
    looks::{Look, until},
};

/// Whether it is available, or what was seen instead.
type Seen = Result<(), String>;

/// Checks until it is available, until `timeout`, or until a part dies, whichever is first. `what` is a phrase like
/// "the node is".
pub(super) async fn within<F: Future<Output = Seen>>(
    timeout: Duration,
    supervisor: &Supervisor,
    what: &str,
    look: impl Fn() -> F,
) -> Result<(), Error> {
    let looks = until(what, timeout, || {
        let seen = look();
        async move { Ok(seen.await.map_or_else(|reason| Look::NotYet(Some(reason)), Look::Found)) }
    });
    tokio::select! {
        biased;
        error = supervisor.failed() => Err(error),
        result = looks => result,
    }
}

/// Something accepts connections on the socket.
pub(super) async fn listens(socket: &Path) -> Seen {
    told(tokio::net::UnixStream::connect(socket).await).map(drop)
}

/// `/readyz` is ok, and the namespace `default` exists, which is created only afterwards.
pub(super) async fn api_server(client: &Client) -> Seen {
    let answer = client.request_text(told(http::Request::get("/readyz").body(Vec::new()))?).await;
    match told(answer)?.as_str() {
        "ok" => told(Api::<Namespace>::all(client.clone()).get("default").await).map(drop),
        other => Err(other.to_owned()),
    }
}

/// The controllers work: one of them has created a service account.
pub(super) async fn controllers(client: &Client) -> Seen {
    told(Api::<ServiceAccount>::namespaced(client.clone(), "default").get("default").await).map(drop)
}

/// The node is ready, and the controllers have removed the taint that a new node gets.
pub(super) async fn node(client: &Client, name: &str) -> Seen {
    takes_pods(&told(Api::<Node>::all(client.clone()).get(name).await)?)
}

fn takes_pods(node: &Node) -> Seen {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready =
        conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    if !ready {
        return Err("it has no condition Ready".to_owned());
    }
    match node.spec.iter().flat_map(|spec| spec.taints.iter().flatten()).next() {
        Some(taint) => Err(format!("it has the taint {}", taint.key)),
        None => Ok(()),
    }
}

fn told<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}
