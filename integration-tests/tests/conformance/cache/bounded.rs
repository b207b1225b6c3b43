//! 2,000 objects, and room for 100.

use futures::{StreamExt, TryStreamExt, stream};
use integration_tests::prelude::*;
use operator_core::cache::Bounds;

use super::{Running, config, create};

const OBJECTS: usize = 2_000;
const ROOM: usize = 100;

fn name(index: usize) -> String {
    format!("map-{index:04}")
}

#[operator_test]
async fn holds_a_hundred_of_two_thousand_and_knows_all() -> Result<()> {
    let cluster = cluster().await?;
    let namespace = cluster.namespace("cache-bounded").await?;
    let client = cluster.client()?;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let content = "x".repeat(2_000);
    stream::iter(0..OBJECTS)
        .map(|index| {
            let (api, content) = (&api, &content);
            async move { create(api, &name(index), content).await }
        })
        .buffer_unordered(32)
        .try_collect::<Vec<_>>()
        .await?;

    let bounds = Bounds::new(ROOM as u64);
    let running = Running::start_bounded(config("bounded", &[&namespace]), &bounds, client)?;
    running.synced().await?;
    let informer = &running.informer;
    let key = |index| ObjectKey::namespaced(&namespace, &name(index));
    assert_eq!((informer.sizes().store, informer.sizes().full), (OBJECTS, ROOM));
    assert_eq!((informer.keys().len(), running.told.take().len()), (OBJECTS, OBJECTS));
    assert!(informer.list().iter().all(|minimal| minimal.data.is_none() && minimal.metadata.uid.is_some()));

    // The first ones had to make room for the last ones. Each comes back whole, and the bound holds.
    assert!(informer.get(&key(0)).is_none() && informer.get(&key(OBJECTS - 1)).is_some());
    for index in 0..2 * ROOM {
        let object = informer.fetch(&key(index)).await?.context("it exists")?;
        assert_eq!(object.data.as_ref().map(|data| data["value"].len()), Some(content.len()));
        assert_eq!(object.metadata.managed_fields, None);
    }
    assert_eq!(informer.sizes().full, ROOM);
    assert_eq!(running.told.take(), [""; 0], "reading is no change");

    // Changes of what is not held are told, and change and deletion are seen by reads.
    let patch = Patch::Merge(json!({ "data": { "value": "changed" } }));
    api.patch(&name(1_000), &PatchParams::default(), &patch).await?;
    api.delete(&name(1_001), &DeleteParams::default()).await?;
    running.caught_up().await?;
    let mut told = running.told.take();
    told.sort_unstable();
    assert_eq!(told, [format!("-{}", name(1_001)), name(1_000)]);
    let changed = informer.fetch(&key(1_000)).await?.context("it exists")?;
    assert_eq!(changed.data.as_ref().map(|data| data["value"].as_str()), Some("changed"));
    assert_eq!(informer.fetch(&key(1_001)).await?, None);
    assert_eq!(informer.sizes().store, OBJECTS - 1);
    Ok(())
}
