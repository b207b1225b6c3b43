//! Fifty resources are created, then thirty of them are deleted; at once the others are updated, and twenty of the deleted
//! ones again and again until they are gone: exactly twenty config maps and twenty resources remain. No object has two runs at a time, and no more runs than allowed are in progress.

use futures::future::try_join_all;
use integration_tests::prelude::*;
use tokio::sync::Barrier;

const AT_ONCE: usize = 8;
const CREATED: usize = 50;
const DELETED: usize = 30;
/// This number of deleted ones is changed until they are gone.
const UPDATED_TOO: usize = 20;

/// Each keeps a config map with the value of its primary's spec, and deletes it in the clean-up. The first runs wait for
/// one another: so the number of concurrent runs is known.
fn script() -> Script {
    let (started, together) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(AT_ONCE)));
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let (started, together) = (Arc::clone(&started), Arc::clone(&together));
        Box::pin(async move {
            if started.fetch_add(1, Ordering::SeqCst) < AT_ONCE {
                together.wait().await;
            }
            let mut map = config_map(&*primary, context, &primary.spec.value);
            // No garbage collector takes away what a clean-up leaves behind.
            map.metadata.owner_references = None;
            context.resource_operations().server_side_apply(&map).await?;
            let message = Some(primary.spec.value.clone());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    })
    .cleanup(|_, _, context| {
        Box::pin(async move {
            if let Some(map) = context.secondary::<ConfigMap>()? {
                context.resource_operations().delete(&*map).await?;
            }
            Ok(Removal::Done)
        })
    })
}

#[operator_test]
async fn what_remains_is_exactly_what_was_not_deleted() -> Result<()> {
    let scene = Scene::new("concurrency").await?;
    // Twenty objects are changed as fast as the server can, so that a finalizer may find a newer state ten times in a row.
    scene.failures.allow("still in conflict with other writers");
    let script = script();
    let maps = InformerEventSource::<ConfigMap>::new().map_to_primary(|map| vec![ObjectKey::of(map)]);
    let controller = script
        .controller()
        .cleaner(true)
        .watches(maps)
        .max_concurrent_reconciles(AT_ONCE)
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    let names: Vec<String> = (0..CREATED).map(|number| format!("number-{number}")).collect();
    try_join_all(names.iter().map(|name| scene.create(name, "created"))).await?;
    // The API server deletes an object at once that has no finalizer when it looks, even if one is added before the object
    // is gone: that addition is answered with 200 and lost. So the test waits until no such addition is on its way.
    eventually("the finalizers", async || {
        let created = scene.resources.list(&ListParams::default()).await?;
        Ok(created.iter().all(|one| !one.finalizers().is_empty()).then_some(()))
    })
    .await?;
    let (deleted, updated) = names.split_at(DELETED);
    let update_until_gone = async |name: &String| {
        for number in 0.. {
            match scene.set(name, &format!("updated {number}")).await {
                Err(error) if chain_of(&*error).contains("not found") => break,
                done => done.map(drop)?,
            }
        }
        anyhow::Ok(())
    };
    futures::try_join!(
        try_join_all(deleted[..UPDATED_TOO].iter().map(update_until_gone)),
        try_join_all(updated.iter().map(|name| scene.patch(name, json!({ "spec": { "value": "updated" } })))),
        try_join_all(deleted.iter().map(|name| scene.delete(name))),
    )?;

    let expected: BTreeMap<String, String> =
        updated.iter().map(|name| (name.clone(), "updated".to_owned())).collect();
    eventually("the end of the deleted resources", async || {
        let left = scene.resources.list(&ListParams::default()).await?;
        Ok((left.items.len() == expected.len()).then_some(()))
    })
    .await?;
    operator.settled().await?;

    let resources = scene.resources.list(&ListParams::default()).await?;
    let said = resources.iter().map(|one| {
        let message = one.status.as_ref().and_then(|status| status.message.clone());
        (one.name_any(), message.unwrap_or_default())
    });
    assert_eq!(said.collect::<BTreeMap<_, _>>(), expected);
    // Every namespace has a config map of its own, with the certificate of the API server.
    let maps = scene.api::<ConfigMap>().list(&ListParams::default()).await?;
    let maps = maps.iter().filter(|map| map.name_any() != "kube-root-ca.crt");
    let held = maps.map(|map| (map.name_any(), value_of(map).unwrap_or_default().to_owned()));
    assert_eq!(held.collect::<BTreeMap<_, _>>(), expected);

    assert_eq!(script.runs.most_at_once(), AT_ONCE, "the first runs filled all places");
    assert!(script.runs.overlapping().is_empty(), "two runs at a time: {:?}", script.runs.overlapping());
    assert!(script.cleanups.overlapping().is_empty());
    assert_eq!(script.runs.under_way() + script.cleanups.under_way(), 0);
    for name in deleted {
        assert_eq!(script.cleanups.of(name).len(), 1, "{name} is cleaned up once");
    }
    for name in updated {
        assert!(script.runs.of(name).len() <= 2, "{name} ran more often than it changed");
        assert!(script.cleanups.of(name).is_empty(), "{name} was not deleted");
    }
    Ok(())
}
