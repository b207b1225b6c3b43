//! An informer that asks for metadata only.

use integration_tests::prelude::*;
use kube::core::PartialObjectMeta;
use operator_core::{
    ResourceType,
    cache::{Change, ChangeHandler, ChangeKind, Informer, InformerConfig},
    client::{Clients, TransportHook},
    environment::Environment,
};

use super::{pass, scene};

/// What an informer told, in short.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl ChangeHandler<PartialObjectMeta<ConfigMap>> for Told {
    fn on_change(&self, change: Change<PartialObjectMeta<ConfigMap>>) {
        let (name, colour) = (change.key.name(), |object: &PartialObjectMeta<ConfigMap>| {
            object
                .metadata
                .labels
                .as_ref()
                .and_then(|labels| labels.get("colour").cloned())
                .unwrap_or_default()
        });
        self.0.lock().push(match &change.kind {
            ChangeKind::Added { new, .. } => format!("{name} added, {}", colour(new)),
            ChangeKind::Updated { old, new } => format!("{name} from {} to {}", colour(old), colour(new)),
            ChangeKind::Deleted { last, .. } => format!("{name} deleted, {}", colour(last)),
        });
    }
}

async fn create(scene: &Scene<TestResource>, name: &str) -> Result<()> {
    let metadata = json!({ "name": name, "labels": { "colour": "red" } });
    let map = json!({ "metadata": metadata, "data": { "value": "large" } });
    scene.api::<ConfigMap>().create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn metadata_is_all_that_is_asked_for_and_all_that_is_known() -> Result<()> {
    let scene = scene().await?;
    create(&scene, "before").await?;
    // What the informer asks the server for, and whether any content came.
    let asked: Arc<Mutex<Vec<(bool, String)>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let looking = TransportHook::around(move |request, inner| {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
        noted.lock().push((is_watch, accept.unwrap_or_default().to_owned()));
        async move { inner.send(request).await }
    });
    let server = scene.cluster.server_hook().context("it is inside the process")?;
    let (environment, told) = (Environment::real(), Told::default());
    let clients = Clients::new(&scene.cluster.config(), &[server, looking], None, &environment)?;
    let kind = ResourceType::of::<ConfigMap>();
    let mut config = InformerConfig::<PartialObjectMeta<ConfigMap>>::new("metadata", kind);
    config.metadata_only = true;
    let handler = Arc::new(told.clone());
    let informer = Informer::new(config, clients.direct.clone(), environment.clone(), handler);
    let running = informer.clone();
    let task = environment.spawn(async move { running.run(std::future::pending()).await });
    informer.synced().await;
    create(&scene, "after").await?;
    let maps = scene.api::<ConfigMap>();
    let blue = Patch::Merge(json!({ "metadata": { "labels": { "colour": "blue" } } }));
    maps.patch("before", &PatchParams::default(), &blue).await?;
    maps.delete("after", &DeleteParams::default()).await?;
    pass(10).await;

    let expected = ["before added, red", "after added, red", "before from red to blue", "after deleted, red"];
    assert_eq!(*told.0.lock(), expected);
    let known = informer.get(&scene.key("before")).context("it is known")?;
    let known = serde_json::to_value(&*known)?;
    assert_eq!((&known["data"], &known["metadata"]["labels"]["colour"]), (&json!(null), &json!("blue")));
    let asked = asked.lock().clone();
    assert!(asked.len() >= 2 && asked.iter().any(|(is_watch, _)| *is_watch), "{asked:?}");
    for (is_watch, accept) in &asked {
        let form = if *is_watch { "as=PartialObjectMetadata;" } else { "as=PartialObjectMetadataList;" };
        assert!(accept.contains(form), "a watch: {is_watch}, it asks for {accept}");
    }
    task.abort();
    Ok(())
}
