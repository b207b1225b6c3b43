//! The operator of the book.

use integration_tests::prelude::*;

// ANCHOR: addon
use operator_core::{BoxError, Objects, Wire as _};

const MANIFESTS: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: { name: agent }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: agent }
data: { level: info }
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: welcome
  annotations: { operator-core.io/apply-order: '1' }
";

/// What is installed for a primary: manifests, with the value of the primary in one of them.
fn agent(primary: &TestResource) -> Result<Objects, BoxError> {
    let mut objects = Objects::from_yaml(MANIFESTS)?;
    for object in objects.iter_mut().filter(|object| object.data.get("data").is_some()) {
        object.data["data"]["level"] = primary.spec.value.clone().into();
    }
    Ok(objects)
}

fn controller(script: &Script<TestResource>) -> ControllerBuilder<Script<TestResource>> {
    script.controller().workflow((agent.kinds([("v1", "ConfigMap"), ("v1", "ServiceAccount")]),))
}
// ANCHOR_END: addon

#[operator_test]
async fn the_operator_of_the_book_installs_what_it_says() -> Result<()> {
    let scene = Scene::new("bundles-book").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let operator = scene.start(controller(&script).namespaces([&scene.namespace])).await?;
    scene.create("one", "debug").await?;
    let written = operator.settled().await?.written();
    assert_eq!(written.last().map(String::as_str), Some("PATCH configmaps/welcome -> 201"), "{written:?}");
    let level = scene.api::<ConfigMap>().get("agent").await?.data.and_then(|data| data.get("level").cloned());
    assert_eq!(level.as_deref(), Some("debug"));
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));
    Ok(())
}
