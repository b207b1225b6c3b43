//! Runs and writes when a term ends: by a loss, by a pause, by a stop.

use http::{Method, Request};
use integration_tests::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;
use kube::client::Body;
use operator_core::{
    client::TransportHook,
    controller::IntoController,
    operator::{Leadership, LostLeadership, Stopped},
    testing::faults::{Fault, Match},
};
use tokio::sync::mpsc;

use super::{
    Script, TestResource, keeper, life::writes, live_until, over, over_with_its_maps, owner, rest, saying,
    scene,
};
use crate::replica::{LEASE, all_writes, declared, election, lease, stands_by, until_leading, writers};

/// Waits at the gate before it writes a map, and notes the result.
fn held_up(gate: &Gate, results: &Arc<Mutex<Vec<String>>>) -> Script {
    let (gate, results) = (gate.clone(), Arc::clone(results));
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let (gate, results) = (gate.clone(), Arc::clone(&results));
        Box::pin(async move {
            gate.pass().await;
            let map = config_map(&*primary, context, primary.value());
            let written = context.resource_operations().server_side_apply(&map).await;
            results.lock().push(written.as_ref().map_or_else(ToString::to_string, |_| "written".to_owned()));
            written?;
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
}

/// Starts the replica of that name.
async fn replica(scene: &Scene, name: &str, controller: impl IntoController) -> Result<TestOperator> {
    let builder = declared(scene, name, election(scene, name))?.register(controller);
    Ok(TestOperator::start(builder).await?)
}

#[tokio::test(start_paused = true)]
async fn f33_a_process_that_was_paused_for_a_minute_has_lost_its_lease_before_its_first_write() -> Result<()>
{
    let scene = scene().await?;
    let (gate, results) = (Gate::new(), Arc::default());
    let script = held_up(&gate, &results);
    let a = replica(&scene, "first", owner(&scene, &script)?).await?;
    until_leading(a.operator()).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    // The run is the first that is polled when the clock has moved, before the task that renews the lease.
    gate.let_through(1);
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(a.operator().leadership().await, Some(Leadership::Leading), "nobody has noticed yet");
    assert!(results.lock()[0].contains("is not the leader"), "{results:?}");
    assert_eq!(a.operator().leadership_lost().await, LostLeadership::NotRenewed);
    let writes: Vec<String> = all_writes(&scene)?.into_iter().map(|write| write.resource).collect();
    assert!(!writes.contains(&"configmaps".to_owned()), "{writes:?}");
    assert_eq!(script.runs.under_way(), 0);
    a.stop().await;
    Ok(())
}

/// The writes for primaries.
fn but_leases() -> Match {
    Rule::when("writes, but not of leases", |request| {
        !request.method.is_safe()
            && !request.uri.path().contains("/leases")
            && !request.uri.path().contains("reviews")
    })
}

#[tokio::test(start_paused = true)]
async fn f21_a_lease_that_is_lost_in_the_middle_of_any_write_leaves_the_rest_to_the_next_leader() -> Result<()>
{
    for write in 1..=writes().await? {
        let scene = scene().await?;
        let (first, second) = (saying(), saying());
        let hangs = but_leases().nth(write).fault(Fault::Hang);
        let faults = Faults::new([hangs.clone()]);
        let builder = declared(&scene, "first", election(&scene, "first"))?.transport(faults.hook());
        let a = TestOperator::start(builder.register(keeper(&scene, &first)?)).await?;
        until_leading(a.operator()).await?;
        let b = replica(&scene, "second", keeper(&scene, &second)?).await?;
        live_until(&hangs, &scene).await.with_context(|| format!("write {write}"))?;
        faults.add(&Rule::any().resource("leases").fault(Fault::Refused));
        a.operator().leadership_lost().await;
        assert_eq!(
            first.runs.under_way() + first.cleanups.under_way(),
            0,
            "write {write}: its run is dropped"
        );
        until_leading(b.operator()).await?;
        rest(&b).await?;
        let writers = writers(&scene, &["first", "second"])?;
        assert!(writers == ["first", "second"] || writers == ["second"], "write {write}: {writers:?}");
        a.stop().await;
        over_with_its_maps(&b, &scene).await.with_context(|| format!("write {write}"))?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f36_a_leader_that_stops_leads_until_its_last_run_has_ended_and_gives_the_lease_back() -> Result<()> {
    let scene = scene().await?;
    let (gate, results) = (Gate::new(), Arc::default());
    let script = held_up(&gate, &results);
    let a = replica(&scene, "first", owner(&scene, &script)?).await?;
    until_leading(a.operator()).await?;
    let standby = saying();
    let b = replica(&scene, "second", owner(&scene, &standby)?).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    let (stopped, during) = tokio::join!(a.stop(), async {
        // Longer than a term: the lease is renewed meanwhile.
        tokio::time::sleep(Duration::from_secs(20)).await;
        let held_by = lease(&scene).await?.0;
        gate.let_through(1);
        anyhow::Ok((held_by, stands_by(&b).await))
    });
    assert_eq!((stopped, during?), (Stopped::Drained, ("first".to_owned(), true)));
    assert_eq!(*results.lock(), ["written"]);
    let begin = Instant::now();
    until_leading(b.operator()).await?;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?} after the lease was given back", begin.elapsed());
    rest(&b).await?;
    let all: Vec<(String, String)> =
        all_writes(&scene)?.into_iter().map(|write| (write.user_agent, write.resource)).collect();
    let last =
        |resource: &str| all.iter().rposition(|(agent, written)| agent == "first" && written == resource);
    assert!(last("leases") > last("testresources"), "first the run's last write, then the lease: {all:?}");
    assert_eq!(writers(&scene, &["first", "second"])?, ["first"], "nothing was left to do");
    over(&b, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f36_a_lease_runs_out_if_a_run_had_to_be_dropped() -> Result<()> {
    let scene = scene().await?;
    let (gate, script) = (Gate::new(), saying());
    let held_up = held_up(&gate, &Arc::default());
    let builder = declared(&scene, "first", election(&scene, "first"))?;
    let builder = builder.termination_timeout(Duration::from_secs(1)).register(owner(&scene, &held_up)?);
    let a = TestOperator::start(builder).await?;
    until_leading(a.operator()).await?;
    let b = replica(&scene, "second", keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    assert_eq!(a.stop().await, Stopped::TimedOut);
    assert_eq!(lease(&scene).await?.0, "first", "a write of the run may still be on its way");
    let begin = Instant::now();
    until_leading(b.operator()).await?;
    let seconds = begin.elapsed().as_secs();
    assert!((10..=18).contains(&seconds), "after {seconds} s");
    over(&b, &scene, &["one"]).await
}

/// A replica that meets this fault.
async fn troubled(scene: &Scene, name: &str, fault: &Rule) -> Result<TestOperator> {
    let faults = Faults::new([fault.clone()]);
    let builder = declared(scene, name, election(scene, name))?.transport(faults.hook());
    Ok(TestOperator::start(builder.register(owner(scene, &saying())?)).await?)
}

/// A write whose answer never came makes nobody the leader, yet all would wait until it expires.
#[tokio::test(start_paused = true)]
async fn f36_a_stop_gives_back_a_lease_that_was_taken_without_an_answer() -> Result<()> {
    let late = Fault::DelayAnswer(Duration::from_millis(500));
    let timeout = Fault::StatusAfter(StatusAnswer::timeout());
    for (taking, trouble) in [Fault::HangAfter, late, Fault::AnswerLost, timeout]
        .into_iter()
        .flat_map(|trouble| [(Verb::Create, trouble.clone()), (Verb::Update, trouble)])
    {
        let (scene, case) = (scene().await?, format!("{taking:?} {trouble:?}"));
        if taking == Verb::Update {
            let former = replica(&scene, "former", owner(&scene, &saying())?).await?;
            until_leading(former.operator()).await?;
            former.stop().await;
        }
        let unheard = Rule::on(taking).resource("leases").nth(1).fault(trouble);
        let a = troubled(&scene, "first", &unheard).await?;
        eventually("a lease that is taken", async || {
            let spec = scene.api::<Lease>().get_opt(LEASE).await?.and_then(|lease| lease.spec);
            Ok((spec.and_then(|spec| spec.holder_identity).as_deref() == Some("first")).then_some(()))
        })
        .await?;
        assert!(stands_by(&a).await, "{case}: it doesn't know");
        let begin = Instant::now();
        assert_eq!(a.stop().await, Stopped::Drained, "{case}");
        assert!(begin.elapsed() <= Duration::from_secs(3), "{case}: a stop of {:?}", begin.elapsed());
        assert_eq!(lease(&scene).await?.0, "", "{case}: who holds the lease");
        let (b, begin) = (replica(&scene, "second", owner(&scene, &saying())?).await?, Instant::now());
        until_leading(b.operator()).await?;
        assert!(begin.elapsed() <= Duration::from_secs(3), "{case}: led after {:?}", begin.elapsed());
        b.stop().await;
    }
    Ok(())
}

/// A sent request can't be called back: it takes effect half a second later, even if nobody waits for the answer.
#[tokio::test(start_paused = true)]
async fn f36_a_stop_gives_back_a_lease_that_a_write_on_its_way_is_about_to_take() -> Result<()> {
    let scene = scene().await?;
    let (sent, mut is_sent) = mpsc::unbounded_channel();
    let leases = scene.api::<Lease>();
    let slow = TransportHook::around(move |request, inner| {
        let (sent, leases) = (sent.clone(), leases.clone());
        async move {
            if request.method() != Method::POST || !request.uri().path().ends_with("/leases") {
                return inner.send(request).await;
            }
            let (head, content) = request.into_parts();
            let lease: Lease = serde_json::from_slice(&content.collect_bytes().await?)?;
            sent.send(())?;
            // Not through the operator's client, which refuses what is still in the process after a stop.
            let on_its_way = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(500)).await;
                leases.create(&PostParams::default(), &lease).await
            });
            on_its_way.await??;
            let collection = head.uri.to_string();
            let collection = collection.trim_end_matches('?');
            inner.send(Request::get(format!("{collection}/{LEASE}")).body(Body::empty())?).await
        }
    });
    let builder = declared(&scene, "first", election(&scene, "first"))?.transport(slow);
    let operator = TestOperator::start(builder.register(owner(&scene, &saying())?)).await?;
    is_sent.recv().await.context("a write")?;
    assert_eq!(operator.stop().await, Stopped::Drained);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(lease(&scene).await?.0, "", "who holds the lease");
    Ok(())
}

/// A record that this replica hasn't written is another's, whatever name is in it.
#[tokio::test(start_paused = true)]
async fn f36_a_stop_does_not_give_away_the_lease_of_another_one_of_the_same_name() -> Result<()> {
    let scene = scene().await?;
    let hangs = Rule::on(Verb::Create).resource("leases").nth(1).fault(Fault::Hang);
    let a = troubled(&scene, "first", &hangs).await?;
    eventually("a write without an answer", async || Ok((hangs.fired() == 1).then_some(()))).await?;
    let twin = replica(&scene, "first", owner(&scene, &saying())?).await?;
    until_leading(twin.operator()).await?;
    assert_eq!(a.stop().await, Stopped::Drained);
    assert_eq!(lease(&scene).await?.0, "first");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(twin.operator().leadership().await, Some(Leadership::Leading));
    twin.stop().await;
    Ok(())
}
