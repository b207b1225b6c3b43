//! Where objects are looked up.

use operator_core::testing::TestCluster;

use super::*;

fn key_of(api_version: &str, kind: &str, namespace: &str, name: &str) -> LookupKey {
    let [api_version, kind, namespace, name] = [api_version, kind, namespace, name].map(str::to_owned);
    LookupKey { api_version, kind, namespace, name }
}

#[test]
fn a_key_is_shown_with_its_kind_and_place() {
    assert_eq!(key("Secret", "admin").to_string(), "Secret shop/admin (v1)");
    assert_eq!(key_of("apps/v1", "Deployment", "", "web").to_string(), "Deployment web (apps/v1)");
}

#[tokio::test]
async fn objects_are_a_cluster_for_tests() {
    let objects = "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}";
    let objects = Objects::from_yaml(objects).expect("it is YAML");
    for (key, is_there) in [
        (key("Secret", "a"), true),
        (key_of("v1", "Namespace", "", "shop"), true),
        (key("Secret", "b"), false),
        (key("ConfigMap", "a"), false),
        (key_of("v2", "Secret", "shop", "a"), false),
        (key_of("v1", "Secret", "", "a"), false),
        (key_of("v1", "Namespace", "shop", "shop"), false),
    ] {
        let found = objects.lookup(&key).await.expect("it is known");
        assert_eq!(found.is_some(), is_there, "{key}");
    }
}

#[tokio::test]
async fn a_client_reads_from_the_server() {
    let cluster = TestCluster::in_process();
    let client = cluster.client().expect("a client");
    let found = client.lookup(&key_of("v1", "Namespace", "", "default")).await.expect("the server answers");
    assert_eq!(found.expect("it is there")["metadata"]["name"], "default");
    for absent in [
        key_of("v1", "Secret", "default", "absent"),
        key_of("v1", "Page", "default", "absent"),
        key_of("shop.io/v1", "Page", "default", "absent"),
        key_of("apps/v9", "Deployment", "default", "absent"),
    ] {
        let found = client.lookup(&absent).await;
        assert!(found.unwrap_or_else(|error| panic!("{absent}: {error}")).is_none(), "{absent}");
    }
    let error = client.lookup(&key_of("v1", "Secret", "", "admin")).await.expect_err("it has no namespace");
    assert_eq!(error.to_string(), "a Secret is in a namespace, and none is given");
    assert!(is_permanent(&*error));
}

#[tokio::test]
async fn without_a_cluster_a_lookup_is_a_permanent_error() {
    let primary = primary();
    let error = RenderContext::of(&primary).lookup(&key("Secret", "a")).await.expect_err("no cluster");
    assert!(is_permanent(&*error));
    assert!(error.to_string().ends_with("use `RenderContext::with_lookup`"), "{error}");
}

#[test]
fn a_context_shows_no_parameters() {
    let primary = primary();
    let cx = RenderContext::of(&primary)
        .with_parameters(json!({ "password": "hidden" }))
        .with_namespace("other")
        .with_name("db")
        .with_digest("abc");
    assert_eq!((cx.namespace(), cx.name(), cx.digest()), (Some("other"), "db", "abc"));
    assert!(!format!("{cx:?}").contains("hidden"), "{cx:?}");
}
