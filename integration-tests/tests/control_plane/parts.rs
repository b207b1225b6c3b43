//! Parts that die, hang and come back; each test with a control plane of its own.

use std::{path::Path, process::Command};

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use operator_core::testing::{ControlPlane, Error, Part};

use crate::{eventually, life};

#[tokio::test]
async fn a_part_that_cannot_start_is_a_clear_error() {
    let result = ControlPlane::builder().flag(Part::ApiServer, "--no-such-flag").start().await;
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::Died { part, .. } if part == "kube-apiserver"), "{error:?}");
    assert!(error.to_string().contains("unknown flag: --no-such-flag"), "{error}");
}

#[tokio::test]
async fn the_tests_that_share_a_control_plane_are_told_in_one_line_why_there_is_none() {
    let result = ControlPlane::builder().flag(Part::ApiServer, "--no-such-flag").start_shared().await;
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::NotStarted { .. }), "{error:?}");
    let text = format!("{error} {error:?}");
    assert!(text.contains("kube-apiserver ended by itself") && !text.contains("no-such-flag"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[tokio::test]
async fn a_part_that_dies_ends_them_all() {
    let plane = ControlPlane::builder().start().await.unwrap();
    let processes = plane.processes();
    let folder = plane.folder().unwrap().to_owned();
    let [supervisor, etcd, _] = processes[..] else { panic!("{processes:?}") };
    assert_ne!(supervisor, etcd);
    life::signal("KILL", etcd);
    let error = plane.failed().await;
    assert!(matches!(&error, Error::Died { part, .. } if part == "etcd"), "{error:?}");
    life::all_gone(&processes, &folder).await;
}

#[tokio::test]
async fn a_killed_supervisor_takes_the_parts_along() {
    let plane = ControlPlane::builder().start().await.unwrap();
    let (processes, folder) = (plane.processes(), plane.folder().unwrap().to_owned());
    life::signal("KILL", processes[0]);
    assert!(matches!(plane.failed().await, Error::Ended));
    life::all_gone(&processes, &folder).await;
}

#[tokio::test]
async fn the_api_server_crashes_and_comes_back_with_its_data() {
    let cluster = TestCluster::new(ControlPlane::builder().start().await.unwrap());
    let namespace = cluster.namespace("kept").await.unwrap();
    let plane = cluster.control_plane().unwrap();
    plane.kill_part(Part::ApiServer).await.unwrap();
    let namespaces = Api::<Namespace>::all(cluster.client().unwrap());
    assert!(namespaces.get(&namespace).await.is_err(), "nobody should answer");
    plane.start_part(Part::ApiServer).await.unwrap();
    namespaces.get(&namespace).await.unwrap();
}

#[tokio::test]
async fn a_paused_api_server_answers_when_it_is_resumed() {
    let plane = ControlPlane::builder().start().await.unwrap();
    let namespaces = Api::<Namespace>::all(Client::try_from(plane.config()).unwrap());
    plane.pause_part(Part::ApiServer).await.unwrap();
    // A new connection would wait for 30 s in its TLS handshake.
    let answer = tokio::time::timeout(Duration::from_millis(300), namespaces.get("default")).await;
    assert!(answer.is_err(), "a paused API server has answered: {answer:?}");
    plane.resume_part(Part::ApiServer).await.unwrap();
    eventually("an answer", || async { namespaces.get("default").await.ok() }).await;
    // The end must come also when a part is paused.
    plane.pause_part(Part::ApiServer).await.unwrap();
    let (processes, folder) = (plane.processes(), plane.folder().unwrap().to_owned());
    plane.stop().await;
    life::all_gone(&processes, &folder).await;
}

#[tokio::test]
async fn the_kubeconfig_serves_kubectl() {
    let cluster = TestCluster::shared().await.unwrap();
    let plane = cluster.control_plane().unwrap();
    let (kubectl, kubeconfig) = (plane.assets().unwrap().kubectl().unwrap(), plane.kubeconfig().unwrap());
    let output = Command::new(kubectl)
        .args(["get", "namespace", "default", "-o", "name"])
        .env("KUBECONFIG", kubeconfig)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "namespace/default\n", "{output:?}");
}

#[tokio::test]
async fn dropping_it_is_enough() {
    let plane = ControlPlane::builder().start().await.unwrap();
    let (processes, folder) = (plane.processes(), plane.folder().unwrap().to_owned());
    assert_eq!(processes.len(), 3);
    assert!(Path::new(&folder).exists());
    drop(plane);
    assert!(!folder.exists(), "the drop should have waited");
    life::all_gone(&processes, &folder).await;
}
