//! Functions of nodes ask for what other nodes have, by the node and not by the kind.

use integration_tests::{OneRecord, prelude::*};
use operator_core::{Context, Run, Verdict, Wire as _, the};

fn says(one: &TestResource, word: &str) -> bool {
    one.spec.value.split(' ').any(|said| said == word)
}

/// Two nodes of one kind, so that the kind alone doesn't say which is meant.
fn left(one: &TestResource) -> Option<ConfigMap> {
    (!says(one, "gone")).then(|| map_of(one, "left", &one.spec.value))
}

fn right(one: &TestResource) -> Vec<ConfigMap> {
    let named = |name: &str| {
        let mut map = map_of(one, name, name);
        map.metadata.name = Some(format!("{}-{name}", one.name_any()));
        map
    };
    ["a", "b"].map(named).into_iter().collect()
}

fn value(map: &ConfigMap) -> String {
    map.data.as_ref().and_then(|data| data.get("value")).cloned().unwrap_or_default()
}

/// What the others have, as the function of a node sees it.
fn sum(one: &TestResource, cx: &Context<TestResource>) -> Result<ConfigMap, BoxError> {
    let left = cx.seen(left)?.map_or_else(|| "nothing".to_owned(), |left| value(&left));
    let right: Vec<_> = cx.seen(right)?.iter().map(|map| value(map)).collect();
    // Records outside the cluster are a node as well.
    let record = cx.seen(the::<OneRecord>())?.map_or_else(|| "none".to_owned(), |found| found.data.clone());
    Ok(map_of(one, "sum", &format!("{left}, {}, {record}", right.join(" and "))))
}

/// A condition of one node asks for another one.
fn is_as_left(_: &ConfigMap, one: &TestResource, cx: &Context<TestResource>) -> Result<Verdict, BoxError> {
    let left = cx.seen(left)?;
    let fits = left.is_none_or(|left| value(&left) == one.spec.value);
    Ok(Verdict::when(fits, "`left` has another value"))
}

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let message = run.get(sum).map(|sum| value(&sum));
    TestStatus { message, conditions: run.conditions(one), ..TestStatus::default() }
}

#[operator_test]
async fn a_function_sees_what_each_node_before_it_has_made_in_this_run() -> Result<()> {
    let scene = Scene::new("seen").await?;
    let system = ExternalSystem::default();
    let record = one_record(&system, "-record");
    let sum = sum.after(left).after(right).after(&record).ready(is_as_left);
    let workflow = Workflow::builder().nodes((sum, left, right, record)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    let told =
        async || anyhow::Ok(scene.resources.get("one").await?.status.and_then(|status| status.message));

    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(told().await?.as_deref(), Some("first, a and b, first-record"));
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "one run is enough");

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(told().await?.as_deref(), Some("second, a and b, second-record"));
    assert_eq!(settled.runs_of(&scene.key("one")), 1);

    // What isn't wanted any more isn't seen, and goes after what was made without it.
    scene.patch("one", json!({ "spec": { "value": "gone" } })).await?;
    let written = operator.settled().await?.written();
    assert_eq!(told().await?.as_deref(), Some("nothing, a and b, gone-record"));
    let at = |line: &str| written.iter().position(|written| written.starts_with(line));
    assert!(at("PATCH configmaps/one-sum") < at("DELETE configmaps/one-left"), "{written:?}");
    Ok(())
}

#[operator_test]
async fn a_node_that_does_not_come_after_the_other_one_fails_with_the_line_to_write() -> Result<()> {
    let scene = Scene::new("seen-unordered").await?;
    scene.failures.expect("`sum` asks for what `left` has, and doesn't come after it");
    let workflow = Workflow::builder().nodes((left, sum, right.after(sum))).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "it isn't retried");
    let conditions = scene.resources.get("one").await?.status.unwrap_or_default().conditions;
    let expected = "1 dependent failed: sum: `sum` asks for what `left` has, and doesn't come after it: write `sum.after(left)`";
    assert_eq!(conditions[0].message, expected);
    Ok(())
}
