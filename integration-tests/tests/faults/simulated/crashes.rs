//! An operator that ends in the middle of its work.

use integration_tests::prelude::*;
use operator_core::{
    operator::Stopped,
    testing::simulation::{FaultPlan, Report, Settings, Sim, explore},
};

use super::{
    Script, TestResource, keeper, life::writes, live_until, maps, over_with_its_maps, rest, said, saying,
    scene,
};

/// How often an effect outside the cluster was about to happen before its primary had its finalizer. Not an error of
/// that run, because a further run would hide it.
type Early = Arc<AtomicUsize>;

/// Also keeps a record in another system, under the primary's uid, which is searched for before it is created.
fn recorder(system: &ExternalSystem, early: &Early) -> Script {
    let (records, removed, early) = (system.clone(), system.clone(), Arc::clone(early));
    Script::new(move |_, primary: Arc<TestResource>, _| {
        early.fetch_add(usize::from(primary.finalizers().is_empty()), Ordering::Relaxed);
        let records = records.clone();
        Box::pin(async move {
            let uid = primary.uid().unwrap_or_default();
            if records.named(&uid).is_empty() {
                records.create(&uid, primary.value())?;
            }
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
    .cleanup(move |_, primary, _| {
        let records = removed.clone();
        Box::pin(async move {
            for record in records.named(&primary.uid().unwrap_or_default()) {
                records.delete(&record.id);
            }
            Ok(Removal::Done)
        })
    })
}

fn declare(script: &Script) -> OperatorBuilder {
    let workflow = maps().expect("the workflow is right");
    let controller = script.defined().name("recorder").cleaner(true).workflow(&workflow);
    Operator::builder().register(controller)
}

/// Runs a simulation of the recorder with a crash before and after each write of the calm run.
fn sweep<A>(name: &str, test: impl Fn(Sim, ExternalSystem, Script) -> A + Sync) -> Report
where
    A: Future<Output = ()>,
{
    let early = Early::default();
    let swept = explore(name, Settings { threads: 2, ..Settings::schedules(0) }, |sim| {
        let system = ExternalSystem::default();
        let script = recorder(&system, &early);
        let declared = script.clone();
        sim.operator(move || declare(&declared));
        sim.faults(FaultPlan::none().crash_at_every_write());
        test(sim, system, script)
    });
    let report = swept.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(early.load(Ordering::Relaxed), 0, "runs had effects before the finalizer was on");
    report
}

#[test]
fn f16_a_crash_before_or_after_any_write_leads_to_the_same_state() {
    let report = sweep("f16", |sim, system, script| async move {
        sim.user(async |user| {
            user.create(TestResource::named("one", "first")).await;
            user.patch::<TestResource>("one", json!({ "spec": { "value": "second" } })).await;
        });
        sim.settle().await;
        sim.assert_same_as_calm_run();
        assert_eq!((system.all().len(), system.created()), (1, 1), "one record, made once");
        assert!(script.runs.of("one").len() <= 20, "some runs fail again and again");
    });
    // The finalizer, two maps and a status; two maps and a status: each before and after. Clean-ups are the next row.
    assert!(report.schedules >= 14, "{report}");
}

#[test]
fn f17_a_crash_in_any_step_of_a_clean_up_leaves_nothing_behind() {
    let report = sweep("f17", |sim, system, _| async move {
        let (seen, client) = (system.clone(), sim.client());
        sim.user(async move |user| {
            user.create(TestResource::named("one", "first")).await;
            user.delete::<TestResource>("one").await;
            user.until_gone::<TestResource>("one").await;
            // The finalizer goes last: at this moment all that a clean-up is for has been done.
            assert!(seen.all().is_empty(), "the primary went before its record");
            let maps = kube::Api::<ConfigMap>::default_namespaced(client);
            let left = maps.get_opt("one-b").await.expect("maps can be read");
            assert!(left.is_none(), "the primary went before its map");
        });
        sim.settle().await;
        sim.assert_same_as_calm_run();
        assert_eq!((system.all().len(), system.created()), (0, 1));
    });
    assert!(report.schedules >= 12, "{report}");
}

#[tokio::test(start_paused = true)]
async fn f21_a_stop_in_the_middle_of_any_write_loses_nothing_and_keeps_nothing() -> Result<()> {
    for write in 1..=writes().await? {
        let scene = scene().await?;
        let script = saying();
        let hangs = Rule::writes().nth(write).fault(Fault::Hang);
        let faults = Faults::new([hangs.clone()]);
        let builder = scene.operator().transport(faults.hook());
        let builder = builder.termination_timeout(Duration::from_millis(100));
        let builder = builder.register(keeper(&scene, &script)?);
        let operator = operator_core::testing::TestOperator::start(builder).await?;
        live_until(&hangs, &scene).await.with_context(|| format!("write {write}"))?;
        assert_eq!(operator.stop().await, Stopped::TimedOut);
        assert_eq!(script.runs.under_way() + script.cleanups.under_way(), 0, "its run is dropped");
        operator.operator().start().await?;
        rest(&operator).await?;
        over_with_its_maps(&operator, &scene).await.with_context(|| format!("write {write}"))?;
    }
    Ok(())
}
