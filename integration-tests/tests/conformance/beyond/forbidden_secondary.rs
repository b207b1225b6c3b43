//! An operator without the right to list its secondaries.

use integration_tests::prelude::*;
use integration_tests::rights;
use operator_core::observe::SourceHealth;

#[operator_test]
async fn the_source_is_unhealthy_in_the_server_s_words_and_recovers_when_the_right_is_granted() -> Result<()>
{
    let scene = Scene::new("forbidden-secondary").await?;
    let user = format!("{}-operator", scene.namespace);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            context.resource_operations().server_side_apply(&map).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    let config = scene.cluster.config_as(&user, &[]);
    let operator = TestOperator::start_unsynced(scene.operator().config(config).register(controller)).await?;
    scene.create("one", "value").await?;

    let (reason, advice) =
        eventually("the source of config maps, and it alone, to be unhealthy", async || {
            let unhealthy = operator.unhealthy_sources().await;
            let [source] = &unhealthy[..] else { return Ok(None) };
            Ok(match &source.health {
                SourceHealth::Unhealthy { reason, advice } if source.source == "ConfigMap" => {
                    Some((reason.clone(), advice.clone()))
                }
                _ => None,
            })
        })
        .await?;
    let words = format!(
        "configmaps is forbidden: User \"{user}\" cannot list resource \"configmaps\" in API group \"\" in the \
         namespace \"{}\"",
        scene.namespace
    );
    assert!(reason.contains(&words), "{reason}");
    let expected = format!("grant list and watch on configmaps in namespace {} to {user}", scene.namespace);
    assert_eq!(advice, Some(expected));
    assert_eq!(script.runs.count(), 0, "no run starts before all sources are synced");

    let maps = rights::maps(&["list", "watch", "create", "patch"]);
    scene.grant("config-maps", &user, &maps).await?;
    let settled = operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert_eq!(settled.written(), ["PATCH configmaps/one -> 201"]);
    Ok(())
}
