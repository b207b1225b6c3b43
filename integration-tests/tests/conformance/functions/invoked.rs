//! A reconciler runs its workflow, as a whole or in part.

use integration_tests::prelude::*;
use operator_core::{Permanent, Run, Wire, prelude::Context};

use super::{a_secret, says};

fn migration(primary: &TestResource) -> Option<ConfigMap> {
    (!says(primary, "gone")).then(ConfigMap::default)
}

fn web(_: &TestResource) -> ConfigMap {
    ConfigMap::default()
}

fn keys(_: &TestResource) -> Secret {
    a_secret()
}

/// No node of the workflow.
fn webs(_: &TestResource) -> ConfigMap {
    ConfigMap::default()
}

/// What the nodes came to, and whether all is ready.
fn told(run: &Run<TestResource>) -> Vec<String> {
    let mut told: Vec<_> = run.nodes().iter().map(|node| format!("{}: {}", node.name, node.state)).collect();
    told.push(format!("ready: {}", run.all_ready()));
    told
}

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let ready = run.conditions(one).swap_remove(0);
    TestStatus { messages: told(run), message: Some(ready.message), ..TestStatus::default() }
}

type Told = Arc<Mutex<Vec<Vec<String>>>>;

async fn by_its_value(primary: &TestResource, cx: &mut Context<TestResource>, answers: &Told) -> Result<()> {
    let is = |word| says(primary, word);
    if is("nothing") {
        assert!(cx.so_far()?.nodes().is_empty());
    }
    if is("part") {
        let run = cx.run_only((migration,)).await?;
        assert_eq!(run.get(migration).is_some(), !is("gone"));
        answers.lock().push(told(&run));
    }
    if is("rest") {
        let run = cx.run_only((web, keys)).await?;
        answers.lock().push(told(&run));
    }
    if is("whole") {
        let run = cx.run().await?;
        assert_eq!(run.get(web).is_some(), !is("gone"));
        answers.lock().push(told(&run));
    }
    if is("unknown") {
        cx.run_only((webs,)).await?;
    }
    Ok(())
}

fn controller(scene: &Scene, answers: &Told) -> (Script, ControllerBuilder<Script>) {
    let noted = Arc::clone(answers);
    let script = Script::new(move |_, primary: Arc<TestResource>, cx| {
        let answers = Arc::clone(&noted);
        Box::pin(async move {
            by_its_value(&primary, cx, &answers).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let workflow = operator_core::Workflow::builder().nodes((migration, web.requires(migration), keys));
    let controller = scene.controller(&script).workflow(workflow.explicit_invocation()).status(status);
    (script, controller)
}

async fn written_with(
    scene: &Scene,
    operator: &operator_core::testing::TestOperator,
    value: &str,
) -> Result<Vec<String>> {
    scene.patch("one", json!({ "spec": { "value": value } })).await?;
    let mut written = operator.settled().await?.written();
    written.retain(|line| !line.contains("/status"));
    // Those that don't wait for one another go out at the same time.
    written.sort();
    Ok(written)
}

#[operator_test]
async fn a_part_is_in_order_and_leaves_all_else_as_it_is() -> Result<()> {
    let (scene, answers) = (Scene::new("invoked-part").await?, Told::default());
    let (_script, controller) = controller(&scene, &answers);
    let operator = scene.start(controller).await?;
    let of_status = async || {
        let status = scene.resources.get("one").await?.status.unwrap_or_default();
        anyhow::Ok((status.messages, status.message.unwrap_or_default()))
    };
    scene.create("one", "nothing").await?;
    operator.settled().await?;
    assert_eq!(of_status().await?, (vec!["ready: false".to_owned()], "the workflow was not run".to_owned()));

    assert_eq!(written_with(&scene, &operator, "part").await?, ["PATCH configmaps/one-migration -> 201"]);
    assert_eq!(answers.lock().pop(), Some(vec!["migration: created".to_owned(), "ready: true".to_owned()]));
    let words = ["migration: created", "ready: false"].map(str::to_owned).to_vec();
    assert_eq!(of_status().await?, (words, "not run: web, keys".to_owned()), "the run as a whole");

    let expected = ["PATCH configmaps/one-web -> 201", "PATCH secrets/one-keys -> 201"];
    assert_eq!(written_with(&scene, &operator, "part rest").await?, expected);
    let all =
        ["migration: matched", "web: created", "keys: created", "ready: true"].map(str::to_owned).to_vec();
    assert_eq!(answers.lock().pop(), Some(all.clone()), "what they come after is in the part");
    assert_eq!(of_status().await?, (all, String::new()), "two parts are the whole");

    // What comes after it stays, and so does it.
    assert_eq!(written_with(&scene, &operator, "part gone").await?, [""; 0]);
    let waits = "migration: waiting: stays for web, which isn't in this part";
    assert_eq!(answers.lock().pop(), Some(vec![waits.to_owned(), "ready: false".to_owned()]));
    let expected = ["DELETE configmaps/one-migration -> 200", "DELETE configmaps/one-web -> 200"];
    assert_eq!(written_with(&scene, &operator, "whole gone").await?, expected);
    let whole = ["migration: deleted", "web: deleted", "keys: matched", "ready: true"].map(str::to_owned);
    assert_eq!(answers.lock().pop(), Some(whole.to_vec()));
    Ok(())
}

#[operator_test]
async fn a_part_that_names_no_node_fails_its_run_and_says_which_is_meant() -> Result<()> {
    let (scene, answers) = (Scene::new("invoked-unknown").await?, Told::default());
    scene.failures.expect("`webs` isn't a node of the controller's workflow; did you mean `web`?");
    let (script, controller) = controller(&scene, &answers);
    let operator = scene.start(controller).await?;
    scene.create("one", "unknown").await?;
    assert!(operator.settled().await?.written().iter().all(|line| line.contains("/status")));
    assert_eq!(script.runs.count(), 1, "only other code helps");
    Ok(())
}

/// What is known of each node, whatever the run has done.
fn known(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let names = [run.get(web).map(|map| map.name_any()), run.get(keys).map(|secret| secret.name_any())];
    let mut messages: Vec<_> = names.into_iter().map(Option::unwrap_or_default).collect();
    messages.extend(run.state(web).map(ToString::to_string));
    messages.push(format!("{}", run.state(webs).is_none()));
    let stalled = run.conditions(one).swap_remove(2);
    TestStatus {
        messages,
        message: Some(format!("{} {}", stalled.status, stalled.message)),
        ..TestStatus::default()
    }
}

/// A refused spec, and a failure before the workflow: the children stay, and the status knows them.
#[operator_test]
async fn a_run_that_fails_before_its_workflow_keeps_what_is_known() -> Result<()> {
    let scene = Scene::new("functions-early").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, cx| {
        Box::pin(async move {
            if says(&primary, "refused") {
                return Err(Permanent::new("the spec is refused").into());
            }
            cx.run().await?;
            Ok(UpdateControl::no_update())
        })
    });
    scene.failures.expect("the spec is refused");
    let workflow = operator_core::Workflow::builder().nodes((web, keys)).explicit_invocation();
    let operator = scene.start(scene.controller(&script).workflow(workflow).status(known)).await?;
    let said = async || Ok::<_, anyhow::Error>(scene.resources.get("one").await?.status.unwrap_or_default());
    scene.create("one", "good").await?;
    operator.settled().await?;
    let messages = ["one-web", "one-keys", "created", "true"];
    assert_eq!(said().await?.messages, messages);
    scene.set("one", "refused").await?;
    let settled = operator.settled().await?;
    assert_eq!(said().await?.messages, ["one-web", "one-keys", "pending: not reached", "true"]);
    assert_eq!(
        said().await?.message.as_deref(),
        Some("True the spec is refused"),
        "that it isn't retried, Stalled says"
    );
    let written = settled.written();
    assert!(written.iter().all(|write| write.contains("testresources")), "{written:?}");
    Ok(())
}
