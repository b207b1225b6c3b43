//! Default names: what they look like, that no two are equal, and that the server takes them for each kind that it serves.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{
    api::{apps::v1::StatefulSet, core::v1::ConfigMap, core::v1::Service, scheduling::v1::PriorityClass},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Client,
    core::{ApiResource, GroupVersionKind},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use test_cluster::InProcessServer;

use super::names::{complete, default_name};
use crate::resource::{Nodes, ObjectKey, ResourceType};

/// Primaries that are hard to name something after: the longest ones, those with dots, digits and hyphens, and those of
/// kinds whose names may be anything.
const PRIMARIES: [&str; 16] = [
    "shop",
    "shop-web",
    "shop-web-web",
    "shop.web",
    "1-shop",
    "1.2.3",
    "system-shop",
    "a",
    "0",
    "x-1-shop",
    "a-long-name-of-a-primary-that-is-still-shorter-than-sixty",
    "a-name-of-a-primary-that-has-52-letters-with-its-nod",
    "a.name.with.more.than.a.hundred.letters.a.name.with.more.than.a.hundred.letters.a.name.with.more.than.a.hundred.letters",
    "Shop",
    "system:shop",
    "größe",
];

/// Nodes as functions, types and people are called.
const NODES: [&str; 14] = [
    "web",
    "admin",
    "web_admin",
    "web-admin",
    "Web_Admin",
    "web_web_admin",
    "_web",
    "web_",
    "WebAdmin",
    "größe",
    "_",
    "1",
    "numbered::<2>",
    "a_function_whose_name_alone_is_already_longer_than_any_label_of_the_cluster_may_be",
];

fn nodes<'n>(names: impl IntoIterator<Item = &'n str>, kind: &ResourceType) -> Nodes {
    names.into_iter().map(|name| (name, kind)).collect()
}

fn of_map(primary: &str, node: &str) -> String {
    let kind = ResourceType::of::<ConfigMap>();
    default_name(&kind, primary, node, &nodes([node], &kind))
}

#[test]
fn a_name_is_made_of_primary_and_node() {
    assert_eq!(of_map("page", "web"), "page-web");
    assert_eq!(of_map("page", "of_team"), "page-of-team");
    assert_eq!(of_map("page", "Records"), "page-records");
}

#[test]
fn a_changed_name_is_distinguished_by_a_hash() {
    let (dots, hyphens) = (of_map("a.b", "web"), of_map("a-b", "web"));
    assert!(dots.starts_with("a-b-web-") && dots != hyphens, "{dots}");
    let long = of_map(&"a".repeat(100), "web");
    assert_eq!(long.len(), 63);
    assert_ne!(long, of_map(&"a".repeat(100), "html"));
}

#[test]
fn a_name_that_another_node_may_make_has_a_hash_and_only_that_one() {
    let kind = ResourceType::of::<ConfigMap>();
    let both = nodes(["admin", "web_admin"], &kind);
    let name = |primary, node| default_name(&kind, primary, node, &both);
    assert_eq!(name("shop", "web_admin"), "shop-web-admin");
    assert_eq!(name("shop", "admin"), "shop-admin");
    assert!(name("shop-web", "admin").starts_with("shop-web-admin-"), "{}", name("shop-web", "admin"));
    assert_eq!(name("web", "admin"), "web-admin", "no primary is called like that without its end");
    let other = nodes(["web_admin"], &ResourceType::of::<Service>());
    assert_eq!(default_name(&kind, "shop-web", "admin", &other), "shop-web-admin", "another kind");
}

#[test]
fn a_name_is_as_short_as_its_kind_demands_and_begins_as_it_may() {
    let of = |kind: &ResourceType, primary: &str| default_name(kind, primary, "web", &nodes(["web"], kind));
    let sets = ResourceType::of::<StatefulSet>();
    assert_eq!(of(&sets, &"a".repeat(48)), format!("{}-web", "a".repeat(48)));
    assert_eq!(of(&sets, &"a".repeat(49)).len(), 52);
    let service = of(&ResourceType::of::<Service>(), "1-shop");
    assert!(service.starts_with("x-1-shop-web-"), "{service}");
    let class = of(&ResourceType::of::<PriorityClass>(), "system-shop");
    assert!(class.starts_with("x-system-shop-web-"), "{class}");
}

#[test]
fn no_two_names_are_equal() {
    let kind = ResourceType::of::<ConfigMap>();
    let all = nodes(NODES, &kind);
    let mut seen = BTreeMap::new();
    for primary in PRIMARIES {
        for node in NODES {
            let other = seen.insert(default_name(&kind, primary, node, &all), (primary, node));
            assert_eq!(other, None, "the same as {primary} and {node}");
        }
    }
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    /// From few letters, which makes names that meet.
    #[test]
    fn no_two_names_of_a_controller_are_equal(
        primaries in prop::collection::btree_set("[ab1](-?[ab1.]{0,3}[ab1]){0,3}", 1..6),
        names in prop::collection::btree_set("[aAb_-]{1,5}", 1..6),
        long in 0_usize..60,
    ) {
        for kind in [ResourceType::of::<ConfigMap>(), ResourceType::of::<StatefulSet>(), ResourceType::of::<Service>()] {
            let all = nodes(names.iter().map(String::as_str), &kind);
            let mut seen = BTreeSet::new();
            for primary in &primaries {
                let primary = format!("{}{primary}", "b".repeat(long));
                for node in &names {
                    let name = default_name(&kind, &primary, node, &all);
                    prop_assert!(seen.insert(name.clone()), "{primary} {node}: {name}");
                }
            }
        }
    }
}

/// The kinds that a server serves.
async fn served(client: &Client) -> Vec<(ResourceType, bool)> {
    let mut versions = vec![client.list_core_api_resources("v1").await.expect("the core's kinds")];
    for group in client.list_api_groups().await.expect("the groups").groups {
        for version in group.versions {
            let of_it = client.list_api_group_resources(&version.group_version).await;
            versions.push(of_it.expect("the kinds of a group"));
        }
    }
    let mut kinds = Vec::new();
    for version in versions {
        let (group, name) = version.group_version.rsplit_once('/').unwrap_or(("", &version.group_version));
        for resource in &version.resources {
            let group = resource.group.as_deref().unwrap_or(group);
            if resource.name.contains('/') || !resource.verbs.iter().any(|verb| verb == "create") {
                continue;
            }
            let gvk = GroupVersionKind::gvk(group, name, &resource.kind);
            let kind = ResourceType::from(&ApiResource::from_gvk_with_plural(&gvk, &resource.name));
            let kind = if resource.namespaced { kind } else { kind.cluster_scoped() };
            kinds.push((kind, resource.namespaced));
        }
    }
    kinds
}

/// What a server says about the name of an object, if it refuses it.
async fn refusal(client: &Client, kind: &ResourceType, name: &str) -> Option<String> {
    let body = json!({ "apiVersion": kind.api_version(), "kind": kind.kind(), "metadata": { "name": name } });
    let path = format!("{}?dryRun=All", kind.collection_path(Some("default")));
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(body.to_string().into_bytes()).expect("a request");
    let Err(kube::Error::Api(status)) = client.request::<Value>(request).await else { return None };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let about = causes.filter(|cause| cause.field.starts_with("metadata.name"));
    let all: Vec<_> = about.map(|cause| cause.message.clone()).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

#[tokio::test]
async fn the_server_takes_the_names_of_each_kind() {
    let client = InProcessServer::new().client();
    let (mut refused, mut checked) = (Vec::new(), 0);
    for (kind, namespaced) in served(&client).await {
        // Requests for a review have no names, and names of these kinds follow from their content.
        let has_meaning = ["CustomResourceDefinition", "APIService", "IPAddress"].contains(&kind.kind());
        if has_meaning || refusal(&client, &kind, "A/b").await.is_none() {
            continue;
        }
        checked += 1;
        let all = nodes(NODES, &kind);
        for primary in PRIMARIES {
            for node in ["web", "größe", "_", "a_function_whose_name_alone_is_longer_than_any_label"] {
                let key = if namespaced {
                    ObjectKey::namespaced("default", primary)
                } else {
                    ObjectKey::cluster_scoped(primary)
                };
                let mut meta = ObjectMeta::default();
                complete(&mut meta, &kind, &key, (node, &all), true).expect("a name");
                let name = meta.name.unwrap_or_default();
                if let Some(why) = refusal(&client, &kind, &name).await {
                    refused.push(format!("{kind:?} {name}: {why}"));
                }
            }
        }
    }
    assert!(checked >= 30, "the server says of {checked} kinds only that a name is wrong");
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_given_name_stays_the_same() {
    let said = || ObjectMeta {
        name: Some("mine".to_owned()),
        namespace: Some("bank".to_owned()),
        ..ObjectMeta::default()
    };
    let (primary, everywhere) = (ObjectKey::namespaced("shop", "page"), ObjectKey::cluster_scoped("page"));
    let completed = |mut meta: ObjectMeta, namespaced, primary: &ObjectKey, only| {
        let kind = ResourceType::of::<ConfigMap>();
        let kind = if namespaced { kind } else { kind.cluster_scoped() };
        let done = complete(&mut meta, &kind, primary, ("web", &Nodes::default()), only);
        done.map(|()| (meta.namespace, meta.name))
    };
    let found =
        |namespace: Option<&str>, name: &str| Ok((namespace.map(str::to_owned), Some(name.to_owned())));
    assert_eq!(completed(said(), true, &primary, true), found(Some("bank"), "mine"));
    assert_eq!(completed(ObjectMeta::default(), true, &primary, true), found(Some("shop"), "page-web"));
    assert_eq!(completed(ObjectMeta::default(), false, &primary, true), found(None, "page-web"));
    assert!(completed(ObjectMeta::default(), true, &primary, false).is_err_and(|why| why.contains("name")));
    assert!(completed(ObjectMeta::default(), true, &everywhere, true).is_err());
    assert_eq!(completed(said(), true, &everywhere, true), found(Some("bank"), "mine"));
}
