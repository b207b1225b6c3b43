//! A kind that isn't served, for each word that brings an event source: everything else goes on, before, while and after it is
//! served.

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use operator_core::{dependent::Read, workflow::conditions::served_kind};

use super::{Builder, Upgrade};
use crate::simulated::{pass, under};

fn monitors() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("monitoring.example.com", "v1", "Monitor"))
}

fn definition() -> Result<CustomResourceDefinition> {
    Ok(from_json(&json!({
        "metadata": { "name": "monitors.monitoring.example.com" },
        "spec": {
            "group": "monitoring.example.com",
            "names": { "kind": "Monitor", "plural": "monitors", "singular": "monitor", "listKind": "MonitorList" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            }],
        },
    }))?)
}

fn monitor(primary: &TestResource) -> DynamicObject {
    let mut object = DynamicObject::new(&format!("{}-monitor", primary.name_any()), &monitors());
    object.metadata.namespace = primary.namespace();
    object.data = json!({ "spec": { "value": primary.value() } });
    object
}

fn when_served(of: Builder) -> Builder {
    of.nodes((node(monitor).named("monitor").kind(monitors()).when_served(),))
}

type Word = fn(Builder) -> Builder;

/// The words; whether they make the object, and whether they remove what an earlier version has made.
const WORDS: [(&str, Word, bool, bool); 4] = [
    ("when_served", when_served, true, false),
    (
        "needs",
        |of| of.nodes((node(monitor).named("monitor").kind(monitors()).needs(served_kind(monitors())),)),
        true,
        false,
    ),
    (
        "read",
        |of| {
            let read = |_: &TestResource| Read::<DynamicObject>::named("somebodys");
            of.nodes((node(read).named("monitor").kind(monitors()).when_served().optional(),))
        },
        false,
        false,
    ),
    ("retired", |of| of.retired_of_type::<DynamicObject>("monitor", monitors()), false, true),
];

/// Whether everything else was done for this value.
async fn is_done(upgrade: &Upgrade, value: &str) -> Result<bool> {
    let values = upgrade.0.values().await?;
    Ok(values.get("one-other").is_some_and(|found| found == value))
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_for_a_kind_that_is_not_served() -> Result<()> {
    for (told, word, makes, removes) in WORDS {
        let upgrade = Upgrade::new().await?;
        let monitors = Api::<DynamicObject>::namespaced_with(
            upgrade.0.client.clone(),
            &upgrade.0.namespace,
            &monitors(),
        );
        let nodes = |of: Builder| word(of.nodes((wanted_map("other"),)));
        // It never comes.
        upgrade.live(nodes).await?;
        assert!(is_done(&upgrade, "first").await?, "{told}: nothing was done");
        // It comes, and an earlier version makes an object.
        upgrade.0.cluster.install_crds([definition()?]).await?;
        upgrade.live(|of| when_served(of.nodes((wanted_map("other"),)))).await?;
        let made = monitors.get_opt("one-monitor").await.with_context(|| format!("{told}, at first"))?;
        assert!(made.is_some(), "{told}");
        // It goes and comes again while this version runs.
        let workflow = nodes(Workflow::builder()).build()?;
        let operator = under(&Faults::none(), &upgrade.0, upgrade.controller(&workflow)).await?;
        for (value, is_served) in [("1", true), ("2", false), ("3", true), ("4", false)] {
            let definitions = Api::<CustomResourceDefinition>::all(upgrade.0.client.clone());
            match is_served {
                true if value == "1" => {}
                true => drop(definitions.create(&PostParams::default(), &definition()?).await?),
                false => drop(
                    definitions.delete("monitors.monitoring.example.com", &DeleteParams::default()).await?,
                ),
            }
            pass(300).await;
            upgrade.0.set("one", value).await?;
            pass(300).await;
            assert!(is_done(&upgrade, value).await?, "{told}, served: {is_served}");
            let ready = upgrade.condition("Ready").await?;
            assert!(ready.starts_with("True"), "{told}, served: {is_served}: {ready}");
            if is_served {
                let there = monitors.get_opt("one-monitor").await;
                let there = there.with_context(|| format!("{told}, at {value}"))?.is_some();
                let expected = makes || (value == "1" && !removes);
                assert_eq!(there, expected, "{told}, at {value}");
            }
        }
        assert!(!upgrade.stays_when_deleted().await?, "{told}");
        operator.stop().await;
    }
    Ok(())
}
