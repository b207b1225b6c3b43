//! JOSDK 5.6: the id that another system gave is kept in the primary's status: by the reconciler itself, which polls its record, and
//! by a node of a workflow. Each run reads the status that the run before it has written, so only one record is ever created.

use integration_tests::prelude::*;
use operator_core::{Context, PerResourcePollingEventSource};

const PERIOD: Duration = Duration::from_millis(300);

fn id_of(primary: &TestResource) -> Option<String> {
    primary.status.as_ref()?.record_id.clone()
}

/// Creates the record, or changes it; returns its id.
fn reconcile(
    system: &ExternalSystem,
    primary: &TestResource,
    context: &Context<TestResource>,
) -> Result<Option<String>> {
    let (key, id, value) = (ObjectKey::of(primary), id_of(primary), &primary.spec.value);
    let polled = context.external_source::<Record>(None).context("it is declared")?;
    match polled.get(&key).pop() {
        Some(record) if record.data == *value => {}
        Some(record) => polled.updated(&key, &record, Arc::new(system.update(&record.id, value)?)),
        None if id.as_deref().is_some_and(|id| system.get(id).is_some()) => {}
        None => {
            let made = system.create(&primary.name_any(), value)?;
            let id = made.id.clone();
            // The next run reads it, whether a poll has shown it or not.
            polled.created(&key, Arc::new(made));
            return Ok(Some(id));
        }
    }
    Ok(id)
}

/// The reconciler does it itself. After its first run another one starts before the watch has delivered the first one's write.
fn by_hand(scene: &Scene, system: &ExternalSystem, told: &Held) -> ControllerBuilder<Script> {
    let (reconciled, cleaned, polled) = (system.clone(), system.clone(), system.clone());
    let told = told.clone();
    let script = Script::new(move |run, primary: Arc<TestResource>, context| {
        if run == 1 {
            told.hold()
        } else {
            told.release()
        }
        let record_id = reconcile(&reconciled, &primary, context);
        Box::pin(async move {
            anyhow::ensure!(run == 1 || id_of(&primary).is_some(), "what was written is not read");
            let record_id = record_id?;
            let said = Said::status(TestStatus { record_id, ..TestStatus::default() });
            Ok(if run == 1 { said.reschedule() } else { said })
        })
    })
    .cleanup(move |_, primary: Arc<TestResource>, _| {
        id_of(&primary).iter().for_each(|id| cleaned.delete(id));
        Box::pin(async { Ok(Removal::Done) })
    });
    let source = PerResourcePollingEventSource::new("records", PERIOD, move |one: Arc<TestResource>| {
        let found = id_of(&one).and_then(|id| polled.get(&id));
        async move { Ok::<_, anyhow::Error>(found.into_iter().collect()) }
    });
    scene.controller(&script).cleaner(true).watches(source)
}

/// A node of a workflow does it.
fn by_a_node(scene: &Scene, system: &ExternalSystem, _: &Held) -> Result<ControllerBuilder<Script>> {
    Ok(scene.managed(&Script::idle(), &workflow_of_one(one_record(system, ""))?))
}

async fn check(
    controller: impl Fn(&Scene, &ExternalSystem, &Held) -> Result<ControllerBuilder<Script>>,
    status_writes: usize,
) -> Result<()> {
    let scene = Scene::new("external-state-in-status").await?;
    let (system, told) = (ExternalSystem::default(), Held::watches_of("testresources"));
    told.release();
    let operator = scene.start_through(told.hook(), controller(&scene, &system, &told)?).await?;
    scene.create("one", "first").await?;
    let is_kept = async |value: &str| {
        eventually(&format!("one record of {value}, and its id"), async || {
            let [record] = &system.all()[..] else { return Ok(None) };
            let id = id_of(&scene.resources.get("one").await?);
            Ok((record.data == value && id.as_ref() == Some(&record.id)).then_some(()))
        })
        .await
    };
    is_kept("first").await?;
    let written = operator.settled().await?.written();
    // After its finalizer nothing is written but the status.
    assert_eq!(written[0], "PATCH testresources/one -> 200");
    assert_eq!(written[1..], vec!["PATCH testresources/one/status -> 200"; status_writes]);
    scene.set("one", "second").await?;
    is_kept("second").await?;
    operator.stop().await;

    let operator = scene.start_through(told.hook(), controller(&scene, &system, &told)?).await?;
    scene.set("one", "third").await?;
    is_kept("third").await?;
    // Somebody else changes it: a poll sees that, and it is put right.
    system.update("id-1", "foreign")?;
    is_kept("third").await?;
    assert_eq!(system.created(), 1, "it was found again after the restart");

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty());
    assert_eq!(system.created(), 1);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_reconciler_keeps_the_id_in_the_status() -> Result<()> {
    check(|scene, system, told| Ok(by_hand(scene, system, told)), 1).await
}

#[operator_test]
async fn a_node_keeps_the_id_in_the_status() -> Result<()> {
    // Before the first record is made it is tried out whether the status can keep an id.
    check(by_a_node, 2).await
}
