//! Two controllers with disjoint label selectors on one kind, in one operator: one run each, and the status of each object
//! names the right one.

use integration_tests::prelude::*;

/// Writes its own name into the status.
fn script() -> Script {
    Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let message = Some(context.controller_name().to_owned());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    })
}

#[operator_test]
async fn each_object_has_one_controller() -> Result<()> {
    let scene = Scene::new("multiple-reconciler-same-type").await?;
    let (first, second) = (script(), script());
    let controller = |script: &Script, name: &str| {
        let builder = script.controller().name(name).label_selector(format!("reconciler={name}"));
        builder.namespaces([&scene.namespace])
    };
    let builder =
        scene.operator().register(controller(&first, "first")).register(controller(&second, "second"));
    let operator = TestOperator::start(builder).await?;

    for name in ["first", "second"] {
        let mut object = TestResource::named(name, "value");
        object.metadata.labels = Some([("reconciler".to_owned(), name.to_owned())].into());
        scene.resources.create(&PostParams::default(), &object).await?;
    }
    scene.create("nobodys", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, [(scene.key("first"), 1), (scene.key("second"), 1)].into());
    assert_eq!((first.runs.instants("first").len(), second.runs.instants("second").len()), (1, 1));
    for name in ["first", "second"] {
        let status = scene.resources.get(name).await?.status.unwrap_or_default();
        assert_eq!(status.message.as_deref(), Some(name));
    }

    // An object that changes sides is new to the one and gone for the other.
    scene.patch("first", json!({ "metadata": { "labels": { "reconciler": "second" } } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, [(scene.key("first"), 1)].into());
    let status = scene.resources.get("first").await?.status.unwrap_or_default();
    assert_eq!(status.message.as_deref(), Some("second"));
    Ok(())
}
