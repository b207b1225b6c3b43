//! A dependent is created only after the definition of its kind is installed, without any other event.

use integration_tests::prelude::*;
use kube::CustomResource;
use operator_core::{Wire as _, served, workflow::conditions::CrdPresent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the operator can do without.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "crd-present-later.conformance.operator-core.io", version = "v1", kind = "Gadget", namespaced)]
pub(crate) struct GadgetSpec {
    value: String,
}

fn follows(primary: &TestResource, name: &str) -> Gadget {
    let name = format!("{}-{name}", primary.name_any());
    let mut gadget = Gadget::new(&name, GadgetSpec { value: primary.spec.value.clone() });
    gadget.metadata.namespace = primary.namespace();
    gadget
}

fn present(primary: &TestResource) -> Gadget {
    follows(primary, "present")
}

fn of_kind(primary: &TestResource) -> Gadget {
    follows(primary, "served")
}

#[operator_test]
async fn it_is_created_once_its_definition_is_installed() -> Result<()> {
    let scene = Scene::new("crd-present-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let workflow = Workflow::builder()
        .nodes((present.needs(CrdPresent::<Gadget>::new()), of_kind.needs(served::<Gadget>())))
        .build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    let expected = [
        "present: inactive: CRD gadgets.crd-present-later.conformance.operator-core.io is not installed",
        "of_kind: inactive: the cluster serves no crd-present-later.conformance.operator-core.io/v1 Gadget",
    ];
    assert_eq!(outcomes.lines("one"), expected);

    scene.cluster.install_crds([Gadget::crd()]).await?;
    eventually("both gadgets", async || {
        let gadgets = scene.api::<Gadget>().list(&Default::default()).await?;
        Ok((gadgets.items.len() == 2).then_some(()))
    })
    .await?;
    operator.settled().await?;
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()));
    Ok(())
}
