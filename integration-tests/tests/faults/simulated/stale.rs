//! Old states that last: a replica that lags behind for many runs, and older events that come after newer ones.

use std::fmt::Debug;

use integration_tests::prelude::*;
use operator_core::{
    Context, Node, One,
    environment::Environment,
    testing::{
        AuditEvent,
        faults::{LaggingReplica, LineFault},
    },
};
use serde::de::DeserializeOwned;

use super::{
    Script, TestResource, over, patient, rest, said, saying, scene, under,
    watches::{PLURALS, counted, informer_lists},
};

/// The state that each run saw before it wrote anything: the value of its primary, and those of its maps.
type Seen = Arc<Mutex<Vec<(String, BTreeMap<String, String>)>>>;

/// A map with the primary's value. Its desired state is computed in each run, which notes the state that it sees then.
fn noting(seen: &Seen) -> Node<TestResource, One<ConfigMap>> {
    let seen = Arc::clone(seen);
    let wish = wish(move |primary: &TestResource, context: &Context<TestResource>| {
        let maps = context.secondaries::<ConfigMap>()?;
        let held = |map: &Arc<ConfigMap>| Some((map.name_any(), value_of(map)?.to_owned()));
        seen.lock().push((primary.spec.value.clone(), maps.iter().filter_map(held).collect()));
        Ok(map_of(primary, "a", &primary.spec.value))
    });
    node(wish).named("a")
}

/// Writes the primary's value into its status, and runs again every ten seconds as long as `again` says so.
fn restless(again: &Arc<AtomicBool>) -> Script {
    let again = Arc::clone(again);
    Script::new(move |_, primary: Arc<TestResource>, _| {
        let again = again.load(Ordering::Relaxed);
        Box::pin(async move {
            let done = Said::status(said(primary.spec.value.clone()));
            Ok(if again { done.reschedule_after(Duration::from_secs(10)) } else { done })
        })
    })
}

/// The version of the newest state.
async fn version<K: Resource + Clone + Debug + DeserializeOwned>(api: &Api<K>) -> Result<String> {
    Ok(api.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default())
}

/// The versions of all maps: the same as before if none was written.
async fn versions(scene: &Scene) -> Result<BTreeMap<String, Option<String>>> {
    let maps = scene.api::<ConfigMap>().list(&ListParams::default()).await?;
    Ok(maps.into_iter().map(|map| (map.name_any(), map.metadata.resource_version)).collect())
}

fn says(value: &str) -> impl Fn(&TestResource) -> bool {
    move |one| one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(value)
}

/// Lets the replica fall behind three times within ten minutes. Returns the requests to the server meanwhile.
async fn ten_minutes_behind(scene: &Scene, replica: &LaggingReplica, old: &str) -> Result<Vec<AuditEvent>> {
    let asked = scene.cluster.audit()?.len();
    for fall in 1..=3 {
        replica.fall_behind(old);
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert!(replica.old_lists() >= fall, "nobody asked for fall {fall}");
    }
    Ok(scene.cluster.audit()?.split_off(asked))
}

fn about<'e>(events: &'e [AuditEvent], resource: &str, verbs: &[&str]) -> Vec<&'e AuditEvent> {
    events.iter().filter(|event| event.resource == resource && verbs.contains(&&*event.verb)).collect()
}

const WRITES: [&str; 4] = ["create", "update", "patch", "delete"];

#[tokio::test(start_paused = true)]
async fn f04_while_an_old_view_of_the_secondaries_lasts_nothing_is_made_twice_or_written() -> Result<()> {
    for before_it_was_made in [true, false] {
        let scene = scene().await?;
        let (seen, again) = (Seen::default(), Arc::new(AtomicBool::new(true)));
        let replica = LaggingReplica::of("configmaps");
        let controller = scene.managed(&restless(&again), &workflow_of_one(noting(&seen))?);
        let builder = scene.operator().environment(|| Environment::real().with_seed(1));
        let builder = builder.transport(replica.hook()).register(controller.retry(patient()?));
        let operator = TestOperator::start(builder).await?;
        let maps = scene.api::<ConfigMap>();
        let mut old = version(&maps).await?;
        scene.create("one", "first").await?;
        scene.until("the first value", "one", says("first")).await?;
        if !before_it_was_made {
            old = version(&maps).await?;
        }
        scene.set("one", "second").await?;
        scene.until("the second value", "one", says("second")).await?;

        let (held, runs) = (versions(&scene).await?, seen.lock().len());
        let asked = ten_minutes_behind(&scene, &replica, &old).await?;
        let runs = seen.lock().split_off(runs);
        assert!(runs.len() >= 50, "{} runs", runs.len());
        let value = |run: &(String, BTreeMap<String, String>)| run.1.get("one-a").cloned();
        let old_value = (!before_it_was_made).then(|| "first".to_owned());
        assert_eq!(runs.first().and_then(value), old_value, "the first of them saw the old state");
        assert_eq!(versions(&scene).await?, held, "nothing was written");
        // One attempt, which is refused as it names absence or the old version; then at most one upon the live state, which has
        // all values already. From then on the live state is known.
        let attempts: Vec<u16> =
            about(&asked, "configmaps", &WRITES).iter().map(|attempt| attempt.code).collect();
        assert!(attempts == [409] || attempts == [409, 200], "{attempts:?}");
        let known = runs.iter().skip(1).all(|run| value(run).as_deref() == Some("second"));
        assert!(known, "what the first run has found out is known to those after it: {runs:?}");

        again.store(false, Ordering::Relaxed);
        replica.catch_up();
        rest(&operator).await?;
        assert_eq!(versions(&scene).await?, held);
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Since {
    Changed,
    Gone,
    Replaced,
}

#[tokio::test(start_paused = true)]
async fn f04_while_an_old_view_of_the_primaries_lasts_no_old_value_comes_back() -> Result<()> {
    for since in [Since::Changed, Since::Gone, Since::Replaced] {
        let scene = scene().await?;
        let (seen, again) = (Seen::default(), Arc::new(AtomicBool::new(since != Since::Gone)));
        let replica = LaggingReplica::of("testresources");
        let controller = scene.managed(&restless(&again), &workflow_of_one(noting(&seen))?);
        let builder = scene.operator().environment(|| Environment::real().with_seed(1));
        let builder = builder.transport(replica.hook()).register(controller.retry(patient()?));
        let operator = TestOperator::start(builder).await?;
        scene.create("one", "first").await?;
        scene.until("the first value", "one", says("first")).await?;
        let old = version(&scene.resources).await?;
        if since == Since::Changed {
            scene.set("one", "second").await?;
        } else {
            scene.delete("one").await?;
            scene.until_gone("one").await?;
            scene.until_values([]).await?;
        }
        if since == Since::Replaced {
            scene.create("one", "second").await?;
        }
        if since != Since::Gone {
            scene.until("the second value", "one", says("second")).await?;
        }
        tokio::time::sleep(Duration::from_secs(5)).await;

        let (held, runs) = (versions(&scene).await?, seen.lock().len());
        let asked = ten_minutes_behind(&scene, &replica, &old).await?;
        let runs = seen.lock().split_off(runs);
        let old_values: Vec<_> = runs.iter().filter(|(value, _)| value != "second").collect();
        assert!(old_values.is_empty(), "{since:?}: runs of the old state: {old_values:?}");
        assert_eq!(versions(&scene).await?, held, "{since:?}: nothing was written");
        let writes = about(&asked, "testresources", &WRITES);
        assert!(writes.is_empty(), "{since:?}: {writes:#?}");
        // Each time that an older state is shown, one look tells what there is.
        let looks = about(&asked, "testresources", &["get"]).len();
        assert!((1..=3).contains(&looks), "{since:?}: {looks} looks");
        // What it shows instead of a successor is gone; the successor runs again when the view is up to date.
        assert_eq!(runs.is_empty(), since != Since::Changed, "{since:?}: {} runs", runs.len());

        again.store(false, Ordering::Relaxed);
        replica.catch_up();
        rest(&operator).await?;
        assert_eq!(versions(&scene).await?, held);
        if since == Since::Replaced {
            scene.set("one", "third").await?;
            scene.until_values([("one-a", "third")]).await?;
        }
        over(&operator, &scene, if since == Since::Gone { &[] } else { &["one"] }).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f04_what_others_have_put_in_place_of_what_an_old_view_shows_is_not_deleted() -> Result<()> {
    let scene = scene().await?;
    let replica = LaggingReplica::of("configmaps");
    let workflow = workflow_of_one(node(counted_maps))?;
    let start = async || {
        let builder = scene.operator().environment(|| Environment::real().with_seed(1));
        let controller = scene.managed(&saying(), &workflow).retry(patient()?);
        Ok::<_, anyhow::Error>(
            TestOperator::start(builder.transport(replica.hook()).register(controller)).await?,
        )
    };
    let operator = start().await?;
    let maps = scene.api::<ConfigMap>();
    scene.create("one", "2 x").await?;
    scene.until("two maps", "one", says("2 x")).await?;
    let old = version(&maps).await?;
    scene.set("one", "1 x").await?;
    scene.until("one map", "one", says("1 x")).await?;
    scene.until_values([("one-0", "x")]).await?;
    let theirs: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": "one-1" } }))?;
    let theirs = maps.create(&PostParams::default(), &theirs).await?;
    rest(&operator).await?;

    let asked = ten_minutes_behind(&scene, &replica, &old).await?;
    // The old view shows a map of ours that nobody wants any more. This process knows that it is gone.
    assert!(about(&asked, "configmaps", &["delete"]).is_empty());
    operator.stop().await;
    let asked = scene.cluster.audit()?.len();
    let operator = start().await?;
    tokio::time::sleep(Duration::from_secs(200)).await;
    let asked = scene.cluster.audit()?.split_off(asked);
    // Another one doesn't.
    let deletions = about(&asked, "configmaps", &["delete"]);
    assert!(!deletions.is_empty(), "no run saw the old map");
    assert!(deletions.iter().all(|deletion| deletion.code == 409), "{deletions:#?}");
    assert_eq!(maps.get("one-1").await?.uid(), theirs.uid(), "theirs is still there");
    replica.catch_up();
    rest(&operator).await?;
    assert_eq!(maps.get("one-1").await?.uid(), theirs.uid());
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f05_an_older_event_that_comes_after_a_newer_one_is_not_believed() -> Result<()> {
    for plural in PLURALS {
        let scene = scene().await?;
        let seen = Seen::default();
        let lists = counted(informer_lists(plural));
        let late = Rule::watch(plural).nth(1).event(LineFault::Reorder);
        let faults = Faults::new([lists.clone(), late.clone()]);
        faults.off();
        let workflow = workflow_of_one(noting(&seen))?;
        let operator = under(&faults, &scene, scene.managed(&saying(), &workflow).retry(patient()?)).await?;
        scene.create("one", "first").await?;
        rest(&operator).await?;

        faults.on();
        let runs = seen.lock().len();
        let asked = scene.cluster.audit()?.len();
        let maps = scene.api::<ConfigMap>();
        // Two changes in a row, of which the second event comes first.
        for value in ["older", "newer"] {
            if plural == "testresources" {
                scene.set("one", value).await?;
            } else {
                let value = if value == "newer" { "first" } else { value };
                let edit = json!({ "data": { "value": value } });
                maps.patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
            }
        }
        let asked = asked + 2;
        rest(&operator).await?;
        assert_eq!((late.fired(), lists.fired()), (1, 0), "{plural}: in another order, and no list between");
        let runs = seen.lock().split_off(runs);
        let newest = if plural == "testresources" { "newer" } else { "first" };
        let believed = runs
            .iter()
            .any(|(value, maps)| value == "older" || maps.get("one-a").is_some_and(|value| value == "older"));
        assert!(!believed, "{plural}: a run saw the older state: {runs:?}");
        assert!(!runs.is_empty() && runs.len() <= 2, "{plural}: {runs:?}");
        scene.until_values([("one-a", newest)]).await?;
        let audit = scene.cluster.audit()?.split_off(asked);
        let writes = about(&audit, "configmaps", &WRITES).len();
        // A hand that changed the map has taken its field over.
        assert_eq!(writes, 1, "{plural}: nothing was undone twice");
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f03_each_run_sees_what_the_one_before_it_has_written_though_no_watch_has_shown_it() -> Result<()> {
    let scene = scene().await?;
    let seen: Arc<Mutex<Vec<[Option<String>; 2]>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let script = Script::new(move |run, primary: Arc<TestResource>, context| {
        let noted = Arc::clone(&noted);
        Box::pin(async move {
            let map = context.secondary::<ConfigMap>()?;
            let held = map.as_deref().and_then(value_of).map(str::to_owned);
            noted.lock().push([held, primary.status.as_ref().and_then(|status| status.message.clone())]);
            let written = integration_tests::config_map(&*primary, context, &run.to_string());
            context.resource_operations().server_side_apply(&written).await?;
            let done = Said::status(said(run.to_string()));
            Ok(if run < 20 { done.reschedule_after(Duration::from_secs(1)) } else { done })
        })
    });
    // What comes after the primary itself comes an hour late, or rather: with the list of whoever has waited long enough.
    let late = LineFault::Delay(Duration::from_secs(3600));
    let late = [
        Rule::watch("configmaps").event(late),
        Rule::watch("testresources").occurrences(2..=1_000).event(late),
    ];
    let faults = Faults::new(late.clone());
    let operator = under(&faults, &scene, super::owner(&scene, &script)?).await?;
    operator.operator().synced().await;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let seen = seen.lock().clone();
    let mut expected = vec![[None, None]];
    expected.extend((1..20).map(|run| [Some(run.to_string()), Some(run.to_string())]));
    assert_eq!(seen, expected, "each run saw the map and the status of the one before");
    assert!(late.iter().all(|rule| rule.fired() == 1), "and nothing was shown meanwhile: {faults:?}");
    faults.off();
    operator.stop().await;
    Ok(())
}
