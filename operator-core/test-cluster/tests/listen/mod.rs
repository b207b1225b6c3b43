//! The socket of the in-process server, with clients that nobody here wrote.

mod operators;
mod raw;
mod users;
mod wire;

use std::{error::Error, process::Output};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use test_cluster::{InProcessServer, Listening};

use crate::harness::{Tested, kubectl, planes::client_of};

/// Runs kubectl, without blocking the server.
async fn run(listening: &Listening, arguments: &str) -> Result<Output, Box<dyn Error>> {
    let kubeconfig = listening.kubeconfig().to_owned();
    let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    let run = move || {
        let home = tempfile::tempdir().map_err(test_cluster::Error::io("make a folder"))?;
        let mut command = kubectl::command(&kubectl::kubectl()?, &kubeconfig, home.path());
        command.args(arguments).output().map_err(test_cluster::Error::io("run kubectl"))
    };
    Ok(tokio::task::spawn_blocking(run).await??)
}

#[tokio::test]
async fn a_plain_client_uses_it() -> Tested {
    let server = InProcessServer::new();
    let listening = server.listen().await?;
    let client = client_of(listening.kubeconfig()).await?;
    Api::<Namespace>::all(client.clone()).get("default").await?;
    let maps = Api::<ConfigMap>::default_namespaced(client);
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "one" }, "data": { "a": "b" } });
    maps.patch("one", &PatchParams::apply("me"), &Patch::Apply(map)).await?;
    assert!(server.stored("", "configmaps", Some("default"), "one").is_some());
    Ok(())
}

#[tokio::test]
async fn kubectl_uses_it() -> Tested {
    let listening = InProcessServer::new().listen().await?;
    let output = run(&listening, "get namespace default -o jsonpath={.status.phase}").await?;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Active", "{output:?}");
    Ok(())
}

#[tokio::test]
async fn a_taken_port_is_named() -> Tested {
    let listening = InProcessServer::new().listen().await?;
    let port: u16 = listening.url().rsplit(':').next().unwrap_or_default().parse()?;
    let error = InProcessServer::new().listen_on(port).await.expect_err("it is taken");
    assert_eq!(
        error.to_string(),
        format!("could not listen on 127.0.0.1:{port} (0 stands for any free port)")
    );
    Ok(())
}
