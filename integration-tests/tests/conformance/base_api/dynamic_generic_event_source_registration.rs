//! Runs add event sources for kinds that are known only then, and remove them again.

use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use operator_core::{Context, ResourceType, client::TransportHook};

const TARGET: &str = "io.javaoperatorsdk/primary-name";

/// The lists and watches of config maps and secrets.
#[derive(Clone, Default)]
struct Follows(Arc<Mutex<Vec<String>>>);

impl Follows {
    fn hook(&self) -> TransportHook {
        let follows = self.clone();
        TransportHook::around(move |request, inner| {
            let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
            let kind = path.rsplit('/').next().unwrap_or_default();
            // The barrier of the test lists as well, but metadata only.
            let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
            if matches!(kind, "configmaps" | "secrets") && !accept.unwrap_or_default().contains("as=") {
                let verb = if query.contains("watch=true") { "watch" } else { "list" };
                follows.0.lock().push(format!("{verb} {kind}"));
            }
            async move { inner.send(request).await }
        })
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

fn kind(name: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", name))
}

fn told(context: &Context<TestResource>, kind_name: &str) -> Result<String, BoxError> {
    let kind = kind(kind_name);
    if !context.event_sources().add(InformerEventSource::<DynamicObject>::of_type(kind.clone()))? {
        return Ok(format!("{kind_name} is not there yet"));
    }
    let found = context.secondaries_of_kind::<DynamicObject>(&ResourceType::with::<DynamicObject>(&kind))?;
    let version = |object: &Arc<DynamicObject>| {
        format!("{} {}", object.name_any(), object.data["data"]["value"].as_str().unwrap_or_default())
    };
    Ok(found.iter().map(version).collect::<Vec<_>>().join(", "))
}

/// Follows the kind that the spec names, removes the one that it names with a `-`; reports what it has found.
fn script() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let message = match primary.value().strip_prefix('-') {
                Some(kind) => format!("removed: {}", context.event_sources().remove(kind)),
                None => told(context, primary.value()).map_err(anyhow::Error::from_boxed)?,
            };
            Ok(Said::status(TestStatus { message: Some(message), ..TestStatus::default() }))
        })
    })
}

async fn create_map(scene: &Scene, name: &str, primary: &str, value: &str) -> Result<()> {
    let map: ConfigMap = integration_tests::from_json(&json!({
        "metadata": { "name": name, "annotations": { TARGET: primary } },
        "data": { "value": value },
    }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    Ok(())
}

async fn change_map(scene: &Scene, name: &str, value: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "data": { "value": value } }));
    scene.api::<ConfigMap>().patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

async fn message(scene: &Scene, name: &str) -> Result<String> {
    Ok(scene.resources.get(name).await?.status.and_then(|status| status.message).unwrap_or_default())
}

async fn started(scene: &Scene, follows: &Follows) -> Result<TestOperator> {
    let builder = scene.operator().transport(follows.hook()).register(scene.controller(&script()));
    Ok(TestOperator::start(builder).await?)
}

#[operator_test]
async fn a_kind_that_a_run_has_named_is_followed_once_and_triggers_its_primaries() -> Result<()> {
    let (scene, follows) = (Scene::new("dynamic").await?, Follows::default());
    create_map(&scene, "map", "one", "before").await?;
    create_map(&scene, "another", "two", "before").await?;
    let operator = started(&scene, &follows).await?;
    operator.settled().await?;
    assert_eq!(follows.take(), [""; 0], "nothing is followed before a run asks for it");

    scene.create("one", "ConfigMap").await?;
    let created = operator.settled().await?;
    assert_eq!(created.runs, [(scene.key("one"), 2)].into(), "once more when everything had been seen");
    assert_eq!(message(&scene, "one").await?, "map before");
    assert_eq!(follows.take(), ["list configmaps", "watch configmaps"]);

    scene.create("two", "ConfigMap").await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("two"), 1)].into());
    assert_eq!(message(&scene, "two").await?, "another before");
    scene.create("three", "Secret").await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("three"), 2)].into());
    assert_eq!(message(&scene, "three").await?, "");
    assert_eq!(follows.take(), ["list secrets", "watch secrets"], "each kind once");

    change_map(&scene, "map", "after").await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("one"), 1)].into());
    assert_eq!(message(&scene, "one").await?, "map after");
    let secret: Secret = integration_tests::from_json(&json!({
        "metadata": { "name": "secret", "annotations": { TARGET: "three" } },
    }))?;
    scene.api::<Secret>().create(&PostParams::default(), &secret).await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("three"), 1)].into());
    assert_eq!(message(&scene, "three").await?, "secret ");
    Ok(())
}

#[operator_test]
async fn what_was_removed_causes_nothing_any_more_and_leaves_nothing_behind() -> Result<()> {
    let (scene, follows) = (Scene::new("dynamic-removed").await?, Follows::default());
    let operator = started(&scene, &follows).await?;
    operator.settled().await?;
    let tasks = operator.operator().footprint().await.tasks;
    scene.create("one", "ConfigMap").await?;
    create_map(&scene, "map", "one", "before").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "map before");
    assert!(operator.operator().footprint().await.tasks["event source"] > tasks["event source"]);

    scene.patch("one", json!({ "spec": { "value": "-ConfigMap" } })).await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "removed: true");
    assert_eq!(operator.operator().footprint().await.tasks, tasks);
    follows.take();
    change_map(&scene, "map", "unseen").await?;
    scene.api::<ConfigMap>().delete("map", &DeleteParams::default()).await?;
    create_map(&scene, "map", "one", "again").await?;
    assert_eq!(operator.settled().await?.runs, [].into(), "nobody follows it");
    assert_eq!(follows.take(), [""; 0]);

    // Added once more it begins with nothing.
    scene.patch("one", json!({ "spec": { "value": "ConfigMap" } })).await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("one"), 2)].into());
    assert_eq!(message(&scene, "one").await?, "map again");
    assert_eq!(follows.take(), ["list configmaps", "watch configmaps"]);
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, footprint.leftovers), (0, Vec::new()));
    Ok(())
}

#[operator_test]
async fn a_name_that_is_taken_is_refused() -> Result<()> {
    let scene = Scene::new("dynamic-taken").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context: &mut Context<TestResource>| {
        Box::pin(async move {
            let sources = context.event_sources();
            let source = || InformerEventSource::<DynamicObject>::of_type(kind("ConfigMap"));
            let declared = sources.add(source().name("Secret")).err();
            sources.add(source().name("maps"))?;
            let other = InformerEventSource::<DynamicObject>::of_type(kind("Secret"));
            let other = sources.add(other.name("maps")).err();
            assert!(!sources.remove("Secret"), "it was not added by a run");
            let texts =
                [declared, other].map(|error| error.map(|error| error.to_string()).unwrap_or_default());
            let message = Some(texts.join("; "));
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let operator = scene.start(scene.controller(&script).owns::<Secret>()).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let message = message(&scene, "one").await?;
    assert!(
        message.contains("`Secret` of an event source is taken by a source of the controller's declaration"),
        "{message}"
    );
    assert!(message.contains("`maps` of an event source is taken for another kind"), "{message}");
    Ok(())
}

#[operator_test]
async fn a_source_of_that_name_with_another_selection_is_refused() -> Result<()> {
    let scene = Scene::new("dynamic-alike").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let team = format!("team={}", primary.value());
            let maps = InformerEventSource::<ConfigMap>::new().name("maps").label_selector(team);
            let message = match context.event_sources().add(maps) {
                Ok(_) => "added".to_owned(),
                Err(error) => error.to_string(),
            };
            Ok(Said::status(TestStatus { message: Some(message), ..TestStatus::default() }))
        })
    });
    let operator = scene.start(scene.controller(&script)).await?;
    scene.create("one", "a").await?;
    operator.settled().await?;
    scene.create("two", "b").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "added");
    let said = message(&scene, "two").await?;
    assert!(said.contains("selects, maps or keeps something else"), "{said}");
    Ok(())
}
