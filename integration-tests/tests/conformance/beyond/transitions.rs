//! A condition that changes is told to observers, counted, and recorded as an Event; what a process finds is no change.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Event;
use operator_core::{
    Context, Permanent, Run,
    observe::{Observation, Observer},
};
use tracing::Level;

/// The changes of conditions, as text.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Observer for Heard {
    fn observe(&self, observation: &Observation<'_>) {
        let Observation::ConditionChanged { key, condition, before, now, message: Some(message), .. } =
            observation
        else {
            return;
        };
        let word = |of: &Option<(&str, &str)>| {
            of.map_or("new".to_owned(), |(status, reason)| format!("{status} {reason}"))
        };
        let line = format!("{} {condition} {} -> {} {message}", key.name(), word(before), word(now));
        self.0.lock().push(line.trim_end().to_owned());
    }
}

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    TestStatus { conditions: run.conditions(one), ..TestStatus::default() }
}

/// Fails with the primary's value, unless it has none; a message that was lost is abnormal.
fn script() -> Script {
    Script::new(|_, one: Arc<TestResource>, cx: &mut Context<TestResource>| {
        Box::pin(async move {
            let value = one.spec.value.clone();
            cx.abnormal("NotifyFailed", (value == "lost").then(|| ("NotSent", "nobody answers".to_owned())));
            match &*value {
                "fine" | "lost" => Ok(UpdateControl::no_update()),
                _ => Err(Permanent::new(value).because("OverQuota").into()),
            }
        })
    })
}

/// The Events in the namespace: type, reason and message, with the count.
async fn events(scene: &Scene) -> Result<BTreeMap<String, i32>> {
    let all = scene.api::<Event>().list(&ListParams::default()).await?;
    let what = |event: Event| {
        let text = [event.type_, event.reason, event.message].map(Option::unwrap_or_default).join(" ");
        (text, event.count.unwrap_or_default())
    };
    Ok(all.into_iter().map(what).collect())
}

fn expected<const N: usize>(events: [(&str, i32); N]) -> BTreeMap<String, i32> {
    events.map(|(text, count)| (text.to_owned(), count)).into()
}

struct Started {
    operator: TestOperator,
    heard: Arc<Heard>,
    numbers: Numbers,
}

impl Started {
    async fn new(scene: &Scene, records: bool) -> Result<Self> {
        let (heard, numbers) = (Arc::new(Heard::default()), Numbers::default());
        let controller = scene.controller(&script()).name("teller").status(status).records_events(records);
        let builder =
            scene.operator().metrics(numbers.recorder()).observer(Arc::clone(&heard) as Arc<dyn Observer>);
        let operator = TestOperator::start(builder.register(controller)).await?;
        Ok(Self { operator, heard, numbers })
    }

    /// How many primaries have a condition with this status.
    fn primaries(&self, condition: &str, status: &str) -> f64 {
        let labels = [("controller_name", "teller"), ("condition", condition), ("status", status)];
        self.numbers.value("primary_conditions", &labels)
    }

    fn transitions(&self, condition: &str, reason: &str) -> f64 {
        let labels = [("controller_name", "teller"), ("condition", condition), ("reason", reason)];
        self.numbers.value("condition_transitions_total", &labels)
    }

    async fn settled(&self) -> Result<Vec<String>> {
        self.operator.settled().await?;
        Ok(self.heard.take())
    }
}

async fn say(scene: &Scene, value: &str) -> Result<()> {
    scene.patch("one", json!({ "spec": { "value": value } })).await.map(drop)
}

#[operator_test]
async fn a_condition_that_changes_is_told_counted_and_recorded_once() -> Result<()> {
    let scene = Scene::new("transitions").await?;
    scene.failures.expect("is used up");
    let first = Started::new(&scene, true).await?;
    scene.create("one", "fine").await?;
    let new = [
        "Ready new -> True Succeeded",
        "Reconciling new -> False Succeeded",
        "Stalled new -> False Succeeded",
    ];
    assert_eq!(first.settled().await?, new.map(|line| format!("one {line}")));
    assert_eq!(events(&scene).await?, expected([("Normal Succeeded Ready is True", 1)]));
    assert_eq!((first.primaries("Ready", "True"), first.primaries("Ready", "False")), (1.0, 0.0));

    say(&scene, "the quota is used up").await?;
    let worse = [
        "one Ready True Succeeded -> False OverQuota the quota is used up",
        "one Reconciling False Succeeded -> False OverQuota",
        "one Stalled False Succeeded -> True OverQuota the quota is used up",
    ];
    assert_eq!(first.settled().await?, worse);
    let recorded = expected([
        ("Normal Succeeded Ready is True", 1),
        ("Warning OverQuota Ready is False: the quota is used up", 1),
        ("Warning OverQuota Stalled is True: the quota is used up", 1),
    ]);
    assert_eq!(events(&scene).await?, recorded);
    assert_eq!((first.primaries("Ready", "True"), first.primaries("Ready", "False")), (0.0, 1.0));
    assert_eq!(
        (first.transitions("Ready", "OverQuota"), first.transitions("Ready", "Succeeded")),
        (1.0, 1.0)
    );

    // Another message is none, nor is another generation.
    say(&scene, "everything is used up").await?;
    assert_eq!(first.settled().await?, [""; 0]);
    first.operator.stop().await;
    assert_eq!(first.primaries("Ready", "False"), 0.0, "a process that has ended counts nothing");

    let second = Started::new(&scene, true).await?;
    assert_eq!(second.settled().await?, [""; 0], "it was so before");
    assert_eq!((second.primaries("Ready", "False"), second.transitions("Ready", "OverQuota")), (1.0, 0.0));
    assert_eq!(events(&scene).await?, recorded);
    second.operator.stop().await;

    say(&scene, "fine").await?;
    let third = Started::new(&scene, true).await?;
    let better = [
        "one Ready False OverQuota -> True Succeeded",
        "one Reconciling False OverQuota -> False Succeeded",
        "one Stalled True OverQuota -> False Succeeded",
    ];
    assert_eq!(third.settled().await?, better, "the first run of a process knows what was there");
    let counts = events(&scene).await?;
    assert_eq!(counts["Normal Succeeded Ready is True"], 2);
    assert_eq!(counts["Normal Succeeded Stalled is False"], 1);
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    third.operator.settled().await?;
    let left: f64 = ["Ready", "Reconciling", "Stalled"]
        .map(|of| third.primaries(of, "True") + third.primaries(of, "False"))
        .iter()
        .sum();
    assert_eq!(left, 0.0, "{}", third.numbers.text());
    Ok(())
}

#[operator_test]
async fn what_is_abnormal_got_worse_when_it_becomes_true() -> Result<()> {
    let scene = Scene::new("transitions").await?;
    let started = Started::new(&scene, true).await?;
    scene.create("one", "fine").await?;
    started.settled().await?;
    say(&scene, "lost").await?;
    let lost = [
        "one Ready True Succeeded -> False NotSent NotifyFailed: nobody answers",
        "one NotifyFailed new -> True NotSent nobody answers",
    ];
    let told: BTreeSet<_> = started.settled().await?.into_iter().collect();
    assert_eq!(told, lost.map(str::to_owned).into());
    let all = events(&scene).await?;
    assert_eq!(all["Warning NotSent NotifyFailed is True: nobody answers"], 1, "{all:?}");
    assert_eq!(all["Warning NotSent Ready is False: NotifyFailed: nobody answers"], 1, "{all:?}");
    assert_eq!(started.primaries("NotifyFailed", "True"), 1.0);
    say(&scene, "fine").await?;
    assert_eq!(started.settled().await?, ["one Ready False NotSent -> True Succeeded"]);
    assert_eq!(started.primaries("NotifyFailed", "True"), 0.0, "it is gone");
    Ok(())
}

#[operator_test(flavor = "current_thread")]
async fn a_controller_that_records_no_events_is_told_nothing_about_them() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("transitions").await?;
    let started = Started::new(&scene, false).await?;
    scene.create("one", "fine").await?;
    assert_eq!(started.settled().await?.len(), 3);
    assert_eq!(events(&scene).await?, expected([]));
    let warnings = log.lines(Level::WARN);
    assert!(warnings.iter().all(|line| !line.field("message").contains("Events")), "{warnings:#?}");
    Ok(())
}
