//! Leases that are renewed late: on a real kube-apiserver, in real time.

use integration_tests::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;
use operator_core::{
    LeaderElection,
    operator::{LostLeadership, Stopped},
    testing::faults::Fault,
};

use super::{keeper, keeping, kept};
use crate::replica::{LEASE, declared, election, lease, until_leading, writers};

/// Shorter than by default, which shortens the tests, and longer than a busy machine may halt a replica that should lead.
const LEASE_DURATION: Duration = Duration::from_secs(6);
/// Also the longest time for a holder to notice that it has lost its lease: it would end its term then anyway.
const RENEW_DEADLINE: Duration = Duration::from_secs(4);

fn quick(scene: &Scene, name: &str) -> LeaderElection {
    let election = election(scene, name).lease_duration(LEASE_DURATION);
    election.renew_deadline(RENEW_DEADLINE).retry_period(Duration::from_millis(300))
}

async fn replica(scene: &Scene, name: &str, faults: &Faults) -> Result<TestOperator> {
    let builder = declared(scene, name, quick(scene, name))?.transport(faults.hook());
    Ok(TestOperator::start(builder.register(keeper(scene, &keeping())?)).await?)
}

#[operator_test]
async fn f34_of_replicas_that_cannot_renew_one_after_the_other_never_two_write() -> Result<()> {
    let scene = Scene::new("f34").await?;
    // Whether a run is about to write in the moment in which the fence closes is chance. Who has written is judged below.
    scene.failures.allow("not sent, because the operator has stopped or is not the leader");
    scene.failures.allow("this replica lost the leadership before the write was answered");
    let faults = [(); 3].map(|()| Faults::none());
    let mut replicas = Vec::new();
    for (name, faults) in ["first", "second", "third"].into_iter().zip(&faults) {
        replicas.push(replica(&scene, name, faults).await?);
        // In this order, so that the first leads first.
        until_leading(replicas[0].operator()).await?;
    }
    scene.create("one", "0").await?;
    kept(&scene, "one", "0").await?;
    let troubles = [Fault::Hang, Fault::Status(StatusAnswer::too_many_requests(1))];
    for (round, trouble) in troubles.into_iter().enumerate() {
        let mut leader = None;
        let holder = lease(&scene).await?.0;
        for (number, name) in ["first", "second", "third"].into_iter().enumerate() {
            leader = if holder == name { Some(number) } else { leader };
        }
        let leader = leader.expect("one of them leads");
        faults[leader].add(&Rule::any().resource("leases").fault(trouble));
        // There is always something to write.
        let lost = replicas[leader].operator().leadership_lost();
        tokio::pin!(lost);
        let mut number = 0;
        let lost = loop {
            number += 1;
            scene.set("one", &format!("{round} {number}")).await?;
            if let Ok(lost) = tokio::time::timeout(Duration::from_millis(50), &mut lost).await {
                break lost;
            }
        };
        assert_eq!(lost, LostLeadership::NotRenewed);
        let last = format!("{round} last");
        scene.set("one", &last).await?;
        kept(&scene, "one", &last).await?;
    }
    let writers = writers(&scene, &["first", "second", "third"])?;
    assert_eq!(writers.len(), 3, "each of them in its own time: {writers:?}");
    Ok(())
}

#[operator_test]
async fn f35_a_lease_that_is_taken_or_deleted_by_hand_stops_its_holder() -> Result<()> {
    let scene = Scene::new("f35").await?;
    let a = replica(&scene, "first", &Faults::none()).await?;
    until_leading(a.operator()).await?;
    let b = replica(&scene, "second", &Faults::none()).await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;
    let leases = scene.api::<Lease>();
    let begin = Instant::now();
    leases.delete(LEASE, &DeleteParams::default()).await?;
    assert_eq!(a.operator().leadership_lost().await, LostLeadership::Deleted);
    assert!(begin.elapsed() < RENEW_DEADLINE, "{:?}", begin.elapsed());
    scene.set("one", "second").await?;
    kept(&scene, "one", "second").await?;
    assert!(begin.elapsed() > RENEW_DEADLINE, "others wait: {:?}", begin.elapsed());

    let begin = Instant::now();
    let taken = json!({ "spec": { "holderIdentity": "a person" } });
    leases.patch(LEASE, &PatchParams::default(), &Patch::Merge(taken)).await?;
    let by = Some("a person".to_owned());
    assert_eq!(b.operator().leadership_lost().await, LostLeadership::Taken { by });
    assert!(begin.elapsed() < RENEW_DEADLINE, "{:?}", begin.elapsed());
    assert_eq!(writers(&scene, &["first", "second"])?, ["first", "second"]);
    Ok(())
}

#[operator_test]
async fn f36_a_lease_that_is_given_back_is_taken_at_once() -> Result<()> {
    let scene = Scene::new("f36").await?;
    let slow = |name: &str| election(&scene, name).retry_period(Duration::from_millis(300));
    let start = async |name: &str| {
        let builder = declared(&scene, name, slow(name))?;
        anyhow::Ok(TestOperator::start(builder.register(keeper(&scene, &keeping())?)).await?)
    };
    let a = start("first").await?;
    until_leading(a.operator()).await?;
    let b = start("second").await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;
    assert_eq!(a.stop().await, Stopped::Drained);
    let begin = Instant::now();
    until_leading(b.operator()).await?;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(lease(&scene).await?, ("second".to_owned(), 1));
    scene.set("one", "second").await?;
    kept(&scene, "one", "second").await?;
    Ok(())
}
