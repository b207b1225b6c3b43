//! A run's reads of its own primary, and the health of a source of the user's own.

use integration_tests::prelude::*;
use operator_core::{
    FunctionEventSource,
    observe::{Observation, Observer, SourceHealth},
};
use tracing::Level;

use super::{calm, pass, scene, under};

/// The value that a run was given, and the one that it read.
type Read = Arc<Mutex<Vec<(String, Option<String>)>>>;

#[tokio::test(start_paused = true)]
async fn a_run_reads_the_newest_state_of_its_primary_and_never_that_of_a_successor() -> Result<()> {
    let (scene, gate) = (scene().await?, Gate::new());
    let read = Read::default();
    let (noted, passed) = (Arc::clone(&read), gate.clone());
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let (noted, gate) = (Arc::clone(&noted), passed.clone());
        Box::pin(async move {
            for _ in 0..3 {
                let newest = context.primary().map(|newest| newest.spec.value.clone());
                noted.lock().push((primary.spec.value.clone(), newest));
                gate.pass().await;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let operator = under(&calm(), &scene, scene.controller(&script)).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    scene.set("one", "second").await?;
    pass(5).await;
    gate.let_through(1);
    gate.arrived().await?;
    scene.delete("one").await?;
    scene.create("one", "successor").await?;
    pass(5).await;
    gate.let_through(1);
    gate.arrived().await?;
    let of_the_first_run = [("first", Some("first")), ("first", Some("second")), ("first", None)]
        .map(|(given, newest)| (given.to_owned(), newest.map(str::to_owned)));
    assert_eq!(*read.lock(), of_the_first_run, "what it was given, and what it read");
    gate.let_through(100);
    operator.settled().await?;
    assert_eq!(read.lock()[3], ("successor".to_owned(), Some("successor".to_owned())));
    operator.stop().await;
    Ok(())
}

/// What sources said of themselves, but for the library's own.
#[derive(Debug, Default)]
struct Said(Mutex<Vec<String>>);

impl Observer for Said {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::SourceHealth { controller, source: "queue", health } = observation {
            self.0.lock().push(match health {
                SourceHealth::Unhealthy { reason, .. } => format!("{controller}: {reason}"),
                health => format!("{controller}: {health:?}"),
            });
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_source_of_the_users_own_reports_is_observed_and_logged_once() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let (scene, said) = (scene().await?, Arc::new(Said::default()));
    let source = FunctionEventSource::new("queue", |events| async move {
        let pause = Duration::from_secs(10);
        tokio::time::sleep(pause).await;
        for _ in 0..2 {
            let advice = Some("look at the broker".to_owned());
            events.report(&SourceHealth::Unhealthy { reason: "the broker is away".to_owned(), advice });
            tokio::time::sleep(pause).await;
        }
        events.report(&SourceHealth::Healthy);
        std::future::pending().await
    });
    let script = Script::idle();
    let controller = scene.controller(&script).name("consumer").watches(source);
    let observed = scene.operator().observer(Arc::clone(&said) as Arc<dyn Observer>).register(controller);
    let operator = operator_core::testing::TestOperator::start(observed).await?;
    pass(60).await;
    let expected = ["consumer: the broker is away", "consumer: the broker is away", "consumer: Healthy"];
    assert_eq!(*said.0.lock(), expected);
    let lines = |level: Level| -> Vec<String> {
        let of_it = log.lines(level).into_iter().filter(|line| line.field("source") == "queue");
        of_it.map(|line| format!("{} {}", line.field("reason"), line.field("advice"))).collect()
    };
    assert_eq!(
        lines(Level::WARN),
        ["the broker is away look at the broker"],
        "once, however often it is said"
    );
    assert_eq!(lines(Level::INFO).len(), 1, "and once that it works again");
    operator.stop().await;
    Ok(())
}
