//! Texts that become fields of objects: whatever they are, they are refused when they are declared, or the objects are accepted. Each
//! place of such a text gets each of the worst ones.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::jiff::Timestamp;
use operator_core::{
    LeaderElection, Run,
    dependent::Records,
    environment::Environment,
    operations::Events,
    prelude::*,
    resource::MappingAnnotations,
    status::conditions::{ConditionStatus, ConditionUpdate, is_true, remove, set},
    testing::OtherSystem,
};

use super::{telling, told};
use crate::simulated::{pass, scene};

const TEXTS: [&str; 22] = [
    "",
    " ",
    "NoQuota",
    "no quota",
    "no-quota",
    "größe",
    "a/b",
    "example.com/a/b",
    "example.com/finalizer",
    "Example.com/Finalizer",
    "example..com/finalizer",
    "example.com/-a",
    "../configmaps/x",
    "a%2Fb",
    "a?b#c",
    "-a",
    "a-",
    ".",
    "a\nb",
    "😀",
    // As long as a field manager may be.
    concat!(
        "a-text-that-has-128-letters-a-text-that-has-128-letters-a-text-that-has-128-letters-",
        "a-text-that-has-128-letters-that-is-the-ends"
    ),
    concat!(
        "a-text-that-is-longer-than-the-field-manager-of-a-server-may-be-which-are-128-characters-and-longer-than-",
        "a-label-or-the-name-of-a-finalizer-which-are-63-characters-at-most-and-it-has-no-other-fault-than-this"
    ),
];

fn map(_: &TestResource) -> ConfigMap {
    ConfigMap::default()
}

/// A controller whose status has a condition of the user's own.
fn with(own: ConditionUpdate<'static>, scene: &Scene, operator: OperatorBuilder) -> OperatorBuilder {
    let status = move |primary: &TestResource, run: &Run<TestResource>| {
        let mut status = telling(primary, run);
        set(&mut status.conditions, &own, Timestamp::UNIX_EPOCH);
        // It is found by the text, and set again without a change.
        assert!(is_true(&status.conditions, own.r#type), "{:?}", status.conditions);
        assert!(!set(&mut status.conditions, &own, Timestamp::UNIX_EPOCH));
        status
    };
    let controller = Controller::of::<TestResource>().workflow((map,)).status(status);
    operator.register(controller.namespaces([&scene.namespace]))
}

const OWN: ConditionUpdate<'static> = ConditionUpdate {
    r#type: "Own",
    status: ConditionStatus::True,
    reason: "Own",
    message: "as it is",
    observed_generation: None,
};

/// A controller that records an Event, and says in the status that it has.
fn recording(
    text: &'static str,
    of: fn(&Events<'_>, &'static str),
    scene: &Scene,
    operator: OperatorBuilder,
) -> OperatorBuilder {
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        of(&context.events(), text);
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let controller = scene.controller(&script).records_events(true).workflow((map,)).status(telling);
    operator.register(controller)
}

/// An operator with the text in one place.
type Place = fn(&Scene, OperatorBuilder, &'static str) -> OperatorBuilder;

/// Each place: what it is, the operator, and what the status says at the end.
const PLACES: [(&str, Place, &str); 14] = [
    (
        "the code of a hold",
        |scene, operator, text| {
            let held = move |_: &TestResource| Want::<ConfigMap>::hold(text, "there is none left");
            let controller = Controller::of::<TestResource>().workflow((held.named("held"),)).status(telling);
            operator.register(controller.namespaces([&scene.namespace]))
        },
        "there is none left",
    ),
    (
        "the reason of a condition",
        |scene, operator, text| with(ConditionUpdate { reason: text, ..OWN }, scene, operator),
        "as it is",
    ),
    (
        "the type of a condition",
        |scene, operator, text| with(ConditionUpdate { r#type: text, ..OWN }, scene, operator),
        "as it is",
    ),
    (
        "the message of a condition",
        |scene, operator, text| with(ConditionUpdate { message: text, ..OWN }, scene, operator),
        "Own=True",
    ),
    (
        "the reason of an Event",
        |scene, operator, text| {
            recording(text, |events, text| events.normal(text, "as it is"), scene, operator)
        },
        READY,
    ),
    (
        "the message of an Event",
        |scene, operator, text| {
            recording(text, |events, text| events.keyed(text).warn("AsItIs", text), scene, operator)
        },
        READY,
    ),
    ("the name of a controller", |scene, operator, text| operator.register(one_map(scene).name(text)), READY),
    (
        "a field manager",
        |scene, operator, text| {
            let record = Records::new(Word::unsearchable(&OtherSystem::new())).id_in_status("recordId");
            let controller = Controller::of::<TestResource>().workflow((record, map)).status(telling);
            operator.register(controller.namespaces([&scene.namespace]).field_manager(text))
        },
        READY,
    ),
    (
        "a finalizer",
        |scene, operator, text| {
            let controller =
                Controller::of::<TestResource>().workflow((node(map).without_owner(),)).status(telling);
            operator.register(controller.namespaces([&scene.namespace]).finalizer(text))
        },
        READY,
    ),
    (
        "the name of a node",
        |scene, operator, text| {
            let controller = Controller::of::<TestResource>().workflow((map.named(text),)).status(telling);
            operator.register(controller.namespaces([&scene.namespace]))
        },
        READY,
    ),
    (
        "the prefix of marks",
        |scene, operator, text| operator.register(one_map(scene)).mark_prefix(text),
        READY,
    ),
    (
        "the annotations that name a primary",
        |scene, operator, text| {
            let keys = MappingAnnotations::new(text, "example.com/namespace");
            let node = node(map).without_owner().mapping_annotations(keys);
            let controller = Controller::of::<TestResource>().workflow((node,)).status(telling);
            operator.register(controller.namespaces([&scene.namespace]))
        },
        READY,
    ),
    (
        "the name of a lease",
        |scene, operator, text| {
            let election = LeaderElection::new(text).namespace(&scene.namespace);
            operator.register(one_map(scene)).leader_election(election)
        },
        READY,
    ),
    (
        "the identity of a replica",
        |scene, operator, text| {
            let election = LeaderElection::new("lease").namespace(&scene.namespace).identity(text);
            operator.register(one_map(scene)).leader_election(election)
        },
        READY,
    ),
];

const READY: &str = "Ready=True";

fn one_map(scene: &Scene) -> ControllerBuilder<impl Reconciler<Primary = TestResource> + use<>> {
    Controller::of::<TestResource>().workflow((map,)).status(telling).namespaces([&scene.namespace])
}

const CONDITION: &str =
    "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions/items/properties/$";

/// The pattern of a type in `metav1.Condition`.
const TYPE: &str = concat!(
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?",
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
);

/// The definition with the schema of conditions as `controller-gen` writes it, which has patterns for types and reasons.
async fn define(scene: &Scene) -> Result<()> {
    let mut definition = serde_json::to_value(TestResource::crd())?;
    let reason = definition.pointer_mut(&CONDITION.replace("$", "reason")).context("a reason")?;
    reason["pattern"] = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$".into();
    reason["minLength"] = 1.into();
    reason["maxLength"] = 1024.into();
    let of_type = definition.pointer_mut(&CONDITION.replace("$", "type")).context("a type")?;
    of_type["pattern"] = TYPE.into();
    of_type["maxLength"] = 316.into();
    let message = definition.pointer_mut(&CONDITION.replace("$", "message")).context("a message")?;
    message["maxLength"] = 32_768.into();
    scene.define(serde_json::from_value(definition)?).await
}

/// Whether the text was accepted.
async fn is_accepted(place: Place, text: &'static str, says: &str) -> Result<bool> {
    let scene = scene().await?;
    define(&scene).await?;
    let operator = place(&scene, scene.operator(), text).environment(|| Environment::real().with_seed(1));
    if let Err(mistakes) = operator.validate() {
        ensure!(!mistakes.to_string().is_empty(), "a mistake without words");
        return Ok(false);
    }
    let _operator = TestOperator::start_unsynced(operator).await?;
    scene.create("one", "first").await?;
    pass(120).await;
    let told = told(&scene, "one").await?;
    ensure!(told.iter().any(|line| line.contains(says)), "the status is {told:?}");
    let refused: Vec<_> =
        scene.cluster.audit()?.into_iter().filter(|event| matches!(event.code, 400 | 422)).collect();
    ensure!(refused.is_empty(), "refused: {refused:?}");
    Ok(true)
}

/// Each two of the texts are the types of two conditions, and one that is longer than the schema allows is cut.
#[test]
fn no_two_types_become_the_same_one_and_messages_are_cut() {
    let mut conditions = Vec::new();
    let long = "ä".repeat(40_000);
    for text in TEXTS {
        set(&mut conditions, &ConditionUpdate { r#type: text, message: &long, ..OWN }, Timestamp::UNIX_EPOCH);
    }
    let types: BTreeSet<_> = conditions.iter().map(|condition| &condition.type_).collect();
    assert_eq!(types.len(), TEXTS.len(), "{types:?}");
    assert!(conditions.iter().all(|condition| condition.message.len() <= 32_768));
    for text in TEXTS {
        assert!(remove(&mut conditions, text), "{text:?}");
    }
    assert!(conditions.is_empty(), "{conditions:?}");
}

#[tokio::test(start_paused = true)]
async fn each_text_is_refused_when_it_is_declared_or_the_server_accepts_it() -> Result<()> {
    for (what, place, says) in PLACES {
        let mut accepted = 0;
        for text in TEXTS {
            let is_accepted = is_accepted(place, text, says).await;
            accepted += usize::from(is_accepted.with_context(|| format!("{what}: {text:?}"))?);
        }
        ensure!(accepted > 0, "{what}: each text is refused");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_code_that_is_no_reason_is_in_the_message() -> Result<()> {
    let scene = scene().await?;
    define(&scene).await?;
    let held = |_: &TestResource| Want::<ConfigMap>::hold("no-quota", "there is no quota");
    let controller = Controller::of::<TestResource>().workflow((held.named("held"),)).status(telling);
    let operator = scene.operator().register(controller.namespaces([&scene.namespace]));
    let _operator = TestOperator::start_unsynced(operator).await?;
    scene.create("one", "").await?;
    pass(60).await;
    let told = told(&scene, "one").await?;
    let held = told.iter().find(|line| line.starts_with("Ready=False Held: no-quota: "));
    ensure!(held.is_some_and(|line| line.contains("there is no quota")), "{told:?}");
    Ok(())
}
