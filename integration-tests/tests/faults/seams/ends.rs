//! Work that isn't done yet although someone says so: a deletion that takes its time, a clean-up whose result was ignored.

use integration_tests::prelude::*;
use operator_core::{
    controller::IntoController,
    dependent::{Deletion, External, Found, Records, Token},
    workflow::conditions::ResourceDeleted,
};

use super::{Scene, TestResource, gone_after, pass, scene, under};

/// A record whose deletion is requested, and done by someone else.
#[derive(Clone, Default)]
struct Slow {
    system: ExternalSystem,
    asked: Arc<AtomicUsize>,
    /// This number of deletions fail; the next one is done at once.
    fails: usize,
}

impl Slow {
    fn records(&self) -> Records<Self, TestResource> {
        Records::new(self.clone())
    }
}

impl External<TestResource> for Slow {
    type Resource = Record;
    type Want = Option<Record>;

    fn want(&self, primary: &TestResource) -> Option<Record> {
        Some(Record::wanted(primary.name_any(), primary.value().to_owned()))
    }

    async fn observe(&self, id: &str) -> Result<Option<Record>, BoxError> {
        Ok(self.system.get(id))
    }

    async fn create(&self, want: &Record, token: &Token) -> Result<(String, Record), BoxError> {
        let made = self.system.create_for(token.as_str(), &want.name, &want.data)?;
        Ok((made.id.clone(), made))
    }

    fn matches(&self, _: &Record, _: &Record) -> bool {
        true
    }

    async fn update(&self, _: &str, actual: &Record, _: &Record) -> Result<Record, BoxError> {
        Ok(actual.clone())
    }

    async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        if self.fails == 0 {
            return Ok(Deletion::Asked);
        }
        if before < self.fails {
            return Err("not now".into());
        }
        self.system.delete(id);
        Ok(Deletion::Gone)
    }

    async fn find(&self, token: &Token) -> Result<Found<Record>, BoxError> {
        let found = self.system.made_for(token.as_str());
        Ok(Found::Records(found.into_iter().map(|found| (found.id.clone(), found)).collect()))
    }
}

/// The finalizer stays until the other system is done.
async fn a_slow_deletion(polled: bool) -> Result<()> {
    let (scene, system) = (scene().await?, ExternalSystem::default());
    let slow = Slow { system: system.clone(), ..Slow::default() };
    let records = slow.records().id_in_status("recordId");
    let records = if polled { records.polled(Duration::from_millis(100)) } else { records };
    let workflow = Workflow::builder().nodes((records,)).build()?;
    let controller = scene.managed(&Script::idle(), &workflow);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    let [record] = &system.all()[..] else { panic!("{:?}", system.all()) };
    scene.delete("one").await?;
    pass(3600).await;
    let left = scene.resources.get_opt("one").await?.map(|one| one.finalizers().len());
    assert_eq!(left, Some(1), "the record is still there");
    assert!(slow.asked.load(Ordering::SeqCst) > 0);
    system.delete(&record.id);
    pass(60).await;
    assert!(scene.resources.get_opt("one").await?.is_none(), "it is gone, and the primary isn't");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_external_deletion_that_takes_time_is_waited_for() -> Result<()> {
    a_slow_deletion(true).await
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_no_source_tells_the_end_of_is_looked_at_again() -> Result<()> {
    a_slow_deletion(false).await
}

/// The object that keeps an id is deleted after the record.
#[tokio::test(start_paused = true)]
async fn an_id_is_kept_until_a_deletion_that_takes_time_is_done() -> Result<()> {
    let (scene, system) = (scene().await?, ExternalSystem::default());
    let slow = Slow { system: system.clone(), ..Slow::default() };
    let records = slow.records().polled(Duration::from_millis(100)).id_in_config_map().named("ids");
    let wanted = |primary: &TestResource| primary.value() != "none";
    let workflow = Workflow::builder().nodes((records.only_if(wanted),)).build()?;
    let controller = scene.managed(&Script::idle(), &workflow);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    let [record] = &system.all()[..] else { panic!("{:?}", system.all()) };
    let maps = scene.api::<ConfigMap>();
    let ids = || async {
        let map = maps.get_opt("one-ids").await?;
        anyhow::Ok(map.and_then(|map| map.data).unwrap_or_default().into_values().collect::<Vec<_>>())
    };
    assert_eq!(ids().await?, [&*record.id]);

    scene.set("one", "none").await?;
    pass(60).await;
    assert_eq!(ids().await?, [&*record.id], "the record is still there");
    system.delete(&record.id);
    pass(60).await;
    assert_eq!(ids().await?, [""; 0], "nothing is left that it would be the id of");

    scene.set("one", "again").await?;
    pass(60).await;
    let [record] = &system.all()[..] else { panic!("{:?}", system.all()) };
    assert_eq!(ids().await?, [&*record.id]);
    Ok(())
}

/// Others still hold the child when the cleaner agrees.
async fn is_kept(scene: &Scene, controller: impl IntoController) -> Result<()> {
    let _operator = under(&Faults::none(), scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    let maps = scene.api::<ConfigMap>();
    let hold = |by: &[&str]| Patch::Merge(json!({ "metadata": { "finalizers": by } }));
    maps.patch("one-a", &PatchParams::default(), &hold(&["example.com/foreign"])).await?;
    scene.delete("one").await?;
    pass(60).await;
    let left = scene.resources.get_opt("one").await?.map(|one| one.finalizers().len());
    assert_eq!(left, Some(1), "the clean-up said that it isn't done");
    maps.patch("one-a", &PatchParams::default(), &hold(&[])).await?;
    assert_eq!(gone_after(scene, "one").await?, Some(0));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_cleaner_can_not_let_go_what_its_workflow_still_holds() -> Result<()> {
    let scene = scene().await?;
    let node = Child("a").deleted_node().gone(ResourceDeleted);
    let workflow = Workflow::builder().nodes((node,)).explicit_invocation().build()?;
    let script = Script::new(|_, _, context| {
        Box::pin(async {
            context.run().await?;
            Ok(UpdateControl::no_update())
        })
    })
    .cleanup(|_, _, context| {
        Box::pin(async {
            context.clean_up().await?;
            Ok(Removal::Done)
        })
    });
    is_kept(&scene, scene.managed(&script, &workflow).cleaner(true)).await
}

#[tokio::test(start_paused = true)]
async fn a_cleaner_can_not_let_go_what_a_standalone_workflow_still_holds() -> Result<()> {
    let scene = scene().await?;
    let node = Child("a").deleted_node().gone(ResourceDeleted);
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let controller = scene.controller(&standalone(&workflow)).cleaner(true).event_sources_of(&workflow);
    is_kept(&scene, controller).await
}

/// A deletion that fails, and a cleaner that doesn't look.
#[tokio::test(start_paused = true)]
async fn a_clean_up_that_failed_is_tried_again_whatever_the_cleaner_says() -> Result<()> {
    let (scene, system) = (scene().await?, ExternalSystem::default());
    let slow = Slow { system: system.clone(), fails: 2, ..Slow::default() };
    let asked = Arc::clone(&slow.asked);
    let workflow = Workflow::builder().nodes((slow.records().id_in_status("recordId"),)).build()?;
    let cleans_up = workflow.clone();
    let script = standalone(&workflow).cleanup(move |_, primary, context| {
        let workflow = cleans_up.clone();
        Box::pin(async move {
            let _ = workflow.cleanup(&primary, context).await;
            Ok(Removal::Done)
        })
    });
    let controller = scene.controller(&script).cleaner(true).event_sources_of(&workflow);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!((asked.load(Ordering::SeqCst), system.all().len()), (3, 0), "two have failed");
    Ok(())
}

/// Without a cleaner nothing would call it.
#[test]
fn a_standalone_workflow_with_something_to_clean_up_needs_a_cleaner() -> Result<()> {
    let workflow = Workflow::builder().nodes((Child("kept").node(), Child("a").deleted_node())).build()?;
    let declared = || Script::<TestResource>::idle().controller().name("seams").event_sources_of(&workflow);
    let error = declared().build().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("`a`") && error.contains("`Cleaner`"), "{error:?}");
    assert!(!error.contains("kept"), "{error}");
    assert!(declared().cleaner(true).build().is_ok());
    let collected = Workflow::builder().nodes((Child("kept").node(),)).build()?;
    assert!(Script::<TestResource>::idle().controller().event_sources_of(&collected).build().is_ok());
    Ok(())
}
