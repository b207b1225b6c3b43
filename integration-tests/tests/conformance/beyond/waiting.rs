//! Errors that are no failures, errors with a reason of their own, and a person's request to look again.

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_core::{Context, Permanent, Run, Waiting, status::conditions::ConditionUpdate};

const HOUR: Duration = Duration::from_secs(3_600);

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let message = run.error().map(ToString::to_string);
    TestStatus { message, conditions: run.conditions(one), ..TestStatus::default() }
}

async fn told(scene: &Scene) -> Result<Vec<String>> {
    let conditions = scene.resources.get("one").await?.status.unwrap_or_default().conditions;
    let line = |of: &Condition| format!("{} {} {} {}", of.type_, of.status, of.reason, of.message);
    Ok(conditions.iter().map(line).map(|line| line.trim().to_owned()).collect())
}

/// Whether the steps have what they need.
#[derive(Clone, Default)]
struct Given(Arc<AtomicBool>);

impl Given {
    fn is(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn give(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

const SUCCEEDED: [&str; 3] =
    ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"];

#[operator_test]
async fn a_step_that_waits_fails_no_run_and_says_so_in_the_status() -> Result<()> {
    let scene = Scene::new("waiting-step").await?;
    let given = Given::default();
    let licence = given.clone();
    let script = Script::new(move |_, _: Arc<TestResource>, _: &mut Context<TestResource>| {
        let is_given = licence.is();
        Box::pin(async move {
            if !is_given {
                // However it is wrapped.
                let wait = Waiting::again_in(HOUR, "NoLicence", "no licence was issued yet");
                return Err(anyhow::Error::from(wait).context("the first step"));
            }
            Ok(UpdateControl::no_update())
        })
    });
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "it isn't retried");
    let waits = "NoLicence no licence was issued yet";
    let expected = [
        format!("Ready False {waits}"),
        format!("Reconciling True {waits}"),
        "Stalled False NoLicence".into(),
    ];
    assert_eq!(told(&scene).await?, expected);
    let one = scene.resources.get("one").await?;
    assert_eq!(one.status.unwrap_or_default().message, None, "it is no error");

    given.give();
    scene
        .patch("one", json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "noon" } } }))
        .await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1, "a person has asked for it");
    assert_eq!(told(&scene).await?, SUCCEEDED);
    Ok(())
}

#[operator_test]
async fn a_permanent_error_gives_its_reason_and_heals_when_it_is_asked_for() -> Result<()> {
    let scene = Scene::new("waiting-permanent").await?;
    scene.failures.expect("the quota is used up");
    let given = Given::default();
    let quota = given.clone();
    let script = Script::new(move |_, _: Arc<TestResource>, _: &mut Context<TestResource>| {
        let is_given = quota.is();
        Box::pin(async move {
            match is_given {
                true => Ok(UpdateControl::no_update()),
                false => Err(Permanent::new("the quota is used up").because("OverQuota").into()),
            }
        })
    });
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "first").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    let why = "OverQuota the quota is used up";
    let expected =
        [format!("Ready False {why}"), "Reconciling False OverQuota".into(), format!("Stalled True {why}")];
    assert_eq!(told(&scene).await?, expected);

    given.give();
    // Other annotations are nobody's request.
    scene
        .patch("one", json!({ "metadata": { "annotations": { "example.com/note": "quota given" } } }))
        .await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 0);
    scene
        .patch("one", json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "noon" } } }))
        .await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    assert_eq!(told(&scene).await?, SUCCEEDED);
    Ok(())
}

#[operator_test]
async fn a_node_whose_function_waits_holds_only_what_is_behind_it() -> Result<()> {
    let scene = Scene::new("waiting-node").await?;
    let given = Given::default();
    let licence = given.clone();
    let page = move |one: &TestResource| -> Result<ConfigMap, BoxError> {
        if !licence.is() {
            return Err(Waiting::again_in(HOUR, "NoLicence", "no licence was issued yet").into());
        }
        Ok(map_of(one, "page", &one.spec.value))
    };
    let page = operator_core::node(page).named("page");
    let behind = Child("behind").node().after(&page);
    let workflow = Workflow::builder().nodes((page, behind, Child("beside").node())).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one-beside -> 201", "PATCH testresources/one/status -> 200"]
    );
    let waits = "NoLicence page: waiting: no licence was issued yet";
    let expected = [
        format!("Ready False {waits}"),
        format!("Reconciling True {waits}"),
        "Stalled False NoLicence".into(),
    ];
    assert_eq!(told(&scene).await?, expected);

    given.give();
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    operator.settled().await?;
    assert_eq!(told(&scene).await?, SUCCEEDED);
    Ok(())
}

#[operator_test]
async fn the_conditions_of_steps_stand_beside_those_of_the_run() -> Result<()> {
    let scene = Scene::new("waiting-conditions").await?;
    scene.failures.expect("no luck");
    let script = Script::new(move |_, one: Arc<TestResource>, cx: &mut Context<TestResource>| {
        Box::pin(async move {
            let says = |word: &str| one.spec.value.split(' ').any(|said| said == word);
            cx.condition(&ConditionUpdate {
                r#type: "Licensed",
                status: says("licensed").into(),
                reason: "Asked",
                message: "",
                observed_generation: one.metadata.generation,
            });
            anyhow::ensure!(!says("unlucky"), "no luck");
            cx.abnormal("NotifyFailed", says("lost").then(|| ("NotSent", "nobody answers".to_owned())));
            Ok(UpdateControl::no_update())
        })
    });
    let retry = GenericRetry::linear(Duration::from_millis(50), 0)?;
    let operator = scene.start(scene.controller(&script).status(status).retry(retry)).await?;
    let say = async |value: &str| {
        match scene.resources.get_opt("one").await? {
            None => drop(scene.create("one", value).await?),
            Some(_) => drop(scene.patch("one", json!({ "spec": { "value": value } })).await?),
        }
        operator.settled().await?;
        told(&scene).await
    };
    let with = |ready: &str, others: &[&str]| -> Vec<String> {
        let all = others.iter().map(|other| (*other).to_owned());
        let mut all: Vec<_> = all
            .chain([ready.to_owned()])
            .chain(SUCCEEDED[1..].iter().map(|line| (*line).to_owned()))
            .collect();
        all.sort();
        all
    };
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all
    };
    let lost = "NotifyFailed True NotSent nobody answers";
    assert_eq!(sorted(say("first").await?), with(SUCCEEDED[0], &["Licensed False Asked"]));
    let unready = "Ready False NotSent NotifyFailed: nobody answers";
    assert_eq!(sorted(say("lost licensed").await?), with(unready, &["Licensed True Asked", lost]));
    // A run that fails before the step leaves its condition.
    let failed = say("unlucky").await?;
    assert!(
        failed.contains(&lost.to_owned()) && failed.contains(&"Licensed False Asked".to_owned()),
        "{failed:?}"
    );
    assert!(failed.contains(&"Ready False Failed no luck".to_owned()), "{failed:?}");
    assert_eq!(sorted(say("licensed").await?), with(SUCCEEDED[0], &["Licensed True Asked"]));
    Ok(())
}
