//! Objects that were made before.

use k8s_openapi::api::apps::v1::StatefulSet;
use serde_json::json;

use super::{Page, html, page, web};
use crate::{controller::Controller, reconciler::BoxError, workflow::declare::wire::Wire};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

fn shared(_: &Page) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some("shared".to_owned());
    map
}

fn pages(page: &Page) -> Vec<Secret> {
    let named = |name: &str| {
        let mut secret = Secret::default();
        secret.metadata.name = Some(format!("{}-{name}", page.spec.html.len()));
        secret
    };
    vec![named("a"), named("b")]
}

/// As people write it: what the server sets by default isn't there.
fn store(page: &Page) -> Result<StatefulSet, BoxError> {
    let labels = json!({ "store": page.metadata.name });
    Ok(serde_json::from_value(json!({
        "metadata": { "name": page.metadata.name },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": labels },
            "serviceName": "store",
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{
                    "name": "store",
                    "image": "store",
                    "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
                }] },
            },
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": "1Gi" } },
                },
            }],
        },
    }))?)
}

#[test]
fn it_has_the_name_that_its_function_gives_to_it() {
    let controller = || Controller::of::<Page>().workflow((shared, html, web.after(html)));
    let run = controller()
        .dry_run(&page())
        .made(shared, &ConfigMap::default())
        .made(html, &html(&page()))
        .blocking();
    // Nothing is made anew beside it, and nothing is removed.
    assert_eq!(run.writes(), ["apply Deployment/hello-web"]);
    assert_eq!(run.get(html).and_then(|map| map.metadata.name.clone()).as_deref(), Some("hello-html"));

    // A former object is given with its name.
    let mut former = ConfigMap::default();
    former.metadata.name = Some("former".to_owned());
    let run = controller().dry_run(&page()).made(shared, &former).made(html, &html(&page())).blocking();
    assert_eq!(
        run.writes(),
        ["apply ConfigMap/shared", "apply Deployment/hello-web", "delete ConfigMap/former"]
    );
}

#[test]
fn of_several_objects_each_has_to_be_named() {
    let controller = || Controller::of::<Page>().workflow((pages,));
    let both = pages(&page());
    let run = controller().dry_run(&page()).made(pages, &both[0]).made(pages, &both[1]).blocking();
    assert!(run.writes().is_empty(), "{run}");
}

#[test]
#[should_panic(expected = "pages makes 14-a, 14-b: which one is meant? set `metadata.name`")]
fn one_of_several_objects_is_not_guessed() {
    drop(
        Controller::of::<Page>()
            .workflow((pages,))
            .dry_run(&page())
            .made(pages, &Secret::default())
            .blocking(),
    );
}

#[test]
fn claims_of_a_store_are_those_that_its_server_has_completed() {
    let mut made = store(&page()).expect("it is right");
    made.status = serde_json::from_value(json!({ "replicas": 1 })).expect("it is right");
    let run = Controller::of::<Page>().workflow((store,)).dry_run(&page()).made(store, &made).blocking();
    assert!(run.writes().is_empty(), "{run}");
    // Claims that were never asked for can't be changed.
    let mut larger = made.clone();
    let larger_spec = larger.spec.as_mut().expect("it has one");
    larger_spec.replicas = Some(1);
    let run = Controller::of::<Page>().workflow((store,)).dry_run(&page()).made(store, &larger).blocking();
    assert_eq!(run.writes(), ["apply StatefulSet/hello"], "{run}");
}
