//! Event sources: which primaries they learn of, own writes that a source doesn't show, lists from the past,
//! discovery without its right.

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use integration_tests::prelude::*;
use operator_core::{
    PerResourcePollingEventSource,
    client::TransportHook,
    dependent::{Deletion, External, Records, Token},
    event_source::ExternalResource,
    testing::faults::{End, LineFault},
    workflow::{RecordNode, conditions::CrdPresent, declare::OneOf},
};
use tracing::Level;

use super::{TestResource, message, pass, scene, under};

/// What another system keeps for a primary.
#[derive(Clone, Debug, PartialEq)]
struct Kept(&'static str);

impl ExternalResource for Kept {
    type Id = ();

    fn id(&self) {}
}

/// The primaries for which the other system was asked, in order.
type Asked = Arc<Mutex<Vec<String>>>;

const PERIOD: Duration = Duration::from_secs(60);

fn polled(asked: &Asked) -> PerResourcePollingEventSource<TestResource, Kept, ()> {
    let asked = Arc::clone(asked);
    PerResourcePollingEventSource::new("kept", PERIOD, move |primary: Arc<TestResource>| {
        asked.lock().push(primary.name_any());
        async { Ok::<_, std::io::Error>(vec![Kept("there")]) }
    })
    .spread(0.0)
}

/// A record with the primary's name, which is as it should be. Notes the primaries for which it was read.
struct Reads(Asked);

impl Reads {
    fn node(asked: &Asked) -> RecordNode<TestResource, OneOf<Kept>> {
        let records =
            Records::new(Self(Arc::clone(asked))).id_of(|primary: &TestResource| primary.name_any());
        records.polled(PERIOD).needs(CrdPresent::<LateTestResource>::new()).named("reads")
    }
}

impl External<TestResource> for Reads {
    type Resource = Kept;
    type Want = Option<Kept>;

    fn want(&self, _: &TestResource) -> Option<Kept> {
        Some(Kept("there"))
    }

    async fn observe(&self, id: &str) -> Result<Option<Kept>, BoxError> {
        self.0.lock().push(id.to_owned());
        Ok(Some(Kept("there")))
    }

    async fn create(&self, _: &Kept, _: &Token) -> Result<(String, Kept), BoxError> {
        Err("it is there".into())
    }

    async fn update(&self, _: &str, _: &Kept, _: &Kept) -> Result<Kept, BoxError> {
        Err("it is as it should be".into())
    }

    async fn delete(&self, _: &str) -> Result<Deletion, BoxError> {
        Ok(Deletion::Gone)
    }
}

#[tokio::test(start_paused = true)]
async fn a_per_primary_source_that_starts_late_knows_the_primaries_that_are_there() -> Result<()> {
    let scene = scene().await?;
    let asked = Asked::default();
    let (script, outcomes) = integration_tests::looking_on::<TestResource>();
    let workflow = Workflow::builder().nodes((Reads::node(&asked),)).build()?;
    let controller = script.controller().name("late").workflow(&workflow);
    let operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert!(outcomes.lines("one")[0].starts_with("reads: inactive"), "{:?}", outcomes.lines("one"));

    // The cluster learns the kind: the source is built in the run that asks for it, long after "one" was seen.
    scene.cluster.install_crds([LateTestResource::crd()]).await?;
    pass(5).await;
    operator.settled().await?;
    assert_eq!(*asked.lock(), ["one"], "{:?}", outcomes.lines("one"));
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));
    // It is polled as well, period by period.
    pass(2 * 60 + 1).await;
    assert_eq!(*asked.lock(), ["one"; 3]);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn polls_that_wait_for_a_status_begin_when_the_operator_writes_it() -> Result<()> {
    let scene = scene().await?;
    let asked = Asked::default();
    let script = Script::new(|run, _: Arc<TestResource>, _| {
        Box::pin(async move { Ok(if run == 1 { Said::status(said("id-1")) } else { Said::no_update() }) })
    });
    let source = polled(&asked).poll_when(|primary| primary.status.is_some());
    let controller = script.controller().name("polling").watches(source);
    let operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("id-1"));
    assert_eq!(script.runs.count(), 1, "the status is the operator's own and wakes nobody");
    pass(5 * 60).await;
    assert!(asked.lock().len() >= 4, "asked for {:?}", asked.lock());
    operator.stop().await;
    Ok(())
}

/// The first list, once there was a second one.
fn backup(lists: &[Bytes]) -> Option<Bytes> {
    lists.get(1).and(lists.first()).cloned()
}

/// From the moment on when a watch of the primaries ends with 410, lists of theirs are answered like the first one, reads of one
/// with its only item, and their watches show nothing: a server whose storage was restored from a backup.
fn restored(plural: &'static str) -> TransportHook {
    let lists: Arc<Mutex<Vec<Bytes>>> = Arc::default();
    TransportHook::around(move |request, inner| {
        let lists = Arc::clone(&lists);
        let query = request.uri().query().unwrap_or_default();
        let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
        let is_it = request.method() == http::Method::GET
            && request.uri().path().ends_with(plural)
            && !accept.unwrap_or_default().contains("PartialObjectMetadata");
        let is_watch = query.contains("watch=true");
        let is_read = request.method() == http::Method::GET
            && request.uri().path().rsplit('/').nth(1).is_some_and(|parent| parent == plural);
        async move {
            if is_read && let Some(list) = backup(&lists.lock()) {
                let list: serde_json::Value = serde_json::from_slice(&list)?;
                let body = Full::new(Bytes::from(list["items"][0].to_string()));
                return Ok(http::Response::new(body.map_err(|never| match never {}).boxed_unsync()));
            }
            if is_it && is_watch && lists.lock().len() > 1 {
                let silent = stream::pending::<Result<Frame<Bytes>, tower::BoxError>>().boxed();
                return Ok(http::Response::new(StreamBody::new(silent).boxed_unsync()));
            }
            let answer = inner.send(request).await?;
            if !is_it || is_watch {
                return Ok(answer);
            }
            let (head, body) = answer.into_parts();
            let body = body.collect().await?.to_bytes();
            let body = {
                let mut lists = lists.lock();
                lists.push(body);
                lists[0].clone()
            };
            let body = Full::new(body).map_err(|never| match never {}).boxed_unsync();
            Ok(http::Response::from_parts(head, body))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_spec_that_goes_back_with_a_restored_backup_is_reconciled() -> Result<()> {
    let scene = scene().await?;
    let seen: Asked = Arc::default();
    let noted = Arc::clone(&seen);
    let script = Script::new(move |_, primary: Arc<TestResource>, _| {
        noted.lock().push(primary.spec.value.clone());
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    scene.create("one", "first").await?;
    let gone = Rule::watch("testresources").nth(2).event(LineFault::Gone);
    let faults = Faults::new([gone.clone()]);
    let controller = script.controller().name("restored").namespaces([&scene.namespace]);
    let builder = scene.operator().transport(restored("testresources")).transport(faults.hook());
    let operator = TestOperator::start(builder.register(controller)).await?;
    pass(1).await;
    scene.set("one", "second").await?;
    pass(1).await;
    assert_eq!(*seen.lock(), ["first", "second"]);
    // Any further event ends the watch, and the list that follows is the first one.
    scene.set("one", "third").await?;
    pass(60).await;
    assert_eq!(gone.fired(), 1);
    assert_eq!(*seen.lock(), ["first", "second", "first"], "what went back is a change");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_the_source_of_a_written_object_does_not_select_is_said_once_and_not_kept() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            context.resource_operations().server_side_apply(&map).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let source = InformerEventSource::<ConfigMap>::new().label_selector("part-of=shop");
    let controller = script.controller().name("selecting").watches(source);
    let operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    pass(5).await;
    // Something else of the kind that is selected: with it the watch goes past what was written.
    let other = json!({ "metadata": { "name": "other", "labels": { "part-of": "shop" } } });
    let other: ConfigMap = serde_json::from_value(other)?;
    scene.api::<ConfigMap>().create(&Default::default(), &other).await?;
    pass(120).await;
    for value in ["second", "third"] {
        scene.set("one", value).await?;
        pass(5).await;
        let touch = Patch::Merge(json!({ "data": { "touched": value } }));
        scene.api::<ConfigMap>().patch("other", &PatchParams::default(), &touch).await?;
        pass(120).await;
    }
    assert_eq!(script.runs.count(), 3);
    let warned = log.lines(Level::WARN);
    let warned: Vec<_> =
        warned.iter().filter(|line| line.field("selector").contains("part-of=shop")).collect();
    assert_eq!(warned.len(), 1, "{:?}", log.lines(Level::WARN));
    assert!(warned[0].field("object").ends_with("/one"), "{warned:?}");
    let footprint = operator.operator().footprint().await;
    assert_eq!(footprint.leftovers, [], "the link to what is never shown is kept");
    operator.stop().await;
    Ok(())
}

const DEFINITIONS: &str = "customresourcedefinitions";

/// The sources that don't work, by name.
async fn broken(operator: &Operator) -> Vec<String> {
    operator.unhealthy_sources().await.into_iter().map(|unhealthy| unhealthy.source).collect()
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_list_definitions_runs_do_not_wait_and_go_on_when_it_comes() -> Result<()> {
    const PRIMARIES: usize = 100;
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let (script, outcomes) = integration_tests::looking_on::<TestResource>();
    let workflow = Workflow::builder().nodes((Reads::node(&Asked::default()),)).build()?;
    let controller = script.controller().name("asking").workflow(&workflow);
    let words = "customresourcedefinitions is forbidden";
    let denied = Rule::any().resource(DEFINITIONS).status(StatusAnswer::forbidden(words));
    let faults = Faults::new([denied.clone()]);
    for number in 0..PRIMARIES {
        scene.create(&format!("p{number}"), "first").await?;
    }
    let operator = under(&faults, &scene, controller.namespaces([&scene.namespace])).await?;
    operator.operator().synced().await;
    // Fifty workers that wait ten seconds each would need twenty for the first attempts alone.
    pass(2).await;
    let failed = log.lines(Level::WARN);
    let failed: BTreeSet<_> = failed
        .iter()
        .filter(|line| line.fields.values().any(|value| value.contains(words)))
        .flat_map(|line| line.spans.iter().flat_map(|(_, fields)| fields.values().cloned()))
        .filter(|value| value.starts_with('p'))
        .collect();
    assert_eq!(failed.len(), PRIMARIES, "so many runs were over within two seconds");
    assert_eq!(broken(operator.operator()).await, ["CustomResourceDefinition"]);
    let said = log.lines(Level::WARN);
    let said = said.iter().filter(|line| line.field("source") == "CustomResourceDefinition");
    assert_eq!(said.count(), 1, "it is said once, with the advice");

    // The right comes after the last retry of a default policy.
    pass(120).await;
    faults.off();
    pass(60).await;
    operator.settled().await?;
    for number in 0..PRIMARIES {
        let lines = outcomes.lines(&format!("p{number}"));
        assert!(lines.first().is_some_and(|line| line.contains("is not installed")), "p{number}: {lines:?}");
    }
    assert!(broken(operator.operator()).await.is_empty());

    // Taken away later, it leaves no answer that may be wrong by now.
    faults.on();
    let ended = Rule::watch(DEFINITIONS).first(1).event(LineFault::Close(End::Reset));
    faults.add(&ended);
    pass(240).await;
    assert_eq!(broken(operator.operator()).await, ["CustomResourceDefinition"]);
    let before = outcomes.last("p0").map(|last| last.to_string());
    scene.set("p0", "second").await?;
    pass(1).await;
    assert_eq!(outcomes.last("p0").map(|last| last.to_string()), before, "a run without an answer fails");
    operator.stop().await;
    Ok(())
}
