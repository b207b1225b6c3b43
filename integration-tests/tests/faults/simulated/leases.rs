//! Leases that can't be renewed, that are taken or deleted, and outages while nobody leads.

use integration_tests::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;
use operator_core::{
    client::RequestBudget,
    environment::WallClock,
    operator::{Leadership, LostLeadership},
    testing::faults::Fault,
};

use super::{Scene, Script, TestResource, keeper, over, owner, rest, saying, scene};
use crate::replica::{LEASE, declared, election, lease, stands_by, until_leading, writers};

/// A replica that meets these faults.
async fn replica(scene: &Scene, name: &str, script: &Script, faults: &Faults) -> Result<TestOperator> {
    let builder = declared(scene, name, election(scene, name))?;
    Ok(TestOperator::start(builder.transport(faults.hook()).register(keeper(scene, script)?)).await?)
}

/// Seconds until it no longer leads.
pub(super) async fn until_lost(operator: &TestOperator) -> Result<(LostLeadership, u64)> {
    let begin = Instant::now();
    let lost = tokio::time::timeout(Duration::from_secs(60), operator.operator().leadership_lost()).await?;
    Ok((lost, begin.elapsed().as_secs()))
}

/// Seconds until it leads.
async fn until_new_leader(operator: &TestOperator) -> Result<u64> {
    let begin = Instant::now();
    until_leading(operator.operator()).await?;
    Ok(begin.elapsed().as_secs())
}

/// Writes a map all the time, in a task that nothing drops, without the library's own operations; and when each write
/// succeeded.
pub(super) fn restless(written: &Arc<Mutex<Vec<Instant>>>) -> Script {
    let written = Arc::clone(written);
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let mut map = config_map(&*primary, context, primary.value());
        map.metadata.name = Some("restless".to_owned());
        let namespace = primary.metadata.namespace.clone().unwrap_or_default();
        let maps = Api::<ConfigMap>::namespaced(context.client().clone(), &namespace);
        let written = Arc::clone(&written);
        Box::pin(async move {
            tokio::spawn(async move {
                for number in 0..2_000 {
                    let mut map = map.clone();
                    map.data = Some([("number".to_owned(), number.to_string())].into());
                    let params = PatchParams::apply("restless").force();
                    if maps.patch("restless", &params, &Patch::Apply(&map)).await.is_ok() {
                        written.lock().push(Instant::now());
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            });
            std::future::pending::<Result<UpdateControl<_>>>().await
        })
    })
}

#[tokio::test(start_paused = true)]
async fn f34_a_leader_that_cannot_renew_its_lease_writes_nothing_after_the_deadline() -> Result<()> {
    for trouble in [
        Fault::Status(StatusAnswer::too_many_requests(60)),
        Fault::Status(StatusAnswer::conflict()),
        Fault::Status(StatusAnswer::unavailable()),
        Fault::StatusAfter(StatusAnswer::timeout()),
        Fault::AnswerLost,
        Fault::Refused,
        Fault::Hang,
    ] {
        let scene = scene().await?;
        let (written, faults) = (Arc::default(), Faults::none());
        let first = restless(&written);
        let builder = declared(&scene, "first", election(&scene, "first"))?.transport(faults.hook());
        let a = TestOperator::start(builder.register(owner(&scene, &first)?)).await?;
        until_leading(a.operator()).await?;
        let second = saying();
        let b = replica(&scene, "second", &second, &Faults::none()).await?;
        scene.create("one", "first").await?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(stands_by(&b).await && second.runs.count() == 0, "{trouble:?}");

        let begin = Instant::now();
        faults.add(&Rule::any().resource("leases").fault(trouble.clone()));
        let (lost, seconds) = until_lost(&a).await?;
        let effective = matches!(trouble, Fault::StatusAfter(_) | Fault::AnswerLost);
        assert!(
            lost == LostLeadership::NotRenewed && (7..=10).contains(&seconds),
            "{trouble:?}: {seconds} s"
        );
        assert_eq!(first.runs.under_way(), 0, "{trouble:?}: its runs are dropped");
        until_leading(b.operator()).await?;
        let took_over = begin.elapsed();
        // Renewals that took effect without an answer are signs of life for others.
        let latest = Duration::from_secs(if effective { 28 } else { 18 });
        assert!(took_over >= Duration::from_secs(12) && took_over <= latest, "{trouble:?}: {took_over:?}");
        let last = *written.lock().last().expect("it has written all the time");
        let gap = took_over - (last - begin);
        assert!(
            gap >= Duration::from_secs(4),
            "{trouble:?}: {gap:?} between the last write and the next leader"
        );
        rest(&b).await?;
        assert_eq!(writers(&scene, &["first", "second"])?, ["first", "second"], "{trouble:?}");
        assert_eq!(a.stop().await, operator_core::operator::Stopped::TimedOut);
        over(&b, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f34_whoever_has_lost_can_be_started_anew() -> Result<()> {
    let scene = scene().await?;
    let (script, faults) = (saying(), Faults::none());
    let operator = replica(&scene, "only", &script, &faults).await?;
    until_leading(operator.operator()).await?;
    faults.add(&Rule::any().resource("leases").fault(Fault::Refused));
    until_lost(&operator).await?;
    scene.create("one", "first").await?;
    let busy = rest_for_a_minute(&operator).await;
    assert!(busy.contains("leadership is lost: the lease was not renewed in time"), "{busy}");
    assert_eq!(script.runs.count(), 0);
    operator.stop().await;
    faults.off();
    operator.operator().start().await?;
    until_leading(operator.operator()).await?;
    over(&operator, &scene, &["one"]).await
}

async fn rest_for_a_minute(operator: &TestOperator) -> String {
    let settling =
        operator_core::operator::Settling { timeout: Duration::from_secs(60), ..Default::default() };
    operator.settled_as(settling).await.map_or_else(|error| error.to_string(), |_| "settled".to_owned())
}

/// The subject of the Java Operator SDK's issue 3147.
#[tokio::test(start_paused = true)]
async fn f34_an_outage_of_minutes_while_nobody_leads_ends_with_a_leader() -> Result<()> {
    for trouble in [Fault::Status(StatusAnswer::internal()), Fault::HangAfter, Fault::Hang, Fault::Refused] {
        let scene = scene().await?;
        let (script, faults) =
            (saying(), Faults::new([Rule::any().resource("leases").fault(trouble.clone())]));
        let a = replica(&scene, "first", &script, &faults).await?;
        let b = replica(&scene, "second", &script, &faults).await?;
        scene.create("one", "first").await?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(stands_by(&a).await && stands_by(&b).await, "{trouble:?}");
        assert_eq!(script.runs.count(), 0);
        assert!(a.unhealthy_sources().await.is_empty(), "a standby is ready, its caches are warm");
        faults.off();
        tokio::time::sleep(Duration::from_secs(20)).await;
        let leads = async |operator: &TestOperator| {
            operator.operator().leadership().await == Some(Leadership::Leading)
        };
        let (leader, other) = if leads(&a).await { (&a, &b) } else { (&b, &a) };
        assert!(leads(leader).await && stands_by(other).await, "{trouble:?}");
        other.stop().await;
        over(leader, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f35_the_holder_of_a_lease_that_is_deleted_or_taken_stops_within_the_retry_period() -> Result<()> {
    for is_deleted in [true, false] {
        let scene = scene().await?;
        let (first, second) = (saying(), saying());
        let a = replica(&scene, "first", &first, &Faults::none()).await?;
        until_leading(a.operator()).await?;
        let b = replica(&scene, "second", &second, &Faults::none()).await?;
        scene.create("one", "first").await?;
        rest(&a).await?;
        let leases = scene.api::<Lease>();
        let expected = if is_deleted {
            leases.delete(LEASE, &DeleteParams::default()).await?;
            LostLeadership::Deleted
        } else {
            let taken = json!({ "spec": { "holderIdentity": "a person" } });
            leases.patch(LEASE, &PatchParams::default(), &Patch::Merge(taken)).await?;
            LostLeadership::Taken { by: Some("a person".to_owned()) }
        };
        let (lost, seconds) = until_lost(&a).await?;
        assert!(lost == expected && seconds <= 2, "{lost} after {seconds} s");
        scene.set("one", "second").await?;
        let seconds = until_new_leader(&b).await?;
        assert!((12..=18).contains(&seconds), "after {seconds} s");
        rest(&b).await?;
        assert_eq!(writers(&scene, &["first", "second"])?, ["first", "second"]);
        assert_eq!(lease(&scene).await?.0, "second");
        a.stop().await;
        over(&b, &scene, &["one"]).await?;
    }
    Ok(())
}

/// A wall clock that is so many seconds off, or stands still.
#[derive(Debug)]
struct Wrong(Option<i64>, Instant);

impl WallClock for Wrong {
    fn now(&self) -> jiff::Timestamp {
        let passed = i64::try_from(self.1.elapsed().as_secs()).unwrap_or_default();
        let seconds = 1_767_225_600 + self.0.map_or(0, |off| off + passed);
        jiff::Timestamp::from_second(seconds).expect("a time of this century")
    }
}

#[tokio::test(start_paused = true)]
async fn f35_wall_clocks_may_differ_as_they_like() -> Result<()> {
    for clocks in
        [[Some(3600), Some(-3600)], [Some(-3600), Some(3600)], [None, Some(86_400)], [Some(0), None]]
    {
        let scene = scene().await?;
        let script = saying();
        let start = async |name: &str, clock| {
            let builder = declared(&scene, name, election(&scene, name))?;
            let builder = builder.wall_clock(Arc::new(Wrong(clock, Instant::now())));
            anyhow::Ok(TestOperator::start(builder.register(keeper(&scene, &script)?)).await?)
        };
        let a = start("first", clocks[0]).await?;
        until_leading(a.operator()).await?;
        let b = start("second", clocks[1]).await?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(stands_by(&b).await, "{clocks:?}: the leader is alive");
        assert_eq!(lease(&scene).await?, ("first".to_owned(), 0));
        // As by a crash: nothing is given back.
        drop(a);
        let seconds = until_new_leader(&b).await?;
        assert!((12..=18).contains(&seconds), "{clocks:?}: after {seconds} s");
        scene.create("one", "first").await?;
        over(&b, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f13_a_lease_is_renewed_while_all_else_is_asked_for_patience_and_writes_starve() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let patience = Rule::when("all but leases", |request| !request.uri.path().contains("/leases"));
    let faults = Faults::none();
    let builder = declared(&scene, "only", election(&scene, "only"))?.transport(faults.hook());
    let builder = builder.request_budget(RequestBudget::new(1, 1)?).register(keeper(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    until_leading(operator.operator()).await?;
    let rule = patience.status(StatusAnswer::too_many_requests(30));
    faults.add(&rule);
    // Far more than the budget lets through.
    for number in 0..100 {
        scene.create(&format!("p-{number}"), "first").await?;
    }
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(operator.operator().leadership().await, Some(Leadership::Leading));
    }
    assert!(rule.fired() > 10, "{} requests met the fault", rule.fired());
    assert_eq!(lease(&scene).await?, ("only".to_owned(), 0));
    operator.stop().await;
    Ok(())
}
