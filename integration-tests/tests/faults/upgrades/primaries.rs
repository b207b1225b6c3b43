//! What on a primary is the framework's: annotations, its finalizer, ids, and the conditions of others. Each way to write a primary
//! leaves it alone, whatever the copy says from which the write was made.

use integration_tests::prelude::*;
use kube::api::Patch as KubePatch;
use operator_core::{
    Context, Reconciler,
    dependent::Records,
    operations::WriteMode,
    testing::{Gate, OtherSystem},
};

use super::Upgrade;
use crate::simulated::{pass, under};

#[derive(Clone, Copy, Debug)]
enum Way {
    Nothing,
    Patch,
    Apply,
    Update,
    UpdateAnyway,
    JsonPatch,
    MergePatch,
    ApplyStatus,
    UpdateStatus,
    JsonPatchStatus,
    MergePatchStatus,
}

const WAYS: [Way; 11] = [
    Way::Nothing,
    Way::Patch,
    Way::Apply,
    Way::Update,
    Way::UpdateAnyway,
    Way::JsonPatch,
    Way::MergePatch,
    Way::ApplyStatus,
    Way::UpdateStatus,
    Way::JsonPatchStatus,
    Way::MergePatchStatus,
];

/// Runs the workflow, whatever comes of it, and then writes its primary in one way, made from the copy of before.
struct Writes(Way);

impl Reconciler for Writes {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        primary: &TestResource,
        cx: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        drop(cx.run().await);
        let mut copy = primary.clone();
        copy.labels_mut().insert("seen".to_owned(), primary.spec.value.clone());
        copy.status.get_or_insert_default().message = Some(primary.spec.value.clone());
        let operations = cx.resource_operations();
        match self.0 {
            Way::Nothing => {}
            Way::Patch => return Ok(UpdateControl::patch_resource(copy)),
            Way::Apply => drop(operations.server_side_apply(&copy).await?),
            // Of a copy from before, which somebody has changed since, it is refused.
            Way::Update => drop(operations.update(&copy).await),
            Way::UpdateAnyway => {
                copy.metadata.resource_version = None;
                drop(operations.mode(WriteMode::CacheOnly).update(&copy).await?);
            }
            Way::JsonPatch => drop(operations.json_patch(primary, |newest| *newest = copy.clone()).await?),
            Way::MergePatch => {
                let metadata = json!({ "labels": copy.labels(), "annotations": copy.annotations() });
                drop(operations.merge_patch(primary, json!({ "metadata": metadata })).await?);
            }
            Way::ApplyStatus => drop(operations.server_side_apply_status(&copy).await?),
            Way::UpdateStatus => drop(operations.update_status(&copy).await),
            Way::JsonPatchStatus => {
                drop(
                    operations
                        .json_patch_status(primary, |newest| newest.status = copy.status.clone())
                        .await?,
                );
            }
            Way::MergePatchStatus => {
                let status = json!({ "status": copy.status });
                drop(operations.merge_patch_status(primary, status).await?);
            }
        }
        Ok(UpdateControl::no_update())
    }
}

/// The note of an attempt, the finalizer and the id are as the framework has written them: after a lost answer and a crash no second
/// record is made.
#[tokio::test(start_paused = true)]
async fn no_way_to_write_a_primary_takes_back_what_is_the_framework_s() -> Result<()> {
    for way in WAYS {
        for applies in [true, false] {
            let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
            let start = async || {
                let record = Records::new(Word::unsearchable(&system)).id_in_status("recordId").named("word");
                let workflow = Workflow::builder().nodes((record,)).explicit_invocation().build()?;
                let controller =
                    Controller::builder(Writes(way)).name("keeper").use_ssa_to_patch_primary(applies);
                let controller = controller.namespaces([&upgrade.0.namespace]).workflow(workflow);
                under(&Faults::none(), &upgrade.0, controller).await
            };
            let running = start().await?;
            upgrade.0.create("one", "a").await?;
            pass(60).await;
            upgrade.0.set("one", "b").await?;
            pass(60).await;
            let one = upgrade.0.resources.get("one").await?;
            let id = one.status.clone().and_then(|status| status.record_id);
            let told = format!("{way:?}, applies: {applies}");
            assert_eq!(
                (id.as_deref(), one.finalizers().len()),
                (Some("id-1"), 1),
                "{told}: {:?}",
                one.status
            );
            // Somebody deletes the record there; the answer to the create of the next one is lost, and the process dies.
            assert!(system.meddle("id-1", None), "{told}");
            system.lose_answers(1, "create");
            upgrade.0.set("one", "c").await?;
            pass(1).await;
            drop(running);
            let _running = start().await?;
            pass(600).await;
            assert_eq!(words_in(&system), ["c"], "{told}: {:?}", system.records());
        }
    }
    Ok(())
}

fn others(kind: &str) -> Value {
    json!({
        "type": kind, "status": "True", "reason": "Fine", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    })
}

/// Somebody else adds a condition while the status is on its way, before each of its writes, with and without another one that is
/// there already. The list is one value.
#[tokio::test(start_paused = true)]
async fn a_condition_of_others_that_comes_in_between_stays() -> Result<()> {
    for applies in [true, false] {
        for (write, is_there) in [(1, false), (1, true), (2, false), (2, true), (3, true)] {
            let upgrade = Upgrade::new().await?;
            let gate = Gate::new();
            let verb = if applies { Verb::Apply } else { Verb::Patch };
            let rule =
                Rule::on(verb).resource("testresources").subresource("status").nth(write).held_at(&gate);
            let workflow = workflow_of_one(wanted_map("a"))?;
            let controller = upgrade.controller(&workflow).use_ssa_to_patch_primary(applies);
            upgrade.0.create("one", "0").await?;
            let patch = async |patch: Value| {
                upgrade
                    .0
                    .resources
                    .patch_status("one", &PatchParams::default(), &KubePatch::Merge(patch))
                    .await
            };
            if is_there {
                patch(json!({ "status": { "conditions": [others("Before")] } })).await?;
            }
            let _operator = under(&Faults::new([rule]), &upgrade.0, controller).await?;
            for value in 1..write {
                pass(60).await;
                upgrade.0.set("one", &value.to_string()).await?;
            }
            gate.arrived().await?;
            let mut all = upgrade.0.resources.get("one").await?.status.unwrap_or_default().conditions;
            all.push(from_json(&others("Audited"))?);
            patch(json!({ "status": { "conditions": all } })).await?;
            gate.let_through(1);
            pass(300).await;
            let status = upgrade.0.resources.get("one").await?.status.unwrap_or_default();
            let types: BTreeSet<_> =
                status.conditions.iter().map(|condition| condition.type_.as_str()).collect();
            let told =
                format!("applies: {applies}, write {write}, another one is there: {is_there}: {types:?}");
            assert!(types.contains("Audited") && types.contains("Before") == is_there, "{told}");
            assert!(types.contains("Ready"), "{told}");
            assert_eq!(status.message, Some((write - 1).to_string()), "{told}");
        }
    }
    Ok(())
}
