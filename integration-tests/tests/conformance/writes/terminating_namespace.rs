//! A child in another namespace that is being terminated can't be created: the error says so, and is tried again with growing
//! delays, beyond the attempts of the retry.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use operator_core::{WatchScope, operations};

#[operator_test]
async fn the_error_says_what_is_wrong() -> Result<()> {
    let scene = Scene::new("terminating-namespace").await?;
    scene.failures.expect("its namespace is being terminated");
    let ending = scene.cluster.namespace("ending").await?;
    // Something in it keeps the namespace in the middle of its end.
    let mut keeper = ConfigMap::default();
    keeper.metadata.name = Some("keeper".to_owned());
    keeper.metadata.finalizers = Some(vec!["example.com/keep".to_owned()]);
    let maps = Api::<ConfigMap>::namespaced(scene.client.clone(), &ending);
    maps.create(&PostParams::default(), &keeper).await?;
    Api::<Namespace>::all(scene.client.clone()).delete(&ending, &DeleteParams::default()).await?;

    let errors = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let ending = ending.clone();
        move |_, primary: Arc<TestResource>, context| {
            let ending = ending.clone();
            Box::pin(async move {
                let mut map = config_map(&*primary, context, "never");
                map.metadata.namespace = Some(ending);
                map.metadata.owner_references = None;
                let written = context.resource_operations().server_side_apply(&map).await;
                if let Err(error) = &written {
                    anyhow::ensure!(
                        matches!(error, operations::Error::NamespaceTerminating { .. }),
                        "{error}"
                    );
                    anyhow::ensure!(error.is_retryable(), "there may be another namespace of that name");
                }
                written?;
                Ok(UpdateControl::no_update())
            })
        }
    })
    .on_error({
        let errors = Arc::clone(&errors);
        move |_, _, error| {
            errors.lock().push(error.to_string());
        }
    });
    let source =
        InformerEventSource::<ConfigMap>::new().namespaces(WatchScope::Namespaces([ending.clone()].into()));
    let controller = script.controller().watches(source).namespaces([&scene.namespace]);
    let operator = scene.start(controller.retry(GenericRetry::linear(Duration::from_secs(1), 2)?)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    let runs = settled.runs_of(&scene.key("one"));
    assert!((4..8).contains(&runs), "{runs} runs in a few seconds, and no attempt is used up");
    let errors = errors.lock().clone();
    assert!(errors.iter().all(|error| error.contains("its namespace is being terminated")), "{errors:?}");
    maps.patch(
        "keeper",
        &kube::api::PatchParams::default(),
        &kube::api::Patch::Merge(serde_json::json!({ "metadata": { "finalizers": null } })),
    )
    .await?;
    Ok(())
}
