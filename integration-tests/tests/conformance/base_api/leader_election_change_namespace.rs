//! A replica that doesn't lead doesn't process anything, even if its namespaces change while it stands by.

use integration_tests::prelude::*;
use operator_core::{LeaderElection, WatchScope, operator::Leadership};

/// What a replica has been told.
type Told = Arc<Mutex<Vec<String>>>;

fn election(scene: &Scene, name: &str, told: &Told) -> LeaderElection {
    let tell = |what: &str| {
        let (told, what) = (Arc::clone(told), format!("{name} {what}"));
        move || told.lock().push(what.clone())
    };
    let leaders = (Arc::clone(told), name.to_owned());
    LeaderElection::new("web")
        .namespace(&scene.namespace)
        .identity(name)
        .retry_period(std::time::Duration::from_millis(200))
        .on_start_leading(tell("leads"))
        .on_stop_leading(tell("stops"))
        .on_new_leader(move |leader| leaders.0.lock().push(format!("{} sees {leader}", leaders.1)))
}

async fn until_leading(operator: &TestOperator) -> Result<()> {
    eventually("a leader", async || {
        Ok((operator.operator().leadership().await == Some(Leadership::Leading)).then_some(()))
    })
    .await
}

#[operator_test]
async fn a_standby_that_is_given_another_namespace_keeps_its_caches_warm_and_processes_nothing() -> Result<()>
{
    let scene = Scene::new("leading").await?;
    let other = Scene::new("added").await?;
    let (told, numbers) = (Told::default(), Numbers::default());
    let (first, second) = (Script::<TestResource>::idle(), Script::<TestResource>::idle());
    let start = async |name: &str, script: &Script, namespaces: &[&String]| {
        let controller = script.controller().namespaces(namespaces.iter().copied());
        let builder = scene.operator().metrics(numbers.recorder());
        let builder = builder.leader_election(election(&scene, name, &told)).register(controller);
        anyhow::Ok(TestOperator::start(builder).await?)
    };
    let leader = start("first", &first, &[&scene.namespace]).await?;
    until_leading(&leader).await?;
    assert_eq!(numbers.value("leader", &[("lease", "web")]), 1.0);
    scene.create("one", "value").await?;
    leader.settled().await?;

    let standby = start("second", &second, &[&scene.namespace]).await?;
    standby.settled().await.context("a standby is settled when its caches are filled")?;
    other.create("two", "value").await?;
    let both = [&scene.namespace, &other.namespace].map(String::clone);
    standby.operator().change_namespaces("script", WatchScope::Namespaces(both.into())).await?;
    scene.create("three", "value").await?;
    leader.settled().await?;
    standby.settled().await?;
    let leads = Some("first".to_owned());
    eventually("the leader's name", async || {
        let seen = standby.operator().leadership().await;
        Ok((seen == Some(Leadership::Standby { leader: leads.clone() })).then_some(()))
    })
    .await?;
    assert_eq!((first.runs.count(), second.runs.count()), (2, 0));
    assert_eq!(standby.operator().footprint().await.primaries, 3, "they are known already");

    leader.stop().await;
    until_leading(&standby).await?;
    standby.settled().await?;
    assert_eq!(
        (first.runs.count(), second.runs.count()),
        (2, 3),
        "each of them once, the added namespace's too"
    );
    standby.stop().await;
    let told = told.lock().clone();
    assert_eq!(told[..4], ["first leads", "first sees first", "second sees first", "first stops"]);
    assert_eq!(told[4..], ["second leads", "second sees second", "second stops"]);
    assert_eq!(numbers.value("leader", &[("lease", "web")]), 0.0);
    Ok(())
}
