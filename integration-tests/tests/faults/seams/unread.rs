//! Objects of the cluster's own kinds that can't be decoded: they are decoded when they are read, and a read never takes
//! one for missing.

use std::fmt::Debug;

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use operator_core::{Context, environment::Environment, operations};
use tracing::Level;

use super::{message, pass, scene};

/// The config map of a primary, with a text in the place of its data.
fn odd(owner: &TestResource) -> Value {
    let owner = &owner.controller_owner_ref(&()).unwrap_or_default();
    json!({
        "data": "words",
        "metadata": {
            "name": "one", "namespace": "default", "uid": "odd", "resourceVersion": "1", "ownerReferences": [owner],
            "managedFields": [applied_by_web(owner)],
        },
    })
}

/// The controller `web` has applied the owner, and nothing else.
fn applied_by_web(owner: &OwnerReference) -> Value {
    let item = format!("k:{{\"uid\":\"{}\"}}", owner.uid);
    json!({
        "manager": "web", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": { "f:metadata": { "f:ownerReferences": { item: {} } } },
    })
}

/// The answer to the first list of config maps.
fn listing(scene: &Scene, mut map: Value) -> Faulty {
    let faulty = Faulty::of("configmaps");
    map["metadata"]["namespace"] = scene.namespace.as_str().into();
    faulty.lists([Answer::json(200, &json!({ "metadata": { "resourceVersion": "1" }, "items": [map] }))]);
    faulty
}

/// The requests for a controller whose first list of config maps contains an odd one.
struct Asked {
    operator: TestOperator,
    counted: Numbers,
}

impl Asked {
    async fn start(
        scene: &Scene,
        owner: &TestResource,
        controller: ControllerBuilder<Script>,
    ) -> Result<Self> {
        Self::start_with(scene, &listing(scene, odd(owner)), controller).await
    }

    async fn start_with(
        scene: &Scene,
        faulty: &Faulty,
        controller: ControllerBuilder<Script>,
    ) -> Result<Self> {
        let counted = Numbers::default();
        let builder = scene.operator().environment(|| Environment::real().with_seed(1));
        let builder = builder.metrics(counted.recorder()).transport(faulty.hook());
        let operator = TestOperator::start_unsynced(builder.register(controller)).await?;
        pass(60).await;
        Ok(Self { operator, counted })
    }

    /// How many config maps can't be decoded, by the metric; and the reports about them.
    async fn told(&self) -> (f64, Vec<String>) {
        let labels = [("controller_name", "web"), ("event", "ConfigMap")];
        let objects = self.operator.operator().undecodable_objects().await;
        (
            self.counted.value("undecodable_objects", &labels),
            objects.into_iter().map(|object| object.reason).collect(),
        )
    }
}

/// The error if it can't be read, `None` if it can.
fn refused<T: Debug>(read: Result<T, operations::Error>) -> Option<String> {
    read.err().map(|error| match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    })
}

/// The result of each way to read a config map.
fn said_of(context: &Context<TestResource>, key: &ObjectKey) -> Vec<Option<String>> {
    vec![
        refused(context.secondary::<ConfigMap>()),
        refused(context.secondaries::<ConfigMap>()),
        refused(context.secondary_named::<ConfigMap>("one")),
        refused(context.get::<ConfigMap>(key)),
    ]
}

/// A reconciler that reports what it can read.
fn reading() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        let said_of = said_of(context, &ObjectKey::of(&*primary));
        Box::pin(async move { Ok(Said::status(said(serde_json::to_string(&said_of)?))) })
    })
}

fn web(scene: &Scene, script: &Script) -> ControllerBuilder<Script> {
    script.controller().name("web").namespaces([&scene.namespace])
}

const REASON: &str = "data: invalid type, expected a map";

#[tokio::test(start_paused = true)]
async fn a_read_of_what_cannot_be_decoded_fails_and_is_told_once() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let owner = scene.create("one", "first").await?;
    let asked = Asked::start(&scene, &owner, web(&scene, &reading()).owns::<ConfigMap>()).await?;
    let read = |text: Option<String>| serde_json::from_str::<Vec<Option<String>>>(&text.unwrap_or_default());
    let refusals = read(message(&scene, "one").await?)?;
    let refusal = format!("ConfigMap default/one: the api server's answer cannot be read: {REASON}");
    let refusal = refusal.replace("default", &scene.namespace);
    assert_eq!(refusals, vec![Some(refusal); 4]);
    assert_eq!(asked.told().await, (1.0, vec![REASON.to_owned()]));

    scene.set("one", "again").await?;
    pass(60).await;
    let warned = log.lines(Level::WARN);
    let warned = warned.iter().filter(|line| line.field("message").contains("can't be decoded"));
    assert_eq!(warned.count(), 1, "once for each version");

    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some("one".to_owned()),
            owner_references: owner.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    pass(60).await;
    assert_eq!(read(message(&scene, "one").await?)?, vec![None; 4], "another one has its name");
    assert_eq!(asked.told().await, (0.0, vec![]));
    asked.operator.stop().await;
    Ok(())
}

/// A reconciler that reads nothing.
fn blind() -> Script {
    Script::new(|_, _, _| Box::pin(async { Ok(Said::status(said("done"))) }))
}

#[tokio::test(start_paused = true)]
async fn what_nobody_reads_is_not_decoded_unless_somebody_is_asked_about_it() -> Result<()> {
    let scene = scene().await?;
    let owner = scene.create("one", "first").await?;
    let asked = Asked::start(&scene, &owner, web(&scene, &blind()).owns::<ConfigMap>()).await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("done"));
    assert_eq!(asked.told().await, (0.0, vec![]));
    asked.operator.stop().await;

    let maps = InformerEventSource::<ConfigMap>::new();
    for source in [
        maps.on_update(|_, _| true),
        InformerEventSource::new().map_to_primary(|map| vec![ObjectKey::of(map)]),
        InformerEventSource::new()
            .index("data", |map: &ConfigMap| map.data.iter().flatten().map(|(key, _)| key.clone()).collect()),
    ] {
        let asked = Asked::start(&scene, &owner, web(&scene, &blind()).watches(source)).await?;
        assert_eq!(asked.told().await, (1.0, vec![REASON.to_owned()]));
        asked.operator.stop().await;
    }
    Ok(())
}

/// A reconciler that applies the map without data, with this label if there is one, and reports the result and, if it
/// reads the map, the result of the read.
fn applying(label: Option<&'static str>, looks: bool) -> Script {
    Script::new(move |_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let metadata = ObjectMeta {
                name: Some("one".to_owned()),
                namespace: primary.namespace(),
                owner_references: primary.controller_owner_ref(&()).map(|owner| vec![owner]),
                labels: label.map(|label| [("a".to_owned(), label.to_owned())].into()),
                ..ObjectMeta::default()
            };
            let map = ConfigMap { metadata, ..ConfigMap::default() };
            let applied = context.resource_operations().server_side_apply(&map).await?;
            let look = if looks { refused(applied.object()) } else { None };
            Ok(Said::status(said(look.unwrap_or_else(|| "applied".to_owned()))))
        })
    })
}

#[tokio::test(start_paused = true)]
async fn what_is_applied_is_decoded_when_somebody_looks_at_it() -> Result<()> {
    let scene = scene().await?;
    let owner = scene.create("one", "first").await?;
    let asked = Asked::start(&scene, &owner, web(&scene, &applying(None, true)).owns::<ConfigMap>()).await?;
    let written = asked.operator.settled().await?.written();
    assert!(written.iter().all(|write| !write.contains("configmaps")), "{written:?}");
    let refusal = message(&scene, "one").await?.unwrap_or_default();
    assert!(refusal.ends_with(REASON), "{refusal:?}");
    asked.operator.stop().await;
    Ok(())
}

/// The answer to a write can't be decoded.
#[tokio::test(start_paused = true)]
async fn the_answer_to_a_write_is_decoded_when_somebody_looks_at_it() -> Result<()> {
    for looks in [false, true] {
        let scene = scene().await?;
        let owner = scene.create("one", "first").await?;
        let faulty = Faulty::of("configmaps");
        let mut answer = odd(&owner);
        answer["metadata"]["namespace"] = scene.namespace.as_str().into();
        faulty.writes([Answer::json(200, &answer)]);
        let controller = web(&scene, &applying(None, looks)).owns::<ConfigMap>();
        let asked = Asked::start_with(&scene, &faulty, controller).await?;
        let said = message(&scene, "one").await?.unwrap_or_default();
        if looks {
            assert!(said.ends_with(REASON), "{said:?}");
        } else {
            assert_eq!(said, "applied");
            assert_eq!(asked.told().await, (0.0, vec![]));
        }
        assert_eq!(faulty.left(), [0; 4], "it was written");
        asked.operator.stop().await;
    }
    Ok(())
}

/// An owned value is another one: the text shows this.
#[tokio::test(start_paused = true)]
async fn what_is_surely_another_is_not_decoded_to_be_written() -> Result<()> {
    let scene = scene().await?;
    let owner = scene.create("one", "first").await?;
    let mut map = odd(&owner);
    map["metadata"]["labels"] = json!({ "a": "first" });
    map["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:labels"] = json!({ "f:a": {} });
    let faulty = listing(&scene, map.clone());
    map["metadata"]["namespace"] = scene.namespace.as_str().into();
    map["metadata"]["labels"]["a"] = json!("second");
    map["metadata"]["resourceVersion"] = json!("2");
    faulty.writes([Answer::json(200, &map)]);
    let controller = web(&scene, &applying(Some("second"), false)).owns::<ConfigMap>();
    let asked = Asked::start_with(&scene, &faulty, controller).await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("applied"));
    assert_eq!(faulty.left(), [0; 4], "it was written");
    assert_eq!(asked.told().await, (0.0, vec![]), "and nobody has tried to decode it");
    asked.operator.stop().await;
    Ok(())
}
