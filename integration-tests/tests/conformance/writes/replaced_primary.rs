//! The primary is deleted, or deleted and created again, just before a write of it is sent: it doesn't come back, no run
//! fails, and a new object reaches its own status.

use http::Method;
use integration_tests::prelude::*;
use operator_core::Context;

/// The writes, with the method and the subresource by which they are recognized.
const WAYS: [(&str, Method, &str); 14] = [
    ("finalizer", Method::PATCH, ""),
    ("finalizer-no-ssa", Method::PATCH, ""),
    ("answer", Method::PATCH, "/status"),
    ("answer-no-ssa", Method::PATCH, "/status"),
    ("answer-object", Method::PATCH, ""),
    ("answer-object-no-ssa", Method::PATCH, ""),
    ("apply", Method::PATCH, ""),
    ("apply-status", Method::PATCH, "/status"),
    ("put", Method::PUT, ""),
    ("put-status", Method::PUT, "/status"),
    ("json", Method::PATCH, ""),
    ("json-status", Method::PATCH, "/status"),
    ("merge", Method::PATCH, ""),
    ("merge-status", Method::PATCH, "/status"),
];

async fn write(way: &str, primary: &TestResource, context: &Context<TestResource>) -> Result<()> {
    let operations = context.resource_operations();
    let mut desired = primary.clone();
    desired.spec.value = "written".to_owned();
    desired.status = Some(said("of the old object"));
    let status = json!({ "status": { "message": "of the old object" } });
    match way {
        "apply" => operations.server_side_apply(&fresh(primary, "written")).await?.object()?,
        "apply-status" => operations.server_side_apply_status(&desired).await?,
        "put" => operations.update(&desired).await?,
        "put-status" => operations.update_status(&desired).await?,
        "json" => operations.json_patch(primary, |object| object.spec = desired.spec.clone()).await?,
        "json-status" => {
            operations.json_patch_status(primary, |object| object.status.clone_from(&desired.status)).await?
        }
        "merge" => operations.merge_patch(primary, json!({ "spec": { "value": "written" } })).await?,
        "merge-status" => operations.merge_patch_status(primary, status).await?,
        other => bail!("no way to write {other}"),
    };
    Ok(())
}

/// The old object's run writes in this way; the new one's, and what else follows, only says whose status it is.
async fn answer(
    way: &str,
    primary: &TestResource,
    context: &Context<TestResource>,
) -> Result<Said<TestResource>> {
    let status = said(primary.uid().unwrap_or_default());
    if primary.spec.value != "old" || way.starts_with("finalizer") {
        return Ok(Said::status(status));
    }
    match way {
        "answer" | "answer-no-ssa" => Ok(Said::status(said("of the old object"))),
        "answer-object" | "answer-object-no-ssa" => {
            let mut desired = primary.clone();
            desired.metadata.annotations = Some([("by".to_owned(), "us".to_owned())].into());
            Ok(Said::patch_resource(desired))
        }
        _ => {
            write(way, primary, context).await?;
            Ok(Said::status(status))
        }
    }
}

async fn check(way: &'static str, method: Method, subresource: &str, recreate: bool) -> Result<()> {
    let scene = Scene::new("replaced-primary").await?;
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        Box::pin(async move { answer(way, &primary, context).await })
    });
    let others = scene.clone();
    let hook = once_before(method, format!("/testresources/one{subresource}"), move || {
        let others = others.clone();
        Box::pin(async move {
            // With our finalizer, the object would only be marked; these are about one that is really gone.
            others.resources.delete("one", &DeleteParams::default()).await?;
            if recreate {
                others.create("one", "new").await?;
            }
            Ok(())
        })
    });
    let mut controller = scene.controller(&script);
    if way.starts_with("finalizer") {
        controller = controller.cleaner(true);
    }
    let operator =
        scene.start_through(hook, controller.use_ssa_to_patch_primary(!way.ends_with("no-ssa"))).await?;
    scene.create("one", "old").await?;
    let settled = operator.settled().await?;
    let what = format!("{way}, recreate: {recreate}, {:?}", settled.written());
    let one = scene.resources.get_opt("one").await?;
    if recreate {
        let one = one.expect("the new object");
        assert_eq!(one.status, Some(said(one.uid().unwrap_or_default())), "{what}");
        assert_eq!(one.spec.value, "new", "{what}");
        assert!(one.annotations().is_empty(), "{what}");
    } else {
        assert!(one.is_none(), "it has come back: {what}");
    }
    assert!(script.runs.of("one").iter().all(|run| run.attempt.is_none()), "a run failed: {what}");
    assert!(settled.runs_of(&scene.key("one")) <= 2, "{what}");
    assert!(settled.writes().all(|write| write.code != Some(201)), "{what}");
    Ok(())
}

#[operator_test]
async fn a_deleted_primary_stays_deleted() -> Result<()> {
    for (way, method, subresource) in WAYS {
        check(way, method, subresource, false).await?;
    }
    Ok(())
}

#[operator_test]
async fn a_replaced_primary_gets_its_own_status() -> Result<()> {
    for (way, method, subresource) in WAYS {
        check(way, method, subresource, true).await?;
    }
    Ok(())
}
