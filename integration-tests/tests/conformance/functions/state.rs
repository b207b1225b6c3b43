//! Dependents and conditions with state of their own, capabilities of the cluster, and a condition that asks again.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::{Condition, Dependent, One, prelude::*, the};

use super::a_secret;

/// Numbers what it makes.
struct Numbered {
    prefix: &'static str,
    asked: Arc<AtomicUsize>,
}

impl Dependent<TestResource> for Numbered {
    type Shape = One<ConfigMap>;

    async fn want(
        &self,
        primary: &Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> Result<Want<ConfigMap>, BoxError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let data =
            [(context.controller_name().to_owned(), format!("{} {}", self.prefix, primary.name_any()))];
        Ok(Want::of(ConfigMap { data: Some(data.into()), ..ConfigMap::default() }))
    }
}

/// Met the third time that it is asked.
struct ThirdTime(AtomicUsize);

impl Condition<TestResource, ConfigMap> for ThirdTime {
    async fn check(
        &self,
        map: &Arc<ConfigMap>,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Verdict, BoxError> {
        let times = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        let verdict = Verdict::when(times >= 3, format!("{} was asked {times} times", map.name_any()));
        Ok(verdict.again_in(Duration::from_millis(50)))
    }
}

fn keys(_: &TestResource) -> Secret {
    a_secret()
}

fn route(_: &TestResource) -> Secret {
    a_secret()
}

#[operator_test]
async fn values_are_nodes_and_conditions_and_a_verdict_has_the_primary_run_again() -> Result<()> {
    let scene = Scene::new("functions-state").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let asked = Arc::new(AtomicUsize::new(0));
    let numbered = Numbered { prefix: "number", asked: Arc::clone(&asked) };
    let third_time = ThirdTime(AtomicUsize::new(0));
    let controller = script
        .controller()
        .name("numbers")
        .workflow((keys.after(the::<Numbered>()), numbered.ready(third_time)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    scene.until_other::<Secret>("the keys", "one-keys", |_| true).await?;
    let settled = operator.settled().await?;
    let expected = ["PATCH configmaps/one-numbered -> 201", "PATCH secrets/one-keys -> 201"];
    assert_eq!(settled.written(), expected);
    assert_eq!(outcomes.lines("one"), ["keys: created", "Numbered: matched"]);
    let runs = usize::try_from(settled.runs_of(&scene.key("one")))?;
    assert_eq!((runs, asked.load(Ordering::SeqCst)), (3, 3), "asked again, and once in each run");
    let map = scene.api::<ConfigMap>().get("one-numbered").await?;
    assert_eq!(map.data, Some([("numbers".to_owned(), "number one".to_owned())].into()));
    Ok(())
}

#[operator_test]
async fn what_the_cluster_has_not_is_not_there() -> Result<()> {
    let scene = Scene::new("functions-needs").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let mesh = Switch::off();
    let nodes = (keys.needs(served::<ConfigMap>()), route.needs(served::<Secret>()).needs(mesh.clone()));
    let controller = script.controller().workflow(nodes);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH secrets/one-keys -> 201"]);
    assert_eq!(outcomes.lines("one")[1], "route: inactive: its condition is not met");
    mesh.turn(true);
    assert_eq!(operator.settled().await?.written(), ["PATCH secrets/one-route -> 201"], "both are needed");
    Ok(())
}
