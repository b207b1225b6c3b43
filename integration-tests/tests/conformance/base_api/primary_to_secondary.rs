//! Many primaries refer to one secondary: each finds it at its creation, and all of them run again when it changes.

use integration_tests::prelude::*;

const NAMES: [&str; 3] = ["one", "two", "three"];

async fn messages(scene: &Scene) -> Result<Vec<String>> {
    let mut messages = Vec::new();
    for name in NAMES {
        let status = scene.resources.get(name).await?.status.unwrap_or_default();
        messages.push(status.message.unwrap_or_default());
    }
    Ok(messages)
}

#[operator_test]
async fn all_that_refer_to_a_secondary_run_when_it_changes() -> Result<()> {
    let scene = Scene::new("primary-to-secondary").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = context.secondary::<ConfigMap>()?;
            let message = map.as_deref().and_then(value_of).unwrap_or("missing").to_owned();
            Ok(Said::status(TestStatus { message: Some(message), ..TestStatus::default() }))
        })
    });
    let namespace = scene.namespace.clone();
    let controller = script
        .controller()
        .watches_referenced(InformerEventSource::<ConfigMap>::new(), move |primary: &TestResource| {
            vec![ObjectKey::namespaced(&namespace, &primary.spec.value)]
        });
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    // The secondary comes first, and nobody refers to it yet.
    let maps = scene.api::<ConfigMap>();
    for name in ["shared", "unrelated"] {
        let map = integration_tests::from_json(
            &json!({ "metadata": { "name": name }, "data": { "value": "first" } }),
        )?;
        maps.create(&PostParams::default(), &map).await?;
    }
    operator.settled().await?;
    for name in NAMES {
        scene.create(name, "shared").await?;
    }
    let created = operator.settled().await?;
    assert!(NAMES.iter().all(|name| created.runs_of(&scene.key(name)) == 1), "{:?}", created.runs);
    assert_eq!(messages(&scene).await?, ["first"; 3], "the first run finds it");

    let changed = Patch::Merge(json!({ "data": { "value": "second" } }));
    for name in ["shared", "unrelated"] {
        maps.patch(name, &PatchParams::default(), &changed).await?;
    }
    let updated = operator.settled().await?;
    assert!(NAMES.iter().all(|name| updated.runs_of(&scene.key(name)) == 1), "{:?}", updated.runs);
    assert_eq!(messages(&scene).await?, ["second"; 3]);

    // A primary that refers to something else is not woken any more.
    scene.patch("three", json!({ "spec": { "value": "elsewhere" } })).await?;
    operator.settled().await?;
    maps.delete("shared", &DeleteParams::default()).await?;
    let deleted = operator.settled().await?;
    assert_eq!(deleted.runs, [(scene.key("one"), 1), (scene.key("two"), 1)].into());
    assert_eq!(messages(&scene).await?, ["missing"; 3]);
    Ok(())
}
