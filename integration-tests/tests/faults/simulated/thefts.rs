//! Writes after a lease was stolen, and the effects of a callback that blocks.

use std::sync::{Mutex as BlockingMutex, mpsc};

use integration_tests::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;
use operator_core::operator::{LostLeadership, Stopped};

use super::{
    leases::{restless, until_lost},
    owner, saying, scene,
};
use crate::replica::{LEASE, all_writes, declared, election, lease, until_leading};

/// The old leader writes all the time, without the library's own operations, and doesn't stop when it has lost. The
/// replica that has stolen the lease writes the same object afterwards, and its write stays.
#[tokio::test(start_paused = true)]
async fn f35_what_the_old_leader_writes_after_the_theft_is_never_sent() -> Result<()> {
    for is_deleted in [false, true] {
        let scene = scene().await?;
        let written = Arc::new(Mutex::new(Vec::new()));
        let builder = declared(&scene, "first", election(&scene, "first"))?;
        let first = restless(&written);
        let a = TestOperator::start(builder.register(owner(&scene, &first)?)).await?;
        until_leading(a.operator()).await?;
        scene.create("one", "first").await?;
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(written.lock().len() > 100, "it writes ten times in each second");

        let stolen = Instant::now();
        let leases = scene.api::<Lease>();
        if is_deleted {
            leases.delete(LEASE, &DeleteParams::default()).await?;
        }
        let theirs = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": LEASE },
            "spec": { "holderIdentity": "thief", "leaseDurationSeconds": 15, "leaseTransitions": 7 },
        });
        leases.patch(LEASE, &PatchParams::apply("thief").force(), &Patch::Apply(theirs)).await?;
        let (lost, seconds) = until_lost(&a).await?;
        let by = Some("thief".to_owned());
        assert!(lost == LostLeadership::Taken { by } && seconds <= 2, "{lost} after {seconds} s");
        // Nothing that was under way may arrive behind what the new holder writes now.
        let map = json!({ "data": { "number": "the thief's" } });
        let maps = scene.api::<ConfigMap>();
        maps.patch("restless", &PatchParams::default(), &Patch::Merge(map)).await?;
        let sent = all_writes(&scene)?.len();
        tokio::time::sleep(Duration::from_secs(120)).await;
        let late: Vec<_> = all_writes(&scene)?.split_off(sent);
        let late: Vec<_> = late.iter().filter(|write| write.user_agent == "first").collect();
        assert!(late.is_empty(), "{} writes after the loss, the first of them {:?}", late.len(), late[0]);
        let last = written.lock().last().map(|last| *last - stolen).context("it has written")?;
        assert!(last <= Duration::from_secs(2), "it wrote until {last:?} after the theft");
        let held = maps.get("restless").await?.data.unwrap_or_default();
        assert_eq!(held.get("number").map(String::as_str), Some("the thief's"));
        assert_eq!(lease(&scene).await?, ("thief".to_owned(), 7), "nor is the lease touched");
        a.stop().await;
        assert_eq!(lease(&scene).await?, ("thief".to_owned(), 7), "nor given back");
    }
    Ok(())
}

/// In real time, because a callback that hangs blocks its thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f36_a_callback_that_stalls_does_not_hold_up_the_end() -> Result<()> {
    let scene =
        super::Scene::<TestResource>::on(operator_core::testing::TestCluster::in_process(), "faults").await?;
    scene.install_crd().await?;
    let (goes_on, waits) = mpsc::channel::<()>();
    let waits = BlockingMutex::new(waits);
    let stalls = move || drop(waits.lock().map(|waits| waits.recv_timeout(Duration::from_secs(60))));
    let election = election(&scene, "only").retry_period(Duration::from_millis(200)).on_stop_leading(stalls);
    let builder = declared(&scene, "only", election)?.register(owner(&scene, &saying())?);
    let operator = TestOperator::start(builder).await?;
    until_leading(operator.operator()).await?;
    scene.create("one", "first").await?;
    scene.until("its status", "one", |one| one.status.is_some()).await?;
    let begin = Instant::now();
    let stopped = operator.stop().await;
    let took = begin.elapsed();
    goes_on.send(()).context("the callback waits")?;
    assert_eq!(stopped, Stopped::Drained);
    assert!(took < Duration::from_secs(20), "it held up the end for {took:?}");
    assert_eq!(lease(&scene).await?.0, "only", "the lease runs out, as its holder isn't done");
    Ok(())
}
