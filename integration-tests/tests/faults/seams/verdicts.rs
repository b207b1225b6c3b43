//! An object that was found to match isn't matched again, and a form that nothing needs isn't built. A type of
//! object counts how often it is turned into JSON (for a fingerprint, for a body, and to be compared by the full
//! matcher), and how often it is decoded.

use std::cell::Cell;

use futures::FutureExt;
use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use operator_core::dependent::matcher::{GenericMatcher, Matcher};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{TestResource, message, pass, saying, scene, under};

thread_local! {
    /// How often one was turned into JSON. The test and its operator share one thread.
    static SERIALIZED: Cell<usize> = const { Cell::new(0) };
    /// How often one was decoded.
    static DECODED: Cell<usize> = const { Cell::new(0) };
}

/// A config map that counts.
#[derive(Clone, Debug, Deserialize, Resource, Serialize)]
#[resource(inherit = ConfigMap)]
struct Counting {
    metadata: ObjectMeta,
    #[serde(default, serialize_with = "counted", deserialize_with = "decoded")]
    data: BTreeMap<String, String>,
}

fn counted<S: Serializer>(data: &BTreeMap<String, String>, serializer: S) -> Result<S::Ok, S::Error> {
    SERIALIZED.set(SERIALIZED.get() + 1);
    data.serialize(serializer)
}

fn decoded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    DECODED.set(DECODED.get() + 1);
    BTreeMap::deserialize(deserializer)
}

fn map(primary: &TestResource) -> Counting {
    let value = primary.spec.value.split(' ').next().unwrap_or_default().to_owned();
    Counting { metadata: meta_of(primary, "a"), data: [("value".to_owned(), value)].into() }
}

/// An operator whose one node wants the child.
async fn managed(scene: &Scene) -> Result<TestOperator> {
    under(&Faults::none(), scene, scene.managed(&saying(), &workflow_of_one(wanted("a", map))?)).await
}

/// The first primary, and its child.
async fn begin(scene: &Scene, operator: &TestOperator) -> Result<()> {
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    Ok(())
}

/// Someone else's change of the child.
async fn change_child(scene: &Scene, change: Value) -> Result<()> {
    let maps = scene.api::<ConfigMap>();
    maps.patch("one-a", &PatchParams::default(), &Patch::Merge(change)).await?;
    pass(60).await;
    Ok(())
}

/// A change of fields that aren't desired.
async fn label_child(scene: &Scene, value: &str) -> Result<()> {
    change_child(scene, json!({ "metadata": { "labels": { "somebody": value } } })).await
}

async fn label_child_thrice(scene: &Scene) -> Result<()> {
    for value in ["a", "b", "c"] {
        label_child(scene, value).await?;
    }
    Ok(())
}

/// How often something was turned into JSON in the run that a new value of the primary causes, and what the run wrote.
async fn in_a_run(scene: &Scene, operator: &TestOperator, value: &str) -> Result<(usize, Vec<String>)> {
    SERIALIZED.set(0);
    scene.set("one", value).await?;
    pass(60).await;
    let mut written = operator.settled().await?.written();
    written.retain(|write| write.contains("configmaps"));
    Ok((SERIALIZED.get(), written))
}

/// The desired state for its fingerprint; and as a body, to be compared with the actual one, which stays text.
const REMEMBERED: usize = 1;
const COMPARED: usize = 2;

#[tokio::test(start_paused = true)]
async fn what_matched_is_matched_again_only_after_a_change() -> Result<()> {
    let scene = scene().await?;
    let operator = managed(&scene).await?;
    begin(&scene, &operator).await?;
    assert_eq!(in_a_run(&scene, &operator, "first 1").await?, (REMEMBERED, vec![]));
    assert_eq!(in_a_run(&scene, &operator, "first 2").await?, (REMEMBERED, vec![]));

    // Another desired state: what matched doesn't count for it.
    let (_, written) = in_a_run(&scene, &operator, "second").await?;
    assert_eq!(written, ["PATCH configmaps/one-a -> 200"]);
    // Nor does it count once that was written, although the same fields are owned.
    for value in ["first 3", "second 1"] {
        let (_, written) = in_a_run(&scene, &operator, value).await?;
        assert_eq!(written, ["PATCH configmaps/one-a -> 200"], "{value}");
    }
    assert_eq!(in_a_run(&scene, &operator, "second 2").await?, (REMEMBERED, vec![]));

    // Another actual state, in the field that is desired.
    change_child(&scene, json!({ "data": { "value": "somebody's" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    operator.stop().await;
    Ok(())
}

/// Additions of others to the desired fields.
#[tokio::test(start_paused = true)]
async fn a_label_of_somebody_else_does_not_ask_the_matcher() -> Result<()> {
    let scene = scene().await?;
    let operator = managed(&scene).await?;
    begin(&scene, &operator).await?;
    assert_eq!(in_a_run(&scene, &operator, "first 1").await?, (REMEMBERED, vec![]));
    for value in ["a", "b", "c"] {
        SERIALIZED.set(0);
        label_child(&scene, value).await?;
        assert_eq!(operator.settled().await?.written(), Vec::<String>::new());
        assert_eq!(SERIALIZED.get(), REMEMBERED, "there was a run, and what was found before has counted");
    }

    // What is desired is looked at all the same, by whomever it was changed.
    change_child(&scene, json!({ "data": { "value": "somebody's" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    operator.stop().await;
    Ok(())
}

/// A matcher that looks at the labels of others is asked about them.
#[tokio::test(start_paused = true)]
async fn a_label_of_somebody_else_asks_a_matcher_that_goes_by_content() -> Result<()> {
    let scene = scene().await?;
    let matcher = Matcher::Generic(GenericMatcher::new().labels_and_annotations_equality(true));
    let workflow = workflow_of_one(wanted("a", map).matcher(matcher))?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    begin(&scene, &operator).await?;
    let (_, written) = in_a_run(&scene, &operator, "first 1").await?;
    assert_eq!(written, Vec::<String>::new());
    label_child(&scene, "a").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    operator.stop().await;
    Ok(())
}

/// The status that a reconciler gives is compared with the primary once for each state of it.
#[tokio::test(start_paused = true)]
async fn a_status_that_matched_is_matched_again_only_after_a_change() -> Result<()> {
    let scene = scene().await?;
    let operator = managed(&scene).await?;
    begin(&scene, &operator).await?;
    let mut serialized = Vec::new();
    for value in ["a", "b", "c"] {
        let _before = statuses_serialized();
        label_child(&scene, value).await?;
        assert_eq!(operator.settled().await?.written(), Vec::<String>::new());
        serialized.push(statuses_serialized());
    }
    assert_eq!(serialized, [COMPARED, REMEMBERED, REMEMBERED]);

    // Another status: what matched doesn't count for it.
    let (_, written) = in_a_run(&scene, &operator, "second").await?;
    assert_eq!(written, ["PATCH configmaps/one-a -> 200"]);
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("second"));
    operator.stop().await;
    Ok(())
}

/// A function of the user's own may return something else each time.
#[tokio::test(start_paused = true)]
async fn a_matcher_of_the_users_own_is_always_asked() -> Result<()> {
    thread_local!(static ASKED: Cell<usize> = const { Cell::new(0) });
    let scene = scene().await?;
    let matcher = Matcher::custom(|_: &Counting, _: &Counting| {
        ASKED.set(ASKED.get() + 1);
        true
    });
    let workflow = workflow_of_one(wanted("a", map).matcher(matcher))?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    begin(&scene, &operator).await?;
    ASKED.set(0);
    for run in 1..=3 {
        in_a_run(&scene, &operator, &format!("first {run}")).await?;
        assert_eq!(ASKED.get(), run);
    }
    operator.stop().await;
    Ok(())
}

/// A state is decoded when it comes in, as a check. A run that changes nothing reads no more than metadata, and the echo of an own
/// write is known from its answer.
#[tokio::test(start_paused = true)]
async fn what_nobody_looks_at_is_decoded_once() -> Result<()> {
    let scene = scene().await?;
    let operator = managed(&scene).await?;
    begin(&scene, &operator).await?;
    assert_eq!(DECODED.get(), 1, "the answer to the creation");

    DECODED.set(0);
    let (_, written) = in_a_run(&scene, &operator, "second").await?;
    assert_eq!((DECODED.get(), written.len()), (1, 1), "the answer to the write");

    DECODED.set(0);
    label_child_thrice(&scene).await?;
    let written = operator.settled().await?.written();
    assert_eq!((DECODED.get(), written.len()), (3, 0), "each state that came in");
    operator.stop().await;

    DECODED.set(0);
    let operator = managed(&scene).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    assert_eq!((DECODED.get(), written.len()), (1, 0), "what was listed");
    operator.stop().await;
    Ok(())
}

/// The same for a reconciler that applies by itself: the returned object is built once for each state.
#[tokio::test(start_paused = true)]
async fn what_a_reconciler_applies_by_itself_has_verdicts_too() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        async move {
            let mut map = map(&primary);
            map.metadata.owner_references = Some(context.owner_reference(&*primary).into_iter().collect());
            let applied = context.resource_operations().server_side_apply(&map).await?;
            assert_eq!(applied.object()?.data, map.data);
            Ok(UpdateControl::no_update())
        }
        .boxed()
    });
    let controller = scene.controller(&script).owns::<Counting>();
    let operator = under(&Faults::none(), &scene, controller).await?;
    begin(&scene, &operator).await?;
    assert_eq!(in_a_run(&scene, &operator, "first 1").await?, (COMPARED, vec![]));
    assert_eq!(in_a_run(&scene, &operator, "first 2").await?, (REMEMBERED, vec![]));
    let (_, written) = in_a_run(&scene, &operator, "second").await?;
    assert_eq!(written, ["PATCH configmaps/one-a -> 200"]);

    DECODED.set(0);
    label_child_thrice(&scene).await?;
    let written = operator.settled().await?.written();
    assert_eq!((DECODED.get(), written.len()), (3, 0), "the run finds what was decoded as a check");

    change_child(&scene, json!({ "data": { "value": "somebody's" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    operator.stop().await;
    Ok(())
}
