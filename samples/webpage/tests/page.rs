//! The operator, tested as a user would: its declaration and its definition, a single run, the life of a page on a server inside
//! the process, and a crash before and after each write.

use std::process::{Command, Output};

use anyhow::Result;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::{
    Api, CustomResourceExt,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use operator_core::{
    ControllerConfiguration as _,
    testing::{TestCluster, TestOperator, eventually, simulation::assert_eventually_stable},
};
use serde_json::json;
use webpage::{STYLES, WebPage, WebPageSpec, styles::managed};

fn page(html: &str) -> WebPage {
    WebPage {
        metadata: ObjectMeta { name: Some("hello".to_owned()), ..ObjectMeta::default() },
        spec: WebPageSpec { html: html.to_owned(), exposed: false },
        status: None,
    }
}

#[test]
fn every_style_is_declared_well() {
    for (_, declare) in STYLES {
        declare().assert_sound();
    }
}

#[test]
fn crd_prints_what_is_in_deploy() -> Result<()> {
    let webpage = |arguments: &[&str]| -> std::io::Result<Output> {
        Command::new(env!("CARGO_BIN_EXE_webpage")).args(arguments).output()
    };
    let checked_in = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/crd.yaml");
    let printed = webpage(&["crd"])?;
    assert!(printed.status.success());
    assert_eq!(String::from_utf8(printed.stdout)?, std::fs::read_to_string(checked_in)?);
    assert_eq!(webpage(&["crd", "--check", checked_in])?.status.code(), Some(0));

    let stale = webpage(&["crd", "--check", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])?;
    assert_eq!(stale.status.code(), Some(2));
    let said = String::from_utf8(stale.stderr)?;
    assert!(said.contains("is stale") && said.contains("crd > "), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_first_run_makes_what_serves_the_page() {
    let run = managed::WebPages.controller().dry_run(&page("<h1>Hello</h1>")).await;
    let writes = run.writes().join(", ");
    assert!(writes.contains("apply ConfigMap/hello-html"), "{writes}");
    assert_eq!(run.body("apply ConfigMap/hello-html")["data"]["index.html"], "<h1>Hello</h1>");
}

#[tokio::test]
async fn a_page_is_served_repaired_and_gone() -> Result<()> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([WebPage::crd()]).await?;
    let (client, namespace) = (cluster.client()?, cluster.namespace("pages").await?);
    let operator = TestOperator::start(cluster.connect(STYLES[0].1())).await?;
    let pages: Api<WebPage> = Api::namespaced(client.clone(), &namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let services: Api<Service> = Api::namespaced(client, &namespace);

    pages.create(&PostParams::default(), &page("<h1>Hello</h1>")).await?;
    eventually("the page to be ready", async || {
        Ok(pages.get("hello").await?.status.is_some_and(|status| status.ready).then_some(()))
    })
    .await?;
    services.get("hello").await?;

    let edit = Patch::Merge(json!({ "data": { "index.html": "defaced" } }));
    maps.patch("hello-html", &PatchParams::default(), &edit).await?;
    eventually("the html to be repaired", async || {
        let data = maps.get("hello-html").await?.data.unwrap_or_default();
        Ok((data.get("index.html").map(String::as_str) == Some("<h1>Hello</h1>")).then_some(()))
    })
    .await?;

    pages.delete("hello", &DeleteParams::default()).await?;
    eventually("the children to be gone", async || {
        Ok(maps.get_opt("hello-html").await?.is_none().then_some(()))
    })
    .await?;
    operator.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_page_is_right_in_the_end_whenever_the_operator_crashes() {
    assert_eventually_stable(STYLES[0].1, page("<h1>one</h1>")).await;
}
