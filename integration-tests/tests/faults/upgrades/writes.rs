//! A table: each way in which a run can write its own primary × what it knows the primary by × what somebody else does to the primary
//! just before. The write says the worst each time: it takes away all that is the framework's. No state of the primary that such a
//! write leads to lacks any of it.

use http_body_util::{BodyExt, Full};
use integration_tests::prelude::*;
use kube::{
    api::Patch as KubePatch,
    core::{ApiResource, DynamicObject},
};
use operator_core::{
    Context, Reconciler, client::TransportHook, dependent::Records, operations::ResourceOperations,
    resource::KubeObject, testing::OtherSystem,
};

use crate::simulated::{pass, scene, under_hooks};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    PatchResource,
    ApplyPart,
    Apply,
    Update,
    JsonPatch,
    MergeOthers,
    MergeEmpty,
    MergeNull,
    ApplyStatus,
    UpdateStatus,
    JsonPatchStatus,
    MergeStatus,
    MergeNullStatus,
}

const WAYS: [Way; 13] = [
    Way::PatchResource,
    Way::ApplyPart,
    Way::Apply,
    Way::Update,
    Way::JsonPatch,
    Way::MergeOthers,
    Way::MergeEmpty,
    Way::MergeNull,
    Way::ApplyStatus,
    Way::UpdateStatus,
    Way::JsonPatchStatus,
    Way::MergeStatus,
    Way::MergeNullStatus,
];

/// What the run knows its primary by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Door {
    Primary,
    /// Another event source of the same type.
    Named,
    /// One of a type that is known only at run time.
    Untyped,
}

/// What somebody else adds just before.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Other {
    Nothing,
    Label,
    Finalizer,
    Annotation,
    Condition,
}

const OTHERS: [Other; 5] =
    [Other::Nothing, Other::Label, Other::Finalizer, Other::Annotation, Other::Condition];

const FORGET: &str = "operator-core.io/forget-attempt";
const THEIRS: &str = "example.com/theirs";

/// The copy without anything that is the framework's.
fn spoil(copy: &mut Value) {
    copy["metadata"]["finalizers"] = json!([]);
    copy["metadata"]["annotations"] = Value::Null;
    copy["metadata"]["labels"] = json!({ "written": "yes" });
    copy["status"]["message"] = "written".into();
    copy["status"]["recordId"] = Value::Null;
}

fn spoilt<K: KubeObject>(object: &K) -> Result<K> {
    let mut copy = serde_json::to_value(object)?;
    spoil(&mut copy);
    Ok(from_json(&copy)?)
}

async fn write<K: KubeObject>(operations: ResourceOperations<'_>, way: Way, known: &K) -> Result<()> {
    let copy = spoilt(known)?;
    let edit = |state: &mut K| *state = spoilt(state).expect("it is the same type");
    let labels = json!({ "written": "yes" });
    let status = |record: Value| json!({ "status": { "message": "written", "recordId": record } });
    match way {
        Way::PatchResource | Way::ApplyPart => {}
        Way::Apply => drop(operations.server_side_apply(&copy).await?),
        // Of a state that somebody has changed since, it is refused.
        Way::Update => drop(operations.update(&copy).await),
        Way::JsonPatch => drop(operations.json_patch(known, edit).await?),
        Way::MergeOthers => {
            let metadata =
                json!({ "labels": labels, "finalizers": [THEIRS], "annotations": { FORGET: null } });
            drop(operations.merge_patch(known, json!({ "metadata": metadata })).await?);
        }
        Way::MergeEmpty => {
            let metadata = json!({ "labels": labels, "finalizers": [], "annotations": { FORGET: "id-7" } });
            drop(operations.merge_patch(known, json!({ "metadata": metadata })).await?);
        }
        Way::MergeNull => {
            let metadata = json!({ "labels": labels, "finalizers": null, "annotations": null });
            drop(operations.merge_patch(known, json!({ "metadata": metadata })).await?);
        }
        Way::ApplyStatus => drop(operations.server_side_apply_status(&copy).await?),
        Way::UpdateStatus => drop(operations.update_status(&copy).await),
        Way::JsonPatchStatus => drop(operations.json_patch_status(known, edit).await?),
        Way::MergeStatus => drop(operations.merge_patch_status(known, status("id-7".into())).await?),
        Way::MergeNullStatus => {
            drop(operations.merge_patch_status(known, json!({ "status": null })).await?);
        }
    }
    Ok(())
}

/// Runs the workflow, and then writes each primary that says so, once.
struct Writes(Way, Door, Mutex<BTreeSet<String>>);

impl Writes {
    fn new(way: Way, door: Door) -> Self {
        Self(way, door, Mutex::default())
    }
}

impl Reconciler for Writes {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        primary: &TestResource,
        cx: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        cx.run().await?;
        if primary.value() != "write" || !self.2.lock().insert(primary.name_any()) {
            return Ok(UpdateControl::no_update());
        }
        let (way, door) = (self.0, self.1);
        match way {
            Way::PatchResource => return Ok(UpdateControl::patch_resource(spoilt(primary)?)),
            Way::ApplyPart => {
                let metadata = json!({
                    "name": primary.name_any(), "labels": { "written": "yes" },
                    "finalizers": [], "annotations": { FORGET: null },
                });
                return Ok(UpdateControl::apply(json!({ "metadata": metadata })));
            }
            _ => {}
        }
        let operations = cx.resource_operations();
        match door {
            Door::Primary => write(operations, way, primary).await?,
            Door::Named => write(operations.event_source("named"), way, primary).await?,
            Door::Untyped => {
                let mut untyped = serde_json::to_value(primary)?;
                untyped["apiVersion"] = TestResource::api_version(&()).into();
                untyped["kind"] = TestResource::kind(&()).into();
                let untyped: DynamicObject = from_json(&untyped)?;
                write(operations.event_source("untyped"), way, &untyped).await?;
            }
        }
        Ok(UpdateControl::no_update())
    }
}

/// Notes what the answers to writes of primaries lack of what is the framework's.
fn watching(lacking: &Arc<Mutex<Vec<String>>>, is_on: &Arc<AtomicBool>) -> TransportHook {
    let (lacking, is_on) = (Arc::clone(lacking), Arc::clone(is_on));
    TransportHook::around(move |request, inner| {
        let (lacking, is_on) = (Arc::clone(&lacking), Arc::clone(&is_on));
        async move {
            let is_write = *request.method() != http::Method::GET;
            let is_it = is_write && request.uri().path().contains("/testresources/");
            let answer = inner.send(request).await?;
            if !is_it || !is_on.load(Ordering::SeqCst) || !answer.status().is_success() {
                return Ok(answer);
            }
            let (head, body) = answer.into_parts();
            let body = body.collect().await?.to_bytes();
            let object: Value = serde_json::from_slice(&body)?;
            let finalizers = object["metadata"]["finalizers"].as_array();
            let ours = |name: &Value| name.as_str().is_some_and(|name| name.contains("operator-core.io"));
            let has = [
                ("finalizer", finalizers.is_some_and(|all| all.iter().any(ours))),
                ("annotation", object["metadata"]["annotations"][FORGET] == "none"),
                ("id", object["status"]["recordId"].as_str().is_some_and(|id| id != "id-7")),
            ];
            let lacks = has.iter().filter(|(_, has)| !has).map(|(what, _)| (*what).to_owned());
            lacking.lock().extend(lacks);
            let body = Full::new(body).map_err(|never| match never {}).boxed_unsync();
            Ok(http::Response::from_parts(head, body))
        }
    })
}

fn others_condition(kind: &str) -> Value {
    json!({
        "type": kind, "status": "True", "reason": "Fine", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    })
}

async fn meddle(resources: Api<TestResource>, name: String, other: Other) -> Result<()> {
    let one = resources.get(&name).await?;
    let patch = match other {
        Other::Nothing => return Ok(()),
        Other::Label => json!({ "metadata": { "labels": { "theirs": "yes" } } }),
        Other::Annotation => json!({ "metadata": { "annotations": { THEIRS: "yes" } } }),
        Other::Finalizer => {
            let all = one.finalizers().iter().map(String::as_str).chain([THEIRS]).collect::<Vec<_>>();
            json!({ "metadata": { "finalizers": all } })
        }
        Other::Condition => {
            let mut all = serde_json::to_value(one.status.unwrap_or_default().conditions)?;
            all.as_array_mut().context("a list")?.push(others_condition("Audited"));
            let patch = KubePatch::Merge(json!({ "status": { "conditions": all } }));
            resources.patch_status(&name, &PatchParams::default(), &patch).await?;
            return Ok(());
        }
    };
    resources.patch(&name, &PatchParams::default(), &KubePatch::Merge(patch)).await?;
    Ok(())
}

/// What is wrong when primaries are written in this way.
async fn wrongs(way: Way, door: Door, applies: bool, others: &[Other]) -> Result<Vec<String>> {
    let (scene, system): (_, Words) = (scene().await?, OtherSystem::new());
    let (lacking, is_on) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let record = Records::new(Word::unsearchable(&system)).id_in_status("recordId").named("word");
    let workflow = Workflow::builder().nodes((record,)).explicit_invocation().build()?;
    let untyped = InformerEventSource::<DynamicObject>::of_type(ApiResource::erase::<TestResource>(&()));
    let mut controller =
        Controller::builder(Writes::new(way, door)).name("keeper").use_ssa_to_patch_primary(applies);
    controller = match door {
        Door::Primary => controller,
        Door::Named => controller.watches(InformerEventSource::<TestResource>::new().name("named")),
        Door::Untyped => controller.watches(untyped.name("untyped")),
    };
    let controller = controller.namespaces([&scene.namespace]).workflow(workflow);
    let before = others.iter().enumerate().map(|(number, other)| {
        let (resources, other) = (scene.resources.clone(), *other);
        let rule = Rule::writes().resource("testresources").name(&format!("p{number}")).nth(1);
        rule.meanwhile(move |target| {
            let (resources, name) = (resources.clone(), target.name.clone().unwrap_or_default());
            async move { meddle(resources, name, other).await.expect("somebody's write") }
        })
    });
    let faults = Faults::new(before);
    faults.off();
    let hooks = [faults.hook(), watching(&lacking, &is_on)];
    let _operator = under_hooks(hooks, &scene, controller).await?;
    let names: Vec<String> = (0..others.len()).map(|number| format!("p{number}")).collect();
    for name in &names {
        scene.create(name, "first").await?;
    }
    pass(10).await;
    for name in &names {
        scene.patch(name, json!({ "metadata": { "annotations": { FORGET: "none" } } })).await?;
        let patch = KubePatch::Merge(json!({ "status": { "conditions": [others_condition("Before")] } }));
        scene.resources.patch_status(name, &PatchParams::default(), &patch).await?;
    }
    pass(10).await;
    faults.on();
    is_on.store(true, Ordering::SeqCst);
    let mut wrong = Vec::new();
    for (name, other) in names.iter().zip(others) {
        scene.set(name, "write").await?;
        pass(60).await;
        let mut say =
            |what: &str| wrong.push(format!("{way:?}, {door:?}, applies: {applies}, {other:?}: {what}"));
        lacking.lock().drain(..).for_each(|what: String| say(&format!("the {what} was taken away")));
        let one = scene.resources.get(name).await?;
        let status = one.status.clone().unwrap_or_default();
        let is_written = one.labels().contains_key("written") || status.message.is_some();
        // What is refused isn't made again by this reconciler.
        if !is_written && way != Way::MergeNullStatus && (*other == Other::Nothing || !is_refused(way)) {
            say("nothing was written");
        }
        if *other == Other::Condition
            && !status.conditions.iter().any(|of| of.type_ == "Audited")
            && !is_whole(way)
        {
            say("the condition of others was taken away");
        }
    }
    let records = system.records().len();
    if records != others.len() {
        wrong.push(format!("{way:?}, {door:?}: there are {records} records"));
    }
    Ok(wrong)
}

/// What was made from another state is refused, and the run doesn't mind.
fn is_refused(way: Way) -> bool {
    matches!(way, Way::Update | Way::UpdateStatus)
}

/// What is written as a whole, whatever there is: the list of conditions, too, which is one field in this definition.
fn is_whole(way: Way) -> bool {
    matches!(way, Way::ApplyStatus | Way::MergeNullStatus)
}

#[tokio::test(start_paused = true)]
async fn no_write_of_a_run_s_own_primary_takes_away_what_is_the_framework_s() -> Result<()> {
    let mut wrong = Vec::new();
    for way in WAYS {
        for applies in [true, false] {
            wrong.extend(wrongs(way, Door::Primary, applies, &OTHERS).await?);
        }
        for door in [Door::Named, Door::Untyped] {
            wrong.extend(wrongs(way, door, true, &[Other::Nothing, Other::Label, Other::Condition]).await?);
        }
    }
    ensure!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// An earlier version has applied the primary, finalizer and all. This one patches it, and applies a part of it now and then.
#[tokio::test(start_paused = true)]
async fn the_finalizer_stays_when_an_upgrade_patches_what_was_applied_before() -> Result<()> {
    let (scene, lacking, is_on) = (scene().await?, Arc::default(), Arc::new(AtomicBool::new(false)));
    let start = async |way, applies| {
        let record =
            Records::new(Word::unsearchable(&OtherSystem::new())).id_in_status("recordId").named("word");
        let workflow = Workflow::builder().nodes((record,)).explicit_invocation().build()?;
        let controller = Controller::builder(Writes::new(way, Door::Primary)).name("keeper");
        let controller = controller.use_ssa_to_patch_primary(applies).namespaces([&scene.namespace]);
        under_hooks([watching(&lacking, &is_on)], &scene, controller.workflow(workflow)).await
    };
    let earlier = start(Way::PatchResource, true).await?;
    scene.create("one", "write").await?;
    pass(10).await;
    scene.patch("one", json!({ "metadata": { "annotations": { FORGET: "none" } } })).await?;
    earlier.stop().await;
    scene.set("one", "wait").await?;
    let _operator = start(Way::ApplyPart, false).await?;
    pass(10).await;
    is_on.store(true, Ordering::SeqCst);
    scene.set("one", "write").await?;
    pass(60).await;
    let lacking = lacking.lock();
    ensure!(lacking.is_empty(), "{lacking:?}");
    Ok(())
}

/// Whoever writes past the framework is somebody else: what is the framework's comes back.
#[tokio::test(start_paused = true)]
async fn what_others_take_away_comes_back() -> Result<()> {
    let (scene, system): (_, Words) = (scene().await?, OtherSystem::new());
    let record = Records::new(Word::unsearchable(&system)).id_in_status("recordId").named("word");
    let written = Arc::new(AtomicBool::new(false));
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let written = Arc::clone(&written);
        Box::pin(async move {
            context.run().await?;
            if primary.value() == "write" && !written.swap(true, Ordering::SeqCst) {
                let namespace = primary.namespace().unwrap_or_default();
                let resources: Api<TestResource> = Api::namespaced(context.client().clone(), &namespace);
                let patch = KubePatch::Merge(json!({ "metadata": { "finalizers": null } }));
                resources.patch(&primary.name_any(), &PatchParams::default(), &patch).await?;
                let patch = KubePatch::Merge(json!({ "status": { "recordId": null } }));
                resources.patch_status(&primary.name_any(), &PatchParams::default(), &patch).await?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let workflow = Workflow::builder().nodes((record,)).explicit_invocation().build()?;
    let controller = scene.managed(&script, &workflow).name("keeper");
    let _operator = under_hooks([], &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    scene.set("one", "write").await?;
    pass(10).await;
    scene.set("one", "no more").await?;
    pass(60).await;
    let one = scene.resources.get("one").await?;
    let id = one.status.clone().and_then(|status| status.record_id);
    assert_eq!((one.finalizers().len(), id.as_deref()), (1, Some("id-1")), "{:?}", one.status);
    assert_eq!(words_in(&system), ["no more"]);
    Ok(())
}
