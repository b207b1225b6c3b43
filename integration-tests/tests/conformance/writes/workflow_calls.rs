//! The cost of a workflow, by the API server's audit log: a first run of ten dependents makes ten writes and one of the
//! status, a run in which everything matches makes none, a change of one makes one and one; and ten that don't depend on
//! one another are in progress at the same time.

use http::Method;
use integration_tests::prelude::*;
use operator_core::{Node, One};
use tokio::sync::Barrier;

/// How many dependents the workflow has.
const DEPENDENTS: usize = 10;

/// A config map. Only the first one shows the primary's value.
fn map(index: usize) -> Node<TestResource, One<ConfigMap>> {
    let suffix = index.to_string();
    let desired = move |primary: &TestResource| {
        map_of(primary, &suffix, if index == 0 { primary.value() } else { "constant" })
    };
    wanted(&format!("map-{index}"), desired)
}

fn script() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            anyhow::ensure!(context.so_far()?.all_ready());
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
}

async fn start(operator: OperatorBuilder, scene: &Scene, script: &Script) -> Result<TestOperator> {
    let workflow = workflow_of((0..DEPENDENTS).map(map))?;
    let operator = TestOperator::start(operator.register(scene.managed(script, &workflow))).await?;
    operator.settled().await?;
    Ok(operator)
}

/// The calls about single objects since the last time.
async fn calls(audit: &mut Audit) -> Result<BTreeMap<String, usize>> {
    Ok(audit.calls().await?.about_objects().counts())
}

fn expected(maps: usize, statuses: usize) -> BTreeMap<String, usize> {
    [("patch configmaps", maps), ("patch testresources/status", statuses)]
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .map(|(call, number)| (call.to_owned(), number))
        .collect()
}

#[operator_test]
async fn a_workflow_writes_what_differs_and_reads_nothing() -> Result<()> {
    let scene = Scene::new("workflow-calls").await?;
    let (script, (operator, mut audit)) = (script(), scene.audited().await?);
    let operator = start(operator, &scene, &script).await?;
    audit.calls().await?;

    scene.create("one", "first").await?;
    scene.until("the status", "one", |one| one.status == Some(said("first"))).await?;
    operator.settled().await?;
    assert_eq!(calls(&mut audit).await?, expected(DEPENDENTS, 1), "a first run");
    assert_eq!(script.runs.count(), 1, "own writes cause no run");

    let label = Patch::Merge(json!({ "metadata": { "labels": { "somebody": "else" } } }));
    scene.api::<ConfigMap>().patch("one-1", &PatchParams::default(), &label).await?;
    eventually(
        "a run",
        async || Ok((script.runs.count() == 2 && script.runs.under_way() == 0).then_some(())),
    )
    .await?;
    operator.settled().await?;
    assert_eq!(calls(&mut audit).await?, expected(0, 0), "everything matches");

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    scene.until("the status", "one", |one| one.status == Some(said("second"))).await?;
    operator.settled().await?;
    assert_eq!(calls(&mut audit).await?, expected(1, 1), "one field of one dependent");
    assert_eq!(script.runs.count(), 3);
    Ok(())
}

#[operator_test]
async fn what_does_not_depend_on_one_another_is_written_at_the_same_time() -> Result<()> {
    let scene = Scene::new("workflow-calls").await?;
    let script = script();
    // No write goes on before all ten have been begun: one after the other would wait for ever.
    let together = Arc::new(Barrier::new(DEPENDENTS));
    let hook = before(move |method, path| {
        let together = Arc::clone(&together);
        let is_map = *method == Method::PATCH && path.contains("/configmaps/");
        is_map.then(|| {
            Box::pin(async move {
                together.wait().await;
            }) as futures::future::BoxFuture<'static, ()>
        })
    });
    let _operator = start(scene.operator().transport(hook), &scene, &script).await?;
    scene.create("one", "first").await?;
    scene.until("the status", "one", |one| one.status == Some(said("first"))).await?;
    Ok(())
}
