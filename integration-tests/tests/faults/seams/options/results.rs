//! The latest states of a workflow's nodes, and its picture.

use integration_tests::prelude::*;
use jiff::Timestamp;
use operator_core::environment::WallClock;

use super::{pass, scene};

/// A clock that goes with the time of the test.
#[derive(Debug)]
struct WithTheTest(Instant);

impl WallClock for WithTheTest {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(self.0.elapsed().as_secs())
    }
}

/// For each run: its primary's value, and what each node came to last, with the second since when.
type Told = Arc<Mutex<Vec<(String, Vec<(String, i64)>)>>>;

fn telling() -> (Script, Told) {
    let told = Told::default();
    let noted = Arc::clone(&told);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let latest = context.so_far().map(|run| run.latest()).unwrap_or_default().into_iter();
        let latest = latest.map(|node| (format!("{}: {}", node.name, node.state), node.since.as_second()));
        noted.lock().push((primary.spec.value.clone(), latest.collect()));
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    (script, told)
}

#[tokio::test(start_paused = true)]
async fn the_latest_states_say_since_when_and_go_with_their_primary() -> Result<()> {
    let (scene, (script, told)) = (scene().await?, telling());
    let ready = |primary: &TestResource| primary.spec.value.starts_with("good");
    let app = Child("app").node().ready(ready);
    let behind = Child("behind").node().after(&app);
    let workflow = Workflow::builder().nodes((app, behind)).build()?;
    let builder = scene.operator().wall_clock(Arc::new(WithTheTest(Instant::now())));
    let operator = TestOperator::start(builder.register(scene.managed(&script, &workflow))).await?;
    let lives = [("bad", 100), ("still bad", 100), ("good", 100), ("good as well", 100)];
    scene.create("one", "bad").await?;
    for (value, seconds) in lives {
        scene.set("one", value).await?;
        pass(seconds).await;
    }
    scene.delete("one").await?;
    pass(10).await;
    scene.create("one", "good again").await?;
    pass(10).await;
    operator.settled().await?;
    let waiting = "waiting for app to be ready: its condition is not met";
    let not_ready = |operation: &str| format!("app: {operation}, not ready: its condition is not met");
    let row = |value: &str, app: String, since: i64, behind: &str| {
        (value.to_owned(), vec![(app, since), (format!("behind: {behind}"), since)])
    };
    let expected = [
        row("bad", not_ready("created"), 0, waiting),
        row("still bad", not_ready("updated"), 0, waiting),
        row("good", "app: updated".to_owned(), 200, "created"),
        row("good as well", "app: updated".to_owned(), 200, "updated"),
        // Not since the ready node of its predecessor.
        row("good again", "app: created".to_owned(), 410, "created"),
    ];
    assert_eq!(*told.lock(), expected);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_picture_of_a_workflow_shows_its_conditions_or_what_became_of_it() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, integration_tests::looking_on::<TestResource>());
    let app = Child("app").node().ready(|_: &TestResource| false);
    let behind = Child("behind").node().after(&app);
    let gated = Child("gated").only_if(|primary| primary.spec.value != "none").needs(Switch::on());
    let workflow = Workflow::builder().nodes((app, behind, gated)).build()?;
    let picture = workflow.to_mermaid();
    let lines: Vec<&str> = picture.lines().map(str::trim).collect();
    assert_eq!((lines[0], lines.last()), ("flowchart TD", Some(&"n0 --> n1")), "{picture}");
    for (line, words) in [(1, ["app", "ready when"]), (2, ["behind", ""]), (3, ["gated", "needs"])] {
        assert!(words.iter().all(|word| lines[line].contains(word)), "{words:?} in {picture}");
    }

    let operator = TestOperator::start(scene.operator().register(scene.managed(&script, &workflow))).await?;
    scene.create("one", "none").await?;
    pass(10).await;
    let result = outcomes.last("one").expect("a run");
    let picture = workflow.to_mermaid_with(&result);
    let expected = [
        "flowchart TD",
        "n0[\"app<br/>created, not ready: its condition is not met\"]:::waiting",
        "n1[\"behind<br/>waiting for app to be ready: its condition is not met\"]:::waiting",
        "n2[\"gated<br/>deleted\"]:::absent",
        "n0 --> n1",
    ];
    let lines: Vec<&str> = picture.lines().map(str::trim).collect();
    assert_eq!(lines[..5], expected, "{picture}");
    assert!(lines[5..].iter().all(|line| line.starts_with("classDef ")), "{picture}");
    operator.stop().await;
    Ok(())
}
