//! People and systems that meddle.

use integration_tests::TestObject as _;
use integration_tests::prelude::*;
use operator_core::{
    PollingEventSource,
    dependent::{Deletion, External, Found, Records, Token},
    observe::SourceHealth,
};

use super::{Script, TestResource, keeper, over, patient, rest, said, saying, scene, under};

#[tokio::test(start_paused = true)]
async fn f38_whatever_came_between_the_same_spec_leads_to_the_same_state() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            ensure!(primary.spec.value != "2 invalid", "it is invalid");
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
    .on_error(|_, _, error| said(error.to_string()));
    let workflow = workflow_of_one(node(counted_maps))?;
    let operator =
        under(&Faults::none(), &scene, scene.managed(&script, &workflow).retry(patient()?)).await?;
    scene.create("one", "3 a").await?;
    let state = async || -> Result<_> {
        let said = scene.resources.get("one").await?.status.and_then(|status| status.message);
        Ok((said, scene.values().await?))
    };
    rest(&operator).await?;
    let wanted = state().await?;
    assert_eq!(wanted.1.len(), 3);
    for between in ["0 a", "3 b", "1 a", "2 invalid", "7 c"] {
        scene.set("one", between).await?;
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert_ne!(state().await?, wanted, "{between}");
        scene.set("one", "3 a").await?;
        rest(&operator).await?;
        assert_eq!(state().await?, wanted, "after {between}");
    }
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f39_what_hands_delete_and_edit_for_a_minute_is_restored() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let operator = under(&Faults::none(), &scene, keeper(&scene, &script)?).await?;
    let expected: BTreeMap<String, String> =
        [("one-a", "first"), ("one-b", "first"), ("two-a", "first"), ("two-b", "first")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    scene.create("one", "first").await?;
    scene.create("two", "first").await?;
    rest(&operator).await?;
    let maps = scene.api::<ConfigMap>();
    let names: Vec<&String> = expected.keys().collect();
    for action in 0..300_u64 {
        let mixed = action.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let name = names[usize::try_from(mixed % 4)?];
        let done = match mixed / 4 % 4 {
            0 => maps.delete(name, &DeleteParams::default()).await.map(drop),
            1 => {
                let edit = json!({ "data": { "value": "edited" } });
                maps.patch(name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop)
            }
            2 => {
                let edit = json!({ "data": null });
                maps.patch(name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop)
            }
            _ => {
                let edit = json!({ "data": { "more": action.to_string() } });
                maps.patch(name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop)
            }
        };
        // What is being restored may be missing at the moment.
        assert!(
            done.as_ref().is_ok_and(|()| true)
                || matches!(&done, Err(kube::Error::Api(status)) if status.code == 404)
        );
        tokio::time::sleep(Duration::from_millis(mixed / 16 % 400)).await;
    }
    rest(&operator).await?;
    assert_eq!(scene.values().await?, expected);
    over(&operator, &scene, &["one", "two"]).await
}

/// A system that from the first create on is late, then down, then slow, then late, then works: by the number of
/// calls for all records since then.
#[derive(Clone, Default)]
struct Troubled {
    system: ExternalSystem,
    polls: Arc<Mutex<Vec<Instant>>>,
    before: Arc<Mutex<Option<usize>>>,
}

impl Troubled {
    /// The records that it shows at the moment.
    async fn shown(&self) -> Result<ExternalSystem> {
        let Some(before) = *self.before.lock() else { return Ok(self.system.clone()) };
        let poll = self.polls.lock().len() - before;
        match poll {
            4..=6 => anyhow::bail!("the other system is down"),
            7 => tokio::time::sleep(Duration::from_secs(600)).await,
            _ => {}
        }
        Ok(if poll > 10 { self.system.clone() } else { ExternalSystem::default() })
    }
}

impl External<TestResource> for Troubled {
    type Resource = Record;
    type Want = Option<Record>;

    fn want(&self, primary: &TestResource) -> Option<Record> {
        Some(Record::wanted(primary.name_any(), primary.value().to_owned()))
    }

    async fn observe(&self, id: &str) -> Result<Option<Record>, BoxError> {
        Ok(self.shown().await?.get(id))
    }

    async fn find(&self, token: &Token) -> Result<Found<Record>, BoxError> {
        let found = self.shown().await?.made_for(token.as_str());
        Ok(Found::Records(found.into_iter().map(|found| (found.id.clone(), found)).collect()))
    }

    async fn create(&self, want: &Record, token: &Token) -> Result<(String, Record), BoxError> {
        self.before.lock().get_or_insert(self.polls.lock().len());
        let made = self.system.create_for(token.as_str(), &want.name, &want.data)?;
        Ok((made.id.clone(), made))
    }

    fn matches(&self, actual: &Record, want: &Record) -> bool {
        actual.data == want.data
    }

    async fn update(&self, id: &str, _: &Record, want: &Record) -> Result<Record, BoxError> {
        Ok(self.system.update(id, &want.data)?)
    }

    async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
        self.system.delete(id);
        Ok(Deletion::Gone)
    }
}

#[tokio::test(start_paused = true)]
async fn f40_a_system_that_is_down_slow_and_late_gets_one_record() -> Result<()> {
    let scene = scene().await?;
    let troubled = Troubled::default();
    let (system, polls) = (troubled.system.clone(), Arc::clone(&troubled.polls));
    system.lose_answers(2);
    let (polled, namespace) = (troubled.clone(), scene.namespace.clone());
    let source = PollingEventSource::new("records", Duration::from_secs(5), move || {
        polled.polls.lock().push(Instant::now());
        let (polled, namespace) = (polled.clone(), namespace.clone());
        async move { anyhow::Ok(polled.shown().await?.by_primary(&namespace, |name| name)) }
    });
    let record = Records::new(troubled).id_in_status("recordId").shows_within(Duration::from_secs(200));
    let script = saying();
    let controller = script
        .controller()
        .namespaces([&scene.namespace])
        .retry(patient()?)
        .watches(source)
        .workflow(&Workflow::builder().nodes((record,)).build()?);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    // Whether what is known of the system is up to date is not known while it is down, and the operator says so.
    let mut told = Vec::new();
    for _ in 0..900 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let unhealthy = operator.unhealthy_sources().await;
        let reason = unhealthy.first().map(|source| match &source.health {
            SourceHealth::Unhealthy { reason, .. } => format!("{}: {reason}", source.source),
            other => format!("{other:?}"),
        });
        if told.last() != Some(&reason) {
            told.push(reason);
        }
    }
    let down =
        |told: &Option<String>| told.as_deref().is_some_and(|told| told.contains("the other system is down"));
    assert!(told.iter().any(down), "it is down: {told:?}");
    let slow = told.iter().flatten().any(|told| told.starts_with("records: ") && !told.contains("is down"));
    assert!(slow, "it doesn't answer in time: {told:?}");
    assert_eq!(told.last(), Some(&None), "it is as it should be: {told:?}");
    assert_eq!(system.created(), 1, "the system is asked before anything is made in it");
    assert!(polls.lock().len() > 12, "polls go on after trouble: {}", polls.lock().len());
    // A create without an answer is followed by a look of its own.
    let gaps: Vec<Duration> = polls.lock().windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps[2..].iter().all(|gap| *gap >= Duration::from_secs(5)), "no storm of polls: {gaps:?}");
    assert!(script.runs.count() < 20, "{} runs in a quarter of an hour", script.runs.count());
    let id = scene.resources.get("one").await?.status.and_then(|status| status.record_id);
    assert_eq!(id.as_ref(), system.all().first().map(|record| &record.id), "it was found");
    operator.stop().await;
    Ok(())
}
