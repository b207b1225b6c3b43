//! Runs after an outage are spread, each time differently at random.

use integration_tests::prelude::*;
use operator_core::{
    environment::Environment,
    testing::faults::{End, LineFault},
};

use super::{over, owner, rest, saying, scene};

const CONTROLLERS: usize = 20;

/// When each watch made its second and its third attempt after all connections were reset by one event and the server was away,
/// counted from the first of them.
async fn attempts(seed: u64) -> Result<[Vec<Duration>; 2]> {
    let scene = scene().await?;
    let moments = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&moments);
    let all = CONTROLLERS as u64;
    let resets = Rule::watch("testresources").first(all).event(LineFault::Close(End::Reset));
    let watches = Rule::watch("testresources").meanwhile(move |_| {
        noted.lock().push(Instant::now());
        async {}
    });
    let away = Rule::watch("testresources").occurrences(all + 1..=3 * all).fault(Fault::Refused);
    let faults = Faults::new([resets.clone(), watches, away.clone()]);
    let builder = scene.operator().environment(move || Environment::real().with_seed(seed));
    let mut builder = builder.transport(faults.hook());
    for number in 0..CONTROLLERS {
        builder = builder.register(owner(&scene, &saying())?.name(format!("owner-{number}")).unshared());
    }
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((resets.fired(), away.fired()), (all, 2 * all));
    // The first attempt is made at once; those after it follow with waits that grow and are spread.
    let moments = moments.lock().split_off(2 * CONTROLLERS);
    let counted = |attempt: &[Instant]| attempt.iter().map(|moment| *moment - attempt[0]).collect();
    let attempts = [counted(&moments[..CONTROLLERS]), counted(&moments[CONTROLLERS..2 * CONTROLLERS])];
    rest(&operator).await?;
    over(&operator, &scene, &["one"]).await?;
    Ok(attempts)
}

/// How many of these fall into the fullest window of that length.
fn fullest(attempt: &[Duration], window: Duration) -> usize {
    let within = |first: &Duration| {
        attempt.iter().filter(|moment| **moment >= *first && **moment - *first < window).count()
    };
    attempt.iter().map(within).max().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn f37_after_an_outage_watches_come_back_spread_and_by_another_chance_each_time() -> Result<()> {
    let today = u64::try_from(Environment::real().wall_clock().now().as_second())? / 86_400;
    let mut patterns = BTreeSet::new();
    for seed in [1, 2, 3, today] {
        let [second, third] = attempts(seed).await.with_context(|| format!("seed {seed}"))?;
        // Evenly spread over its width, a tenth of it holds two of twenty. The third attempt has two waits behind it, so that
        // more of them are near the middle; half of them in a tenth is nothing that happens by chance.
        for attempt in [&second, &third] {
            let width = *attempt.last().context("attempts")?;
            assert!(width >= Duration::from_millis(300), "seed {seed}: all within {width:?}: {attempt:?}");
            let most = fullest(attempt, width / 10);
            assert!(most <= CONTROLLERS / 2, "seed {seed}: {most} of {CONTROLLERS} at once: {attempt:?}");
        }
        patterns.insert(second);
    }
    assert!(patterns.len() >= 3, "other seeds, another order: {patterns:?}");
    Ok(())
}
