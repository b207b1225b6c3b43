//! The memory of an operator, in bytes: counted as what is freed when it is dropped. The memory of the server beside it
//! doesn't count.

use integration_tests::prelude::*;
use operator_core::{
    environment::{Environment, Now},
    processor::{Retry, RetryState},
};
use tokio::runtime::{Builder, Runtime};

use super::{Script, TestResource, owner, rest, said, scene};

// `COME_AND_GO` says another number; nightly lets 100,000 come and go.
const COME_AND_GO: usize = 400;

/// A quiet operator, with what it runs on.
fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().start_paused(true).build()?)
}

async fn started(scene: &Scene, script: &Script) -> Result<TestOperator> {
    let builder = scene.operator().environment(|| Environment::real().with_seed(1));
    Ok(TestOperator::start(builder.register(owner(scene, script)?.cleaner(true))).await?)
}

/// How many bytes are freed when the operator stops and is dropped.
fn given_back(runtime: &Runtime, operator: TestOperator) -> i64 {
    let counted = allocation_counter::measure(|| {
        runtime.block_on(async {
            operator.stop().await;
            drop(operator);
            // The tasks of its connections end with it.
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
    });
    -counted.bytes_current
}

/// Keeps a map and reports this.
fn keeping() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, "kept");
            context.resource_operations().server_side_apply(&map).await?;
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
}

/// Creates and deletes this number of primaries, a hundred at a time.
async fn come_and_go(scene: &Scene, operator: &TestOperator, primaries: usize) -> Result<()> {
    for round in 0..primaries.div_ceil(100) {
        let names: Vec<String> =
            (round * 100..primaries.min((round + 1) * 100)).map(|number| format!("p-{number:06}")).collect();
        for name in &names {
            scene.create(name, "first").await?;
        }
        // Some are gone before they were seen, some in the middle of their first run, most when all is done.
        tokio::time::sleep(Duration::from_millis([0, 1, 20, 1_000][round % 4])).await;
        for name in &names {
            scene.delete(name).await?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        // What the test itself notes of requests and runs is not the operator's.
        rest(operator).await?;
    }
    assert!(scene.resources.list(&Default::default()).await?.items.is_empty());
    Ok(())
}

#[test]
fn f41_primaries_that_come_and_go_leave_nothing() -> Result<()> {
    let many = match std::env::var("COME_AND_GO") {
        Ok(number) => number.parse().context("COME_AND_GO is a number")?,
        Err(_) => COME_AND_GO,
    };
    let kept = |primaries: usize| -> Result<i64> {
        let runtime = runtime()?;
        // What it has noted is the test's own.
        let script = keeping();
        let (scene, operator) = runtime.block_on(async {
            let scene = scene().await?;
            let operator = started(&scene, &script).await?;
            // The first hundred bring all to its working size.
            come_and_go(&scene, &operator, 100).await?;
            let before = operator.operator().footprint().await;
            come_and_go(&scene, &operator, primaries).await?;
            assert_eq!(operator.operator().footprint().await, before, "{primaries} came and went");
            anyhow::Ok((scene, operator))
        })?;
        let given_back = given_back(&runtime, operator);
        drop((scene, script));
        Ok(given_back)
    };
    let (few, most) = (kept(400)?, kept(many)?);
    // Some tables keep the size that they once needed.
    assert!(most <= few + 40_000, "after 400 it kept {few} bytes, after {many} {most}");
    Ok(())
}

/// A retry that only its controller has.
#[derive(Debug)]
struct Held {
    retry: GenericRetry,
    /// Gone when nothing has the retry any more.
    _token: Arc<()>,
}

impl Retry for Held {
    fn begin(&self) -> RetryState {
        self.retry.begin()
    }

    fn next_delay(&self, state: &mut RetryState, now: Now) -> Option<Duration> {
        self.retry.next_delay(state, now)
    }

    fn is_last(&self, state: &RetryState) -> bool {
        self.retry.is_last(state)
    }
}

/// The other tests wouldn't notice memory that is never freed, whatever the number of primaries.
#[tokio::test(start_paused = true)]
async fn what_an_operator_has_kept_goes_when_it_stops() -> Result<()> {
    let (scene, script, token) = (scene().await?, keeping(), Arc::new(()));
    let kept = Arc::downgrade(&token);
    let controller = scene.controller(&script).retry(Held { retry: GenericRetry::default(), _token: token });
    let operator = TestOperator::start(scene.operator().register(controller)).await?;
    scene.create("one", "first").await?;
    rest(&operator).await?;
    assert!(kept.upgrade().is_some());
    operator.stop().await;
    drop(operator);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(kept.upgrade().is_none(), "something holds what primaries are queued in");
    Ok(())
}

#[test]
fn f22_what_a_storm_leaves_pending_takes_no_memory() -> Result<()> {
    let kept = |changes: usize| -> Result<i64> {
        let runtime = runtime()?;
        let gate = Gate::new();
        let held = gate.clone();
        let script = Script::new(move |_, _: Arc<TestResource>, _| {
            let gate = held.clone();
            Box::pin(async move {
                gate.pass().await;
                Ok(UpdateControl::no_update())
            })
        });
        let (scene, operator) = runtime.block_on(async {
            let scene = scene().await?;
            let builder = scene.operator().environment(|| Environment::real().with_seed(1));
            let builder = builder.termination_timeout(Duration::ZERO).register(owner(&scene, &script)?);
            let operator = TestOperator::start(builder).await?;
            let names: Vec<String> = (0..10).map(|number| format!("p-{number}")).collect();
            for name in &names {
                scene.create(name, "00000000").await?;
                gate.arrived().await?;
            }
            // Each of them is held in its first run, and what happens meanwhile is pending.
            for change in 0..changes {
                let value = format!("{change:08}");
                scene.patch(&names[change % 10], json!({ "spec": { "value": value } })).await?;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(script.runs.count(), 10);
            anyhow::Ok((scene, operator))
        })?;
        let given_back = given_back(&runtime, operator);
        drop(scene);
        Ok(given_back)
    };
    let (few, many) = (kept(100)?, kept(5_000)?);
    assert!(
        many <= few + few / 20 + 20_000,
        "with 100 changes pending it kept {few} bytes, with 5,000 {many}"
    );
    Ok(())
}
