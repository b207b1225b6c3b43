//! A wall clock that others set, while everything related to time is in progress.

use std::sync::atomic::AtomicI64;

use integration_tests::prelude::*;
use operator_core::{PollingEventSource, environment::WallClock, processor::GovernorRateLimiter};

use super::{Script, TestResource, owner, said, scene};
use crate::replica::{declared, election, lease, until_leading};

/// A wall clock that others set.
#[derive(Debug, Default)]
struct Jumping(AtomicI64);

impl Jumping {
    /// Some hours on, then as many back, by the number of the jump.
    fn jump(&self) {
        let now = self.0.load(Ordering::Relaxed);
        self.0.store(if now > 0 { -86_400 } else { 7_200 }, Ordering::Relaxed);
    }
}

impl WallClock for Jumping {
    fn now(&self) -> jiff::Timestamp {
        let seconds = 1_767_225_600 + self.0.load(Ordering::Relaxed);
        jiff::Timestamp::from_second(seconds).expect("a time of this century")
    }
}

fn seconds_between(moments: &[Instant]) -> Vec<u64> {
    moments.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect()
}

/// Retries, reschedules, a rate limit, the maximum interval, polls, the pause that the server requested, and a lease:
/// each follows its own time, though the wall clock jumps each second.
#[tokio::test(start_paused = true)]
async fn f33_timers_do_not_follow_a_wall_clock_that_jumps() -> Result<()> {
    let scene = scene().await?;
    let clock = Arc::new(Jumping::default());
    let script = Script::new(|run, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            let done = Said::status(said(format!("{} {run}", primary.spec.value)));
            match &*primary.spec.value {
                "retries" => ensure!(run > 3, "not yet"),
                "reschedules" if run <= 3 => return Ok(done.reschedule_after(Duration::from_secs(20))),
                _ => {}
            }
            Ok(done)
        })
    });
    let polls = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&polls);
    let source = PollingEventSource::new("numbers", Duration::from_secs(30), move || {
        noted.lock().push(Instant::now());
        async { anyhow::Ok(std::collections::BTreeMap::<operator_core::ObjectKey, Vec<Number>>::new()) }
    });
    let controller = owner(&scene, &script)?
        .retry(GenericRetry::linear(Duration::from_secs(10), 5)?)
        .rate_limiter(GovernorRateLimiter::new(4, Duration::from_secs(240))?)
        .max_reconciliation_interval(Duration::from_secs(900))
        .watches(source);
    let busy = Rule::on(Verb::Apply).name("patient").first(1).status(StatusAnswer::too_many_requests(40));
    let faults = Faults::new([busy.clone()]);
    let builder = declared(&scene, "only", election(&scene, "only"))?.wall_clock(Arc::clone(&clock) as _);
    let operator = TestOperator::start(builder.transport(faults.hook()).register(controller)).await?;
    until_leading(operator.operator()).await?;
    for name in ["retries", "reschedules", "patient", "limited"] {
        scene.create(name, name).await?;
    }
    for second in 0..1_000 {
        clock.jump();
        if second < 12 {
            scene.patch("limited", json!({ "spec": { "value": format!("limited {second}") } })).await?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let gaps = |name: &str| seconds_between(&script.runs.instants(name));
    assert_eq!(gaps("retries"), [10, 10, 10, 900], "retries, then the maximum interval");
    assert_eq!(gaps("reschedules"), [20, 20, 20, 900], "reschedules, then the maximum interval");
    assert_eq!((busy.fired(), &gaps("patient")[..]), (1, &[40, 900][..]), "the server's patience");
    let limited = gaps("limited");
    assert_eq!(limited.iter().filter(|gap| **gap <= 1).count(), 3, "four at once: {limited:?}");
    assert!(limited.iter().any(|gap| (50..=60).contains(gap)), "then one each minute: {limited:?}");
    let polls = seconds_between(&polls.lock());
    assert!(polls.len() >= 33 && polls.iter().all(|gap| *gap == 30), "polls: {polls:?}");
    assert_eq!(lease(&scene).await?, ("only".to_owned(), 0), "it has led all the time");
    operator.stop().await;
    Ok(())
}

/// What a poll might show.
#[derive(Debug, PartialEq)]
struct Number(u32);

impl operator_core::event_source::ExternalResource for Number {
    type Id = u32;

    fn id(&self) -> u32 {
        self.0
    }
}
