//! The report of a workflow's run: everything that failed, everything that stood still, each condition's answer.

use integration_tests::prelude::*;
use operator_core::{
    Context, Node, One, Verdict, Want,
    observe::{Observation, Observer},
    workflow::{Activation, Cluster, ConditionKind, NodeState, Operation},
};

use super::{calm, pass, scene, under};

/// A node that always fails.
fn broken(name: &'static str) -> Node<TestResource, One<ConfigMap>> {
    let desired =
        move |_: &TestResource| -> Result<ConfigMap, BoxError> { Err(format!("{name} is broken").into()) };
    node(desired).named(name)
}

fn outside_of_the_window(_: &TestResource) -> Want<()> {
    Want::hold("Closed", "outside of the window")
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_run_names_all_nodes_that_failed() -> Result<()> {
    let scene = scene().await?;
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&told);
    let script = Script::idle().on_error(move |_, _, error| noted.lock().push(error.to_string()));
    let workflow = Workflow::builder().nodes((broken("a"), Child("b").node(), broken("c"))).build()?;
    let controller = scene.managed(&script, &workflow).retry(GenericRetry::no_retry());
    let operator = under(&calm(), &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    assert_eq!(*told.lock(), ["2 dependents failed: a: a is broken; c: c is broken"]);
    operator.stop().await;
    Ok(())
}

/// The observations about nodes.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<String>>);

impl Observer for Told {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::NodeState { node, state, .. } = observation {
            self.0.lock().push(format!("{node}: {state}"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_workflow_in_which_something_is_held_is_not_ready() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let held = Child("held").wants(outside_of_the_window);
    let workflow = Workflow::builder().nodes((Child("app").node(), held)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let result = outcomes.last("one").expect("a run");
    assert!(!result.all_ready() && !result.all_deleted(), "{result}");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_stands_still_is_told_and_is_neither_ready_nor_gone() -> Result<()> {
    let (scene, told) = (scene().await?, Arc::new(Told::default()));
    let (script, outcomes) = looking_on::<TestResource>();
    let slow = Child("slow").node().ready(|_: &TestResource| false);
    let behind = Child("behind").node().after(&slow);
    let held = Child("held").wants(outside_of_the_window);
    let workflow = Workflow::builder().nodes((slow, behind, held)).build()?;
    let builder = scene.operator().observer(Arc::clone(&told) as Arc<dyn Observer>);
    let operator = TestOperator::start(builder.register(scene.managed(&script, &workflow))).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let result = outcomes.last("one").expect("a run");
    assert!(!result.all_ready(), "{result}");
    let not_ready = result.nodes().iter().filter(|node| matches!(node.state, NodeState::NotReady { .. }));
    let not_ready: Vec<_> = not_ready.map(|node| node.name.to_string()).collect();
    assert_eq!(not_ready, ["slow"], "what was asked and isn't ready");
    let told = told.0.lock().clone();
    let behind: Vec<_> = told.iter().filter(|line| line.starts_with("behind: waiting for slow")).collect();
    assert_eq!(behind.len(), 1, "{told:?}");
    operator.stop().await;
    Ok(())
}

/// A capability of the cluster, with a detail.
struct Able;

impl Activation for Able {
    async fn check(&self, _: &Cluster<'_>) -> Result<Verdict, BoxError> {
        Ok(Verdict::met().with_detail("able"))
    }
}

fn starting(_: &ConfigMap) -> Verdict {
    Verdict::not_met("starting").with_detail("starting")
}

fn still_there(_: &TestResource) -> Verdict {
    Verdict::not_met("still there")
}

#[tokio::test(start_paused = true)]
async fn each_condition_has_a_detail_of_its_own() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let app = Child("app").node().needs(Able).ready(starting);
    let workflow = Workflow::builder().nodes((app,)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let result = outcomes.last("one").expect("a run");
    let conditions = &node_of(&result, "app").conditions;
    let detail = |kind| conditions.get(&kind).and_then(|verdict| verdict.detail::<&'static str>()).copied();
    assert_eq!(detail(ConditionKind::Needs), Some("able"));
    assert_eq!(detail(ConditionKind::Ready), Some("starting"));
    assert_eq!(detail(ConditionKind::Gone), None, "it wasn't asked");
    operator.stop().await;
    Ok(())
}

/// One object that was missing among many that were there makes the node one that was created.
#[tokio::test(start_paused = true)]
async fn a_bulk_of_which_one_was_missing_counts_as_created() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let workflow = Workflow::builder().nodes((node(counted_maps).named("bulk"),)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "3 x").await?;
    pass(10).await;
    scene.set("one", "4 x").await?;
    pass(10).await;
    let result = outcomes.last("one").expect("a run");
    let reconciled = node_of(&result, "bulk").reconciled.as_ref().expect("what was done");
    assert_eq!((reconciled.operation(), reconciled.operations().len()), (Operation::Created, 4));
    assert_eq!(outcomes.lines("one"), ["bulk: created"]);
    operator.stop().await;
    Ok(())
}

/// A dependent's desired state is computed once in a run of the workflow, and anew in the next one, because the run may
/// have changed its inputs.
#[tokio::test(start_paused = true)]
async fn a_second_run_of_the_workflow_sees_what_the_first_led_to() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            context.run().await?;
            let map = config_map(&*primary, context, "from the run");
            context.resource_operations().server_side_apply(&map).await?;
            context.run().await?;
            Ok(UpdateControl::no_update())
        })
    });
    let desired = wish(|primary: &TestResource, context: &Context<TestResource>| {
        let made = context.secondary_named::<ConfigMap>("one")?;
        Ok(map_of(primary, "copy", made.as_deref().and_then(value_of).unwrap_or("nothing yet")))
    });
    let copy = node(desired).named("copy");
    let workflow = Workflow::builder().nodes((copy,)).explicit_invocation().build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let values = scene.values().await?;
    assert_eq!(script.runs.count(), 1);
    assert_eq!(values.get("one-copy").map(String::as_str), Some("from the run"), "{values:?}");
    operator.stop().await;
    Ok(())
}

/// A clean-up that failed for one node isn't done, even if the reconciler handles errors itself.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_held_up_in_a_clean_up_keeps_the_primary() -> Result<()> {
    let (scene, (script, _)) = (scene().await?, looking_on::<TestResource>());
    let base = Child("base").deleted_node();
    let top = Child("top").deleted_node().after(&base).gone(still_there);
    let workflow = Workflow::builder().nodes((base, top)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    scene.delete("one").await?;
    pass(600).await;
    assert!(scene.resources.get_opt("one").await?.is_some(), "its clean-up isn't over");
    let left: Vec<String> = scene.values().await?.into_keys().collect();
    assert_eq!(left, ["one-base"], "what it depends on stays");
    operator.stop().await;
    Ok(())
}
