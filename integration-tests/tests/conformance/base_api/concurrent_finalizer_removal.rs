//! Two reconcilers with a finalizer each clean up the same objects at the same time: both finalizers go, and so do the
//! objects.

use integration_tests::prelude::*;

const OBJECTS: usize = 10;

#[operator_test]
async fn both_finalizers_go() -> Result<()> {
    let scene = Scene::new("concurrent-finalizer-removal").await?;
    let gate = Gate::new();
    let script = || {
        let gate = gate.clone();
        Script::<TestResource>::idle().cleanup(move |_, _, _| {
            let gate = gate.clone();
            Box::pin(async move {
                gate.pass().await;
                Ok(Removal::Done)
            })
        })
    };
    let (first, second) = (script(), script());
    let controller = |script: &Script, name: &str| {
        let controller = script.controller().name(name).namespaces([&scene.namespace]);
        controller.cleaner(true).finalizer(format!("{name}.example.com/finalizer"))
    };
    let builder = scene.operator().register(controller(&first, "first"));
    let operator = TestOperator::start(builder.register(controller(&second, "second"))).await?;
    let names: Vec<String> = (0..OBJECTS).map(|number| format!("object-{number}")).collect();
    for name in &names {
        scene.create(name, "first").await?;
    }
    operator.settled().await?;
    for name in &names {
        assert_eq!(scene.resources.get(name).await?.finalizers().len(), 2, "{name}");
        scene.delete(name).await?;
    }
    for _ in 0..2 * OBJECTS {
        gate.arrived().await?;
    }
    gate.let_through(2 * OBJECTS);
    for name in &names {
        scene.until_gone(name).await?;
    }
    operator.settled().await?;
    assert_eq!((first.cleanups.count(), second.cleanups.count()), (OBJECTS, OBJECTS));
    Ok(())
}
