//! What is asked for: namespaces, labels, fields, and the shape in which it is kept.

use std::collections::BTreeSet;

use serde_json::json;

use crate::cache::{InitialList, WatchScope};

use super::{
    recorder::key,
    scene::{Scene, item},
};

const SELECTORS: &str = "&fieldSelector=metadata.name%21%3Dx&labelSelector=app%3Dweb";

fn selecting(initial_list: InitialList) -> Scene {
    Scene::with(|config| {
        config.label_selector = Some("app=web".to_owned());
        config.field_selector = Some("metadata.name!=x".to_owned());
        config.initial_list = initial_list;
    })
}

#[tokio::test(start_paused = true)]
async fn selectors_are_part_of_lists_watches_streams_and_barriers() {
    let mut scene = selecting(InitialList::Paged);
    let list = scene.server.next().await;
    assert!(list.uri.contains("fieldSelector=metadata.name%21%3Dx"), "{}", list.uri);
    assert!(list.uri.contains("labelSelector=app%3Dweb"), "{}", list.uri);
    list.page(10, &[], "");
    let watch = scene.server.next().await;
    assert!(watch.uri.contains(SELECTORS), "{}", watch.uri);
    let _watch = watch.open();
    let (informer, server) = (&scene.informer, &mut scene.server);
    let (caught_up, ()) = futures::join!(informer.caught_up(), async {
        let request = server.next().await;
        assert!(request.uri.contains("labelSelector=app%3Dweb"), "{}", request.uri);
        assert!(request.uri.contains("fieldSelector=metadata.name%21%3Dx"), "{}", request.uri);
        request.page(10, &[], "");
    });
    assert!(caught_up.unwrap());

    let mut scene = selecting(InitialList::Streaming);
    let stream = scene.server.next().await;
    assert!(stream.uri.contains(SELECTORS) && stream.uri.contains("sendInitialEvents"), "{}", stream.uri);
}

#[tokio::test(start_paused = true)]
async fn trouble_in_one_namespace_leaves_the_others_alone() {
    let mut scene = Scene::with(|config| {
        config.scope = WatchScope::Namespaces(BTreeSet::from(["bank", "shop"].map(str::to_owned)));
    });
    let in_bank = |name: &str, version| {
        let mut item = item(name, version);
        item["metadata"]["namespace"] = json!("bank");
        item
    };
    scene.server.next().await.page(10, &[in_bank("a", 5)], "");
    scene.server.next().await.page(10, &[item("a", 6), item("b", 7)], "");
    scene.informer.synced().await;
    let bank = scene.server.next().await;
    assert!(bank.uri.starts_with("/api/v1/namespaces/bank/configmaps?"), "{}", bank.uri);
    let bank = bank.open();
    let shop = scene.server.open_watch(10).await;
    scene.take().await;

    // A new list of one namespace says nothing about the other.
    shop.expired();
    scene.server.answer_list(20, &[item("b", 7)]).await;
    assert_eq!(scene.take().await, ["-a@6?"]);
    assert_eq!(scene.informer.cache.list_in("bank").len(), 1);
    bank.event("MODIFIED", &in_bank("a", 15));
    assert_eq!(scene.take().await, ["a@5>15"], "its versions are its own");
    assert_eq!(scene.informer.keys().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn objects_are_transformed_and_pruned_before_they_are_kept_and_told() {
    let mut scene = Scene::with(|config| {
        config.own_managers = vec!["me".to_owned()];
        config.transform(|mut object| {
            object.data = None;
            object.metadata.name = None;
            object
        });
    });
    let mut with_data = item("a", 5);
    with_data["data"] = json!({ "large": "value" });
    with_data["metadata"]["managedFields"] = json!([
        { "manager": "me", "operation": "Apply", "subresource": "status" },
        // Entries of others are not even decoded: this one could not be.
        { "manager": "kubectl", "operation": "Update", "time": 7 },
        { "manager": "me", "operation": "Apply" },
    ]);
    scene.server.answer_list(10, &[with_data.clone()]).await;
    let watch = scene.server.open_watch(10).await;
    with_data["metadata"]["resourceVersion"] = json!("11");
    watch.event("MODIFIED", &with_data);
    assert_eq!(scene.take().await, ["+a@5!", "a@5>11"]);
    let kept = scene.informer.get(&key("a")).unwrap();
    assert_eq!(kept.data, None);
    let managers = kept.metadata.managed_fields.clone().unwrap_or_default();
    assert_eq!(managers.len(), 2);
    assert_eq!(managers[0].subresource.as_deref(), Some("status"));
}
