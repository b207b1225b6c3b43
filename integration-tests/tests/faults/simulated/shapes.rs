//! However much of the objects a source holds, the same runs happen and the same comes of them: each story is told once with all
//! objects in full, and once in each other shape.

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::PartialObjectMeta;
use operator_core::{
    PerResourcePollingEventSource, cache::Bounds, controller::IntoController, resource::MappingAnnotations,
    testing::Relist,
};

use super::{pass, scene, under, under_hooks};

/// What is held of each object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Full,
    /// So many in full, and of the others the metadata.
    Bounded(u64),
    /// Nothing but what the framework restores.
    Emptied,
}

const OTHERS: [Shape; 3] = [Shape::Bounded(0), Shape::Bounded(1), Shape::Emptied];

impl Shape {
    fn maps(self, source: InformerEventSource<ConfigMap>) -> InformerEventSource<ConfigMap> {
        match self {
            Self::Full => source,
            Self::Bounded(objects) => source.bounded(Bounds::new(objects)),
            Self::Emptied => source.transform(|_| ConfigMap::default()),
        }
    }

    fn primaries(self, controller: ControllerBuilder<Script>) -> ControllerBuilder<Script> {
        match self {
            Self::Full => controller,
            Self::Bounded(objects) => controller
                .bounded(Bounds::new(objects).with_template(TestResource::named("template", "nobody's"))),
            // The reconciler reads the rest.
            Self::Emptied => controller.transform(|mut primary: TestResource| {
                primary.metadata = ObjectMeta::default();
                primary
            }),
        }
    }
}

/// What happens in a story: after each step, the runs of each primary and the maps that there are.
struct Trace<'s> {
    scene: &'s Scene,
    script: Script,
    lines: Vec<String>,
}

impl<'s> Trace<'s> {
    fn new(scene: &'s Scene, script: &Script) -> Self {
        Self { scene, script: script.clone(), lines: Vec::new() }
    }

    async fn step(&mut self, what: &str, step: impl Future<Output = Result<()>>) -> Result<()> {
        let runs = |name: &str| self.script.runs.of(name).len();
        let before = ["one", "two"].map(runs);
        step.await?;
        pass(30).await;
        let [one, two] = ["one", "two"].map(runs);
        let maps = self.scene.api::<ConfigMap>().list(&ListParams::default()).await?.items;
        let maps: BTreeMap<_, _> = maps.iter().map(|map| (map.name_any(), map.data.clone())).collect();
        let (one, two) = (one - before[0], two - before[1]);
        self.lines.push(format!("{what}: {one} runs of one, {two} of two, {maps:?}"));
        Ok(())
    }
}

/// The nodes of a story.
#[derive(Clone, Copy, Debug)]
enum Nodes {
    Owned,
    Unowned,
    /// With annotations that have other keys than by default.
    Annotated,
    Several,
    CreatedOnly,
    Versioned,
}

fn desired(primary: &TestResource) -> Option<ConfigMap> {
    (primary.value() != "none").then(|| map_of(primary, "a", primary.value()))
}

fn several(primary: &TestResource) -> Vec<ConfigMap> {
    let count = primary.value().len() % 3;
    (0..count).map(|index| map_of(primary, &index.to_string(), primary.value())).collect()
}

impl Nodes {
    fn workflow(self, shape: Shape) -> Result<Workflow<TestResource>> {
        let source = || shape.maps(InformerEventSource::<ConfigMap>::new());
        let one = || node(desired).named("a").informer(source());
        Ok(match self {
            Self::Owned => workflow_of_one(one())?,
            Self::Unowned => workflow_of_one(one().without_owner())?,
            Self::Annotated => {
                let keys = MappingAnnotations::new("example.com/name", "example.com/namespace");
                workflow_of_one(one().without_owner().mapping_annotations(keys))?
            }
            Self::Several => workflow_of_one(node(several).named("several").informer(source()))?,
            Self::CreatedOnly => workflow_of_one(one().create_only())?,
            Self::Versioned => workflow_of_one(one().detect_api_version_change())?,
        })
    }
}

/// The maps of `one` are made, changed, no longer wanted and wanted again, and somebody changes and deletes one.
async fn dependents(nodes: Nodes, shape: Shape) -> Result<Vec<String>> {
    let (scene, script) = (scene().await?, Script::idle());
    let controller = scene.managed(&script, &nodes.workflow(shape)?).name("keeper").cleaner(true);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    let (mut trace, maps) = (Trace::new(&scene, &script), scene.api::<ConfigMap>());
    trace
        .step("created", async {
            scene.create("two", "other").await?;
            scene.create("one", "first").await.map(drop)
        })
        .await?;
    trace.step("changed", async { scene.set("one", "seconds").await.map(drop) }).await?;
    trace.step("not wanted", async { scene.set("one", "none").await.map(drop) }).await?;
    trace.step("wanted again", async { scene.set("one", "third").await.map(drop) }).await?;
    for name in ["one-a", "one-0"] {
        if maps.get_opt(name).await?.is_none() {
            continue;
        }
        let theirs = Patch::Merge(json!({ "data": { "value": "theirs" } }));
        trace
            .step("changed by somebody", async {
                Ok(maps.patch(name, &PatchParams::default(), &theirs).await.map(drop)?)
            })
            .await?;
        trace
            .step("deleted by somebody", async {
                Ok(maps.delete(name, &DeleteParams::default()).await.map(drop)?)
            })
            .await?;
    }
    trace.step("deleted", scene.delete("one")).await?;
    Ok(trace.lines)
}

/// Holds that a story is the same in each other shape.
async fn same<S: std::fmt::Debug + Copy>(
    stories: impl IntoIterator<Item = S>,
    shapes: &[Shape],
    tell: impl AsyncFn(S, Shape) -> Result<Vec<String>>,
) -> Result<()> {
    let mut wrong = Vec::new();
    for story in stories {
        let expected = tell(story, Shape::Full).await?;
        for shape in shapes {
            let told = tell(story, *shape).await?;
            if told != expected {
                wrong.push(format!("{story:?}, {shape:?}:\n{told:#?}\ninstead of\n{expected:#?}"));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn dependents_do_the_same_whatever_is_held_of_their_objects() -> Result<()> {
    use Nodes::{Annotated, CreatedOnly, Owned, Several, Unowned, Versioned};
    same([Owned, Unowned, Annotated, Several, CreatedOnly, Versioned], &OTHERS, dependents).await
}

/// How maps belong to primaries.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Owner,
    Annotation,
    OtherAnnotation,
    Label,
    Reference,
}

/// A map that belongs to this primary.
async fn belongs(scene: &Scene, relation: Relation, primary: &str, value: &str) -> Result<()> {
    let of = scene.resources.get(primary).await?;
    let mut map = map_of(&of, "x", value);
    map.metadata.name = Some("map".to_owned());
    let annotated = |keys: [&str; 2]| {
        let values = [primary.to_owned(), scene.namespace.clone()];
        Some(keys.into_iter().map(str::to_owned).zip(values).collect::<BTreeMap<_, _>>())
    };
    match relation {
        Relation::Owner => {
            map.metadata.owner_references = of.controller_owner_ref(&()).map(|owner| vec![owner])
        }
        Relation::Annotation => {
            map.metadata.annotations =
                annotated(["io.javaoperatorsdk/primary-name", "io.javaoperatorsdk/primary-namespace"]);
        }
        Relation::OtherAnnotation => {
            map.metadata.annotations = annotated(["example.com/name", "example.com/namespace"]);
        }
        Relation::Label => map.metadata.labels = Some([("of".to_owned(), primary.to_owned())].into()),
        Relation::Reference => {}
    }
    let maps = scene.api::<ConfigMap>();
    match maps.get_opt("map").await? {
        None => drop(maps.create(&PostParams::default(), &map).await?),
        Some(_) => drop(maps.replace("map", &PostParams::default(), &map).await?),
    }
    Ok(())
}

/// A map appears, changes, passes from one primary to another, and goes.
async fn secondaries(
    relation: Relation,
    controller: impl IntoController,
    scene: &Scene,
    script: &Script,
) -> Result<Vec<String>> {
    let _operator = under(&Faults::none(), scene, controller).await?;
    let mut trace = Trace::new(scene, script);
    trace
        .step("created", async {
            scene.create("one", "map").await?;
            scene.create("two", "value").await.map(drop)
        })
        .await?;
    trace.step("there", belongs(scene, relation, "one", "first")).await?;
    trace.step("changed", belongs(scene, relation, "one", "second")).await?;
    trace.step("passed on", belongs(scene, relation, "two", "second")).await?;
    trace
        .step("gone", async {
            Ok(scene.api::<ConfigMap>().delete("map", &DeleteParams::default()).await.map(drop)?)
        })
        .await?;
    Ok(trace.lines)
}

/// A source of maps with that relation.
macro_rules! related {
    ($source:expr, $relation:expr) => {
        match $relation {
            Relation::Owner | Relation::Annotation | Relation::Reference => $source,
            Relation::OtherAnnotation => $source
                .map_by_annotations(MappingAnnotations::new("example.com/name", "example.com/namespace")),
            Relation::Label => $source.map_to_primary(|map| {
                let of = map.meta().labels.as_ref().and_then(|labels| labels.get("of"));
                let namespace = map.meta().namespace.clone().unwrap_or_default();
                of.map(|name| ObjectKey::namespaced(&namespace, name)).into_iter().collect()
            }),
        }
    };
}

fn reading() -> Script {
    Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            for map in context.fetch_secondaries::<ConfigMap>().await? {
                ensure!(!map.name_any().is_empty(), "a map without a name");
            }
            Ok(UpdateControl::no_update())
        })
    })
}

#[tokio::test(start_paused = true)]
async fn secondaries_trigger_the_same_whatever_is_held_of_them() -> Result<()> {
    use Relation::{Annotation, Label, OtherAnnotation, Owner, Reference};
    same([Owner, Annotation, OtherAnnotation, Label, Reference], &OTHERS, async |relation, shape| {
        let (scene, script) = (scene().await?, reading());
        let source = related!(shape.maps(InformerEventSource::<ConfigMap>::new()), relation);
        let controller = scene.controller(&script);
        let controller = match relation {
            Reference => controller.watches_referenced(source, |primary: &TestResource| {
                let namespace = primary.namespace().unwrap_or_default();
                vec![ObjectKey::namespaced(&namespace, primary.value())]
            }),
            _ => controller.watches(source),
        };
        secondaries(relation, controller, &scene, &script).await
    })
    .await?;
    // Only the metadata is asked for.
    for relation in [Owner, Annotation, OtherAnnotation, Label] {
        let (full, script) = (scene().await?, Script::idle());
        let source = related!(InformerEventSource::<ConfigMap>::new(), relation);
        let expected =
            secondaries(relation, full.controller(&script).watches(source), &full, &script).await?;
        let (partial, script) = (scene().await?, Script::idle());
        let source =
            related!(InformerEventSource::<PartialObjectMeta<ConfigMap>>::new().metadata_only(), relation);
        let controller = partial.controller(&script).watches(source);
        let told = secondaries(relation, controller, &partial, &script).await?;
        ensure!(told == expected, "{relation:?}, metadata only:\n{told:#?}\ninstead of\n{expected:#?}");
    }
    Ok(())
}

/// Where a source comes from that polls for each primary.
#[derive(Clone, Copy, Debug)]
enum Polls {
    Declared,
    AddedByARun,
}

type Fetched = Arc<Mutex<BTreeMap<String, usize>>>;

/// Polls the primaries whose value isn't `none`.
fn polls(fetched: &Fetched) -> PerResourcePollingEventSource<TestResource, u32, ()> {
    let fetched = Arc::clone(fetched);
    let fetch = move |primary: Arc<TestResource>| {
        *fetched.lock().entry(primary.name_any()).or_default() += 1;
        async { Ok::<_, BoxError>(vec![1]) }
    };
    PerResourcePollingEventSource::with_id("polls", Duration::from_secs(10), |_: &u32| (), fetch)
        .poll_when(|primary: &TestResource| primary.value() != "none")
        .spread(0.0)
}

async fn polled(from: Polls, shape: Shape) -> Result<Vec<String>> {
    let (scene, fetched) = (scene().await?, Fetched::default());
    let adds = Arc::clone(&fetched);
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let adds = Arc::clone(&adds);
        Box::pin(async move {
            if matches!(from, Polls::AddedByARun) {
                context.event_sources().add(polls(&adds)).map_err(anyhow::Error::from)?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    for (name, value) in [("one", "value"), ("two", "none"), ("three", "value")] {
        scene.create(name, value).await?;
    }
    let controller = shape.primaries(scene.controller(&script)).max_concurrent_reconciles(1);
    let _operator = match from {
        Polls::Declared => under(&Faults::none(), &scene, controller.watches(polls(&fetched))).await?,
        Polls::AddedByARun => under(&Faults::none(), &scene, controller).await?,
    };
    let mut lines = Vec::new();
    for (what, one, two) in
        [("at first", "value", "none"), ("the other way", "none", "value"), ("back", "value", "none")]
    {
        scene.set("one", one).await?;
        scene.set("two", two).await?;
        // A poll that was due already may find out that it is the last one.
        pass(15).await;
        fetched.lock().clear();
        pass(60).await;
        let polled: Vec<String> = fetched.lock().keys().cloned().collect();
        lines.push(format!("{what}: polled {polled:?}"));
    }
    Ok(lines)
}

#[tokio::test(start_paused = true)]
async fn primaries_are_polled_whatever_is_held_of_them() -> Result<()> {
    same([Polls::Declared, Polls::AddedByARun], &OTHERS, polled).await
}

/// What a reconciler that is triggered on all events is told of ends: one that the watch shows, and one that it misses.
async fn ends(missed: bool, shape: Shape) -> Result<Vec<String>> {
    let (scene, relist, told) =
        (scene().await?, Relist::of("testresources"), Arc::new(Mutex::new(Vec::new())));
    let tells = Arc::clone(&told);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        tells.lock().push(format!("{}: {}", context.primary_is_deleted(), primary.value()));
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let controller = shape.primaries(scene.controller(&script)).trigger_on_all_events(true);
    let _operator = under_hooks([relist.hook()], &scene, controller).await?;
    scene.create("one", "record-17").await?;
    pass(5).await;
    if missed {
        relist.cut_and_hold().await?;
    }
    scene.delete("one").await?;
    pass(5).await;
    relist.release();
    pass(60).await;
    let told = told.lock().clone();
    Ok(told)
}

#[tokio::test(start_paused = true)]
async fn an_end_shows_the_last_state_whatever_is_held_of_it() -> Result<()> {
    same([false, true], &OTHERS, ends).await
}
