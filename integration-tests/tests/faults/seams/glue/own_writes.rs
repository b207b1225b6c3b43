//! A run's writes are visible to the next one, however late the watch is.

use integration_tests::prelude::*;
use operator_core::operations::WriteMode;

use super::{late, pass, scene, under};

/// The secondaries that each run found before it wrote its map in this mode.
async fn found_with(mode: WriteMode) -> Result<Vec<Vec<String>>> {
    let scene = scene().await?;
    let found: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let noted = Arc::clone(&found);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let noted = Arc::clone(&noted);
        Box::pin(async move {
            let maps = context.secondaries::<ConfigMap>()?;
            noted.lock().push(maps.iter().map(|map| value_of(map).unwrap_or_default().to_owned()).collect());
            let map = config_map(&*primary, context, primary.value());
            context.resource_operations().mode(mode).server_side_apply(&map).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let faults = Faults::new([late("configmaps")]);
    let controller = script.controller().name("writer").owns::<ConfigMap>();
    let operator = under(&faults, &scene, controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    scene.set("one", "second").await?;
    pass(5).await;
    let found = found.lock().clone();
    operator.stop().await;
    Ok(found)
}

#[tokio::test(start_paused = true)]
async fn the_next_run_finds_what_the_last_one_has_made_before_the_watch_shows_it() -> Result<()> {
    for mode in [WriteMode::MatchAndFilter, WriteMode::CacheOnly] {
        assert_eq!(found_with(mode).await?, [vec![], vec!["first".to_owned()]], "{mode:?}");
    }
    Ok(())
}
