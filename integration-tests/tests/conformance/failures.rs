//! The fixture itself: a run that fails or panics without having been announced fails its test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use integration_tests::prelude::*;

/// The report to the test that made the scene when it ends with `end`: the message of its panic, if it panics.
fn told(end: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(end)).err()?;
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    words.or_else(|| panic.downcast_ref::<String>().cloned())
}

/// Fails in each first run, in the way that the object's value determines.
fn stumbling() -> Script {
    Script::new(|run, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            match (run, primary.spec.value.as_str()) {
                (1, "error") => bail!("an error at first"),
                (1, "panic") => panic!("a panic at first"),
                _ => Ok(UpdateControl::no_update()),
            }
        })
    })
    .cleanup(|call, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            if call == 1 && primary.spec.value == "clean-up" {
                bail!("a bad end at first");
            }
            Ok(Removal::Done)
        })
    })
}

/// A scene on which the first run of a primary with this value has failed, and the retry has succeeded.
async fn healed(value: &str) -> Result<Scene> {
    let scene = Scene::new("unannounced").await?;
    let script = stumbling();
    let controller = scene.controller(&script).name("stumbling").cleaner(true);
    let operator = scene.start(controller).await?;
    scene.create("one", value).await?;
    if value == "clean-up" {
        operator.settled().await?;
        scene.delete("one").await?;
        scene.until_gone("one").await?;
    } else {
        eventually("the retry", async || Ok((script.runs.count() == 2).then_some(()))).await?;
    }
    operator.stop().await;
    Ok(scene)
}

#[operator_test]
async fn an_error_a_panic_and_a_failed_clean_up_are_told_with_their_words() -> Result<()> {
    for (value, run) in [
        ("error", "1 × reconcile of ? by stumbling: an error at first"),
        ("panic", "1 × reconcile of ? by stumbling: the reconciler panicked: a panic at first"),
        ("clean-up", "1 × cleanup of ? by stumbling: a bad end at first"),
    ] {
        let scene = healed(value).await?;
        let run = run.replace('?', &scene.key("one").to_string());
        let told = told(|| drop(scene)).expect("the test fails");
        assert_eq!(told, format!("failures of runs are not as announced:\n  {run}"));
    }
    Ok(())
}

#[operator_test]
async fn so_is_an_assertion_in_what_a_test_desires() -> Result<()> {
    let scene = Scene::new("unannounced").await?;
    let asked = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let desired = wanted("map", move |primary: &TestResource| {
        let before = asked.swap(true, std::sync::atomic::Ordering::SeqCst);
        assert!(before, "nobody has asked before");
        map_of(primary, "map", "value")
    });
    let _operator = scene.start_managed(&Script::idle(), &workflow_of_one(desired)?).await?;
    scene.create("one", "value").await?;
    scene.until_other::<ConfigMap>("the map", "one-map", |_| true).await?;
    let told = told(|| drop(scene)).expect("the test fails");
    assert!(told.contains("nobody has asked before"), "{told}");
    Ok(())
}

#[operator_test]
async fn what_is_announced_is_no_failure_of_the_test_unless_it_does_not_come() -> Result<()> {
    let scene = healed("error").await?;
    assert_eq!(told(|| drop(scene.clone())), None, "a clone judges nothing");
    let later = Scene::new("announced").await?;
    later.failures.allow("by chance");
    later.failures.expect("at first");
    let script = stumbling();
    let operator = later.start_script(&script).await?;
    later.create("one", "error").await?;
    eventually("the retry", async || Ok((script.runs.count() == 2).then_some(()))).await?;
    operator.stop().await;
    assert_eq!(told(|| drop(later)), None, "announced, and come");

    let never = Scene::new("announced").await?;
    never.failures.expect("at last");
    let missing = told(|| drop(never)).expect("what was announced has not come");
    assert!(missing.ends_with("no run failed with \"at last\""), "{missing}");
    let told = told(move || {
        let _ends_with_the_test = scene;
        panic!("the test's own words");
    });
    assert_eq!(told.as_deref(), Some("the test's own words"));
    Ok(())
}
