//! Each type of write of the primary, and of its status: the written values are there, without a further run. The same
//! write once more sends nothing.

use integration_tests::prelude::*;
use operator_core::{Context, operations::Error};

type Written = Result<Arc<TestResource>, Error>;

/// Writes "written" into the spec or the status, in the way that the object's name says.
async fn write(primary: &TestResource, context: &Context<TestResource>) -> Result<Written> {
    let operations = context.resource_operations();
    let mut desired = primary.clone();
    Ok(match primary.metadata.name.as_deref().unwrap_or_default() {
        "ssa" => match operations.server_side_apply(&fresh(primary, "written")).await {
            Ok(applied) => applied.object(),
            Err(error) => Err(error),
        },
        "ssa-status" => {
            desired.status = Some(said("written"));
            operations.server_side_apply_status(&desired).await
        }
        "put" => {
            desired.spec.value = "written".to_owned();
            operations.update(&desired).await
        }
        "put-status" => {
            desired.status = Some(said("written"));
            operations.update_status(&desired).await
        }
        "json" => operations.json_patch(primary, |object| object.spec.value = "written".to_owned()).await,
        "json-status" => {
            operations.json_patch_status(primary, |object| object.status = Some(said("written"))).await
        }
        "merge" => operations.merge_patch(primary, json!({ "spec": { "value": "written" } })).await,
        "merge-status" => {
            let mut patch = serde_json::to_value(primary)?;
            patch["status"] = json!({ "message": "written" });
            operations
                .merge_patch_status(primary, json!({ "spec": patch["spec"], "status": patch["status"] }))
                .await
        }
        "merge-status-alone" => {
            operations.merge_patch_status(primary, json!({ "status": { "message": "written" } })).await
        }
        "merge-partial" => {
            let label = json!({ "metadata": { "labels": { "written": "yes" } } });
            operations.merge_patch(primary, label).await
        }
        other => bail!("no way to write {other}"),
    })
}

async fn check(name: &'static str, expect: &str) -> Result<()> {
    let scene = Scene::new("resource-operations").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let answer = write(&primary, context).await??;
            let again = write(&answer, context).await??;
            anyhow::ensure!(answer.metadata.resource_version == again.metadata.resource_version);
            let cached = context.primary_cache().get(context.primary_key());
            anyhow::ensure!(
                cached.is_some_and(
                    |cached| cached.metadata.resource_version == answer.metadata.resource_version
                ),
                "own writes are read back"
            );
            Ok(UpdateControl::no_update())
        })
    });
    let operator = scene.start_script(&script).await?;
    scene.create(name, "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), [expect], "one request, and none for what is there");
    assert_eq!(settled.runs_of(&scene.key(name)), 1, "own writes cause no run");
    let actual = scene.resources.get(name).await?;
    if expect.contains("/status") {
        assert_eq!(actual.status, Some(said("written")));
        assert_eq!(actual.spec.value, "first", "the spec stays");
    } else if name == "merge-partial" {
        assert_eq!(actual.metadata.labels, Some([("written".to_owned(), "yes".to_owned())].into()));
        assert_eq!(actual.spec.value, "first", "what the patch doesn't name stays");
    } else {
        assert_eq!(actual.spec.value, "written");
    }
    Ok(())
}

#[operator_test]
async fn server_side_apply() -> Result<()> {
    check("ssa", "PATCH testresources/ssa -> 200").await
}

#[operator_test]
async fn server_side_apply_of_the_status() -> Result<()> {
    check("ssa-status", "PATCH testresources/ssa-status/status -> 200").await
}

#[operator_test]
async fn put() -> Result<()> {
    check("put", "PUT testresources/put -> 200").await
}

#[operator_test]
async fn put_of_the_status() -> Result<()> {
    check("put-status", "PUT testresources/put-status/status -> 200").await
}

#[operator_test]
async fn json_patch() -> Result<()> {
    check("json", "PATCH testresources/json -> 200").await
}

#[operator_test]
async fn json_patch_of_the_status() -> Result<()> {
    check("json-status", "PATCH testresources/json-status/status -> 200").await
}

#[operator_test]
async fn merge_patch() -> Result<()> {
    check("merge", "PATCH testresources/merge -> 200").await
}

#[operator_test]
async fn merge_patch_of_the_status() -> Result<()> {
    check("merge-status", "PATCH testresources/merge-status/status -> 200").await
}

#[operator_test]
async fn merge_patch_of_the_status_alone() -> Result<()> {
    check("merge-status-alone", "PATCH testresources/merge-status-alone/status -> 200").await
}

#[operator_test]
async fn merge_patch_of_a_part_keeps_the_spec() -> Result<()> {
    check("merge-partial", "PATCH testresources/merge-partial -> 200").await
}
