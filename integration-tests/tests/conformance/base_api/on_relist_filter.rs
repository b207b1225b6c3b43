//! An own write is filtered while the watch continues, and after a list that ended before it; an own write that a list
//! shows is passed on, because a list may show more than our write.

use http::Method;
use integration_tests::prelude::*;

#[derive(Clone, Copy, PartialEq)]
enum List {
    Never,
    EndsBefore,
    Wraps,
    StartsDuring,
}

/// How many runs a new primary has whose run updates a config map.
async fn runs(list: List) -> Result<u32> {
    let scene = Scene::new("on-relist-filter").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            context.resource_operations().server_side_apply(&map).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let relist = Relist::of("/configmaps");
    let during = once_before(Method::PATCH, "/configmaps/one", {
        let relist = relist.clone();
        move || {
            let relist = relist.clone();
            Box::pin(async move {
                if list == List::StartsDuring {
                    relist.cut_and_hold().await?;
                }
                Ok(())
            })
        }
    });
    let controller = script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    // Others have made the map, so that the run changes what its source knows.
    let mut map = ConfigMap::default();
    map.metadata.name = Some("one".to_owned());
    scene.api().create(&PostParams::default(), &map).await?;
    let builder = scene.operator().transport(during).transport(relist.hook()).register(controller);
    let operator = TestOperator::start(builder).await?;
    operator.settled().await?;
    relist.watching().await?;
    match list {
        List::Never | List::StartsDuring => {}
        List::EndsBefore => {
            relist.cut();
            relist.watching().await?;
        }
        List::Wraps => relist.cut_and_hold().await?,
    }
    scene.create("one", "written").await?;
    scene.until_other::<ConfigMap>("our write", "one", |map| value_of(map) == Some("written")).await?;
    relist.release();
    let settled = operator.settled().await?;
    let map: ConfigMap = scene.api().get("one").await?;
    assert_eq!(value_of(&map), Some("written"));
    Ok(settled.runs_of(&scene.key("one")))
}

#[operator_test]
async fn filtered_without_a_list() -> Result<()> {
    assert_eq!(runs(List::Never).await?, 1);
    Ok(())
}

#[operator_test]
async fn filtered_after_a_list_that_ended_before() -> Result<()> {
    assert_eq!(runs(List::EndsBefore).await?, 1);
    Ok(())
}

#[operator_test]
async fn handed_on_when_a_list_wraps_the_write() -> Result<()> {
    assert_eq!(runs(List::Wraps).await?, 2);
    Ok(())
}

#[operator_test]
async fn handed_on_when_a_list_starts_during_the_write() -> Result<()> {
    assert_eq!(runs(List::StartsDuring).await?, 2);
    Ok(())
}
