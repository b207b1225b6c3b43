//! An informer that asks for metadata only.

use integration_tests::prelude::*;
use kube::core::PartialObjectMeta;
use operator_core::{
    ResourceType,
    bench::{BareInformer, InformerSettings, Seen},
    client::{Clients, TransportHook},
    environment::Environment,
};

use super::{pass, scene};

/// What an informer told, in short.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn saw(&self, seen: &Seen<'_>) {
        let Seen::Change(key, old, new) = seen else { return };
        let colour = |text: &str| {
            let object: PartialObjectMeta<ConfigMap> = serde_json::from_str(text).expect("metadata");
            object.metadata.labels.and_then(|labels| labels.get("colour").cloned()).unwrap_or_default()
        };
        let (name, old, new) = (key.name(), old.map(colour), new.map(colour));
        self.0.lock().push(match (old, new) {
            (Some(old), Some(new)) => format!("{name} from {old} to {new}"),
            (None, new) => format!("{name} added, {}", new.unwrap_or_default()),
            (Some(old), None) => format!("{name} deleted, {old}"),
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
    let mut settings = InformerSettings::new("metadata", kind);
    settings.metadata_only = true;
    let (sees, access) = (told.clone(), (clients.direct.clone(), environment.clone()));
    let informer =
        BareInformer::<PartialObjectMeta<ConfigMap>>::new(settings, None, None, access, move |seen| {
            sees.saw(&seen);
        });
    let running = informer.clone();
    let task = environment.spawn("informer", async move { running.run(std::future::pending()).await });
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
