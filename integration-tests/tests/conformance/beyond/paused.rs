//! A primary that is paused is left alone: one status says so, and nothing else happens until the pause ends.

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_core::{Context, Run};

const LABEL: &str = "example.com/paused";

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let message = run.is_paused().then(|| "paused".to_owned());
    TestStatus { message, conditions: run.conditions(one), ..TestStatus::default() }
}

fn is_paused(one: &TestResource) -> bool {
    one.spec.value == "paused" || one.labels().contains_key(LABEL)
}

async fn told(scene: &Scene) -> Result<Vec<String>> {
    let conditions = scene.resources.get("one").await?.status.unwrap_or_default().conditions;
    let line = |of: &Condition| format!("{} {} {} {}", of.type_, of.status, of.reason, of.message);
    Ok(conditions.iter().map(line).map(|line| line.trim().to_owned()).collect())
}

const SUSPENDED: [&str; 3] =
    ["Ready False Suspended it is paused", "Reconciling False Suspended", "Stalled False Suspended"];

const SUCCEEDED: [&str; 3] =
    ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"];

/// Runs again soon as long as the value says so, and fails as long as it says that.
fn script() -> Script {
    Script::new(|_, one: Arc<TestResource>, _: &mut Context<TestResource>| {
        Box::pin(async move {
            match &*one.spec.value {
                "broken" => bail!("it is broken"),
                "again" => Ok(UpdateControl::no_update().reschedule_after(Duration::from_millis(100))),
                _ => Ok(UpdateControl::no_update()),
            }
        })
    })
}

struct Started {
    operator: TestOperator,
    script: Script,
    numbers: Numbers,
}

impl Started {
    async fn new(scene: &Scene) -> Result<Self> {
        let (script, numbers) = (script(), Numbers::default());
        let workflow = Workflow::builder().nodes((Child("child").node(),)).build()?;
        let controller = scene.managed(&script, &workflow).name("pauses").cleaner(true);
        let controller = controller.retry(GenericRetry::linear(Duration::from_millis(100), 1_000_000)?);
        // ANCHOR: controller
        let controller = controller.status(status).paused_when(is_paused);
        // ANCHOR_END: controller
        let builder = scene.operator().metrics(numbers.recorder());
        let operator = TestOperator::start(builder.register(controller)).await?;
        Ok(Self { operator, script, numbers })
    }

    /// What was written since the last call, once nothing more happens.
    async fn written(&self) -> Result<Vec<String>> {
        Ok(self.operator.settled().await?.written())
    }

    fn paused(&self) -> f64 {
        self.numbers.value("paused_primaries", &[("controller_name", "pauses")])
    }

    fn runs(&self) -> usize {
        self.script.runs.count()
    }
}

async fn pause(scene: &Scene, paused: bool) -> Result<()> {
    let label = json!({ LABEL: paused.then_some("yes") });
    scene.patch("one", json!({ "metadata": { "labels": label } })).await.map(drop)
}

async fn say(scene: &Scene, value: &str) -> Result<()> {
    scene.patch("one", json!({ "spec": { "value": value } })).await.map(drop)
}

#[operator_test]
async fn a_paused_primary_is_left_alone_and_its_status_says_so_once() -> Result<()> {
    let scene = Scene::new("paused").await?;
    let started = Started::new(&scene).await?;
    scene.create("one", "paused").await?;
    assert_eq!(started.written().await?, ["PATCH testresources/one/status -> 200"], "nor a finalizer");
    assert_eq!(told(&scene).await?, SUSPENDED);
    assert_eq!(
        scene.resources.get("one").await?.status.unwrap_or_default().message.as_deref(),
        Some("paused")
    );
    assert_eq!((started.paused(), started.runs()), (1.0, 0));
    // It lasts, whatever else changes.
    pause(&scene, true).await?;
    say(&scene, "first").await?;
    assert_eq!(started.written().await?, [""; 0]);
    started.operator.stop().await;
    assert_eq!(started.paused(), 0.0);

    let started = Started::new(&scene).await?;
    assert_eq!(started.written().await?, [""; 0], "a new process knows it by the status");
    assert_eq!((started.paused(), started.runs()), (1.0, 0));
    say(&scene, "second").await?;
    assert_eq!(started.written().await?, [""; 0]);

    // A label alone doesn't change the generation.
    pause(&scene, false).await?;
    assert_eq!(
        started.written().await?,
        [
            "PATCH testresources/one -> 200",
            "PATCH configmaps/one-child -> 201",
            "PATCH testresources/one/status -> 200"
        ]
    );
    assert_eq!((started.paused(), started.runs()), (0.0, 1));
    assert_eq!(told(&scene).await?, SUCCEEDED);

    pause(&scene, true).await?;
    assert_eq!(started.written().await?, ["PATCH testresources/one/status -> 200"]);
    scene.api::<ConfigMap>().delete("one-child", &DeleteParams::default()).await?;
    assert_eq!(started.written().await?, [""; 0], "what is lost stays so");
    assert_eq!((started.paused(), started.runs()), (1.0, 1));

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    started.operator.settled().await?;
    assert_eq!((started.paused(), started.script.cleanups.count()), (0.0, 1), "its end is handled");
    Ok(())
}

#[operator_test]
async fn no_timer_runs_a_paused_primary() -> Result<()> {
    let scene = Scene::new("paused").await?;
    scene.failures.expect("it is broken");
    let started = Started::new(&scene).await?;
    scene.create("one", "again").await?;
    for value in ["again", "broken"] {
        say(&scene, value).await?;
        let before = started.runs();
        let ran = async || Ok((started.runs() > before + 2).then_some(()));
        eventually("some runs that follow by time", ran).await?;
        pause(&scene, true).await?;
        // It only settles when no timer is due soon.
        started.operator.settled().await?;
        assert_eq!(
            (told(&scene).await?, started.paused()),
            (SUSPENDED.map(str::to_owned).to_vec(), 1.0),
            "{value}"
        );
        let paused = started.runs();
        pause(&scene, false).await?;
        let goes_on = async || Ok((started.runs() > paused).then_some(()));
        eventually("the end of the pause", goes_on).await?;
    }
    say(&scene, "fine").await?;
    started.operator.settled().await?;
    assert_eq!((told(&scene).await?, started.paused()), (SUCCEEDED.map(str::to_owned).to_vec(), 0.0));
    Ok(())
}

#[operator_test]
async fn a_function_that_panics_fails_the_run_and_nothing_else() -> Result<()> {
    let scene = Scene::new("paused").await?;
    scene.failures.expect("the function of `paused_when` panicked: no idea");
    let script = Script::idle();
    let controller = scene.controller(&script).status(status).paused_when(|one| match &*one.spec.value {
        "unknown" => panic!("no idea"),
        value => value == "paused",
    });
    let operator = scene.start(controller).await?;
    for (value, expected) in [
        ("paused", SUSPENDED[0]),
        ("unknown", "Ready False Panicked the function of `paused_when` panicked: no idea"),
        ("paused", SUSPENDED[0]),
    ] {
        match scene.resources.get_opt("one").await? {
            None => drop(scene.create("one", value).await?),
            Some(_) => say(&scene, value).await?,
        }
        let what = format!("the status for {value}");
        eventually(&what, async || {
            Ok((told(&scene).await?.first().map(String::as_str) == Some(expected)).then_some(()))
        })
        .await?;
    }
    operator.settled().await?;
    assert_eq!(script.runs.count(), 0);
    Ok(())
}
