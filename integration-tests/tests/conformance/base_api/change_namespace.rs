//! The namespaces of a controller change while it runs. Everything has a label selector, because the tests on the real
//! server share their kinds.

use futures::FutureExt;
use integration_tests::prelude::*;
use operator_core::{Error, WatchScope, client::TransportHook};

const TARGET: &str = "io.javaoperatorsdk/primary-name";

/// Two namespaces, with a primary in each: `one` and `two`.
struct Two {
    first: Scene,
    second: Scene,
    label: String,
    lists: Lists,
}

/// The lists of whole objects, by namespace and kind.
#[derive(Clone, Default)]
struct Lists(Arc<Mutex<Vec<String>>>);

impl Lists {
    fn hook(&self) -> TransportHook {
        let lists = self.clone();
        TransportHook::around(move |request, inner| {
            let query = request.uri().query().unwrap_or_default();
            // The barrier of the tests lists metadata only.
            let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
            let whole = !accept.unwrap_or_default().contains("as=");
            if request.method() == http::Method::GET && query.contains("labelSelector") && whole {
                let verb = if query.contains("watch=true") { "watch" } else { "list" };
                let path = request.uri().path();
                let namespace = path.split_once("/namespaces/").map_or("*", |(_, rest)| rest);
                let namespace = namespace.split('/').next().unwrap_or_default();
                let kind = path.rsplit('/').next().unwrap_or_default();
                lists.0.lock().push(format!("{verb} {kind} {namespace}"));
            }
            async move { inner.send(request).await }
        })
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }
}

impl Two {
    async fn new(name: &str) -> Result<Self> {
        Self::of(Scene::new(name).await?, Scene::new(&format!("{name}-too")).await?).await
    }

    /// In a cluster inside the process, for a test that doesn't run on both servers.
    async fn on(name: &str) -> Result<Self> {
        let cluster = TestCluster::in_process();
        let first: Scene = Scene::on(cluster.clone(), name).await?;
        first.install_crd().await?;
        Self::of(first, Scene::on(cluster, &format!("{name}-too")).await?).await
    }

    async fn of(first: Scene, second: Scene) -> Result<Self> {
        let label = first.namespace.clone();
        let two = Self { first, second, label, lists: Lists::default() };
        two.create(&two.first, "one").await?;
        two.create(&two.second, "two").await?;
        Ok(two)
    }

    async fn create(&self, scene: &Scene, name: &str) -> Result<()> {
        let mut resource = TestResource::named(name, "value");
        resource.metadata.labels = Some([("test".to_owned(), self.label.clone())].into());
        scene.resources.create(&PostParams::default(), &resource).await?;
        Ok(())
    }

    async fn map(&self, scene: &Scene, primary: &str, value: &str) -> Result<()> {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "map", "annotations": { TARGET: primary }, "labels": { "test": self.label } },
            "data": { "value": value },
        });
        let ours = PatchParams::apply("test").force();
        scene.api::<ConfigMap>().patch("map", &ours, &Patch::Apply(map)).await?;
        Ok(())
    }

    fn selector(&self) -> String {
        format!("test={}", self.label)
    }

    fn maps(&self) -> InformerEventSource<ConfigMap> {
        InformerEventSource::new().label_selector(self.selector())
    }

    /// A controller called `web` in the first namespace.
    fn controller(&self, script: &Script) -> ControllerBuilder<Script> {
        let controller = script.controller().name("web").label_selector(self.selector());
        controller.namespaces([&self.first.namespace])
    }

    async fn start(&self, controller: ControllerBuilder<Script>) -> Result<TestOperator> {
        let builder = self.first.operator().transport(self.lists.hook()).register(controller);
        Ok(TestOperator::start(builder).await?)
    }
}

fn only<const N: usize>(scenes: [&Scene; N]) -> WatchScope {
    WatchScope::Namespaces(scenes.map(|scene| scene.namespace.clone()).into())
}

#[operator_test]
async fn an_added_namespace_is_reconciled_and_a_left_one_no_longer() -> Result<()> {
    let (two, script) = (Two::new("namespaces").await?, Script::<TestResource>::idle());
    let (first, second) = (&two.first, &two.second);
    let operator = two.start(two.controller(&script).watches(two.maps())).await?;
    assert_eq!(operator.settled().await?.runs, [(first.key("one"), 1)].into());
    two.lists.take();

    operator.operator().change_namespaces("web", only([first, second])).await?;
    let added = operator.settled().await?;
    assert_eq!(added.runs, [(second.key("two"), 1)].into(), "the other one notices nothing");
    let new: BTreeSet<String> = ["list", "watch"]
        .into_iter()
        .flat_map(|verb| {
            ["configmaps", "testresources"].map(|kind| format!("{verb} {kind} {}", second.namespace))
        })
        .collect();
    assert_eq!(two.lists.take(), new, "nothing is listed again");
    two.map(second, "two", "a").await?;
    assert_eq!(operator.settled().await?.runs, [(second.key("two"), 1)].into(), "the sources follow");

    operator.operator().change_namespaces("web", only([second])).await?;
    assert_eq!(operator.settled().await?.runs, [].into());
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, footprint.leftovers), (1, Vec::new()));
    first.patch("one", json!({ "spec": { "value": "unseen" } })).await?;
    two.map(first, "one", "unseen").await?;
    second.patch("two", json!({ "spec": { "value": "seen" } })).await?;
    assert_eq!(operator.settled().await?.runs, [(second.key("two"), 1)].into());
    assert_eq!(two.lists.take(), [].into(), "what goes on isn't listed again");

    // Whoever comes back begins anew.
    operator.operator().change_namespaces("web", only([first, second])).await?;
    assert_eq!(operator.settled().await?.runs, [(first.key("one"), 1)].into());
    Ok(())
}

#[operator_test]
async fn all_namespaces_and_back() -> Result<()> {
    let (two, script) = (Two::new("namespaces-all").await?, Script::<TestResource>::idle());
    let (first, second) = (&two.first, &two.second);
    let operator = two.start(two.controller(&script).watches(two.maps())).await?;
    operator.settled().await?;
    two.lists.take();

    operator.operator().change_namespaces("web", WatchScope::All).await?;
    assert_eq!(operator.settled().await?.runs, [(second.key("two"), 1)].into());
    let all = ["list configmaps *", "list testresources *", "watch configmaps *", "watch testresources *"];
    assert_eq!(two.lists.take(), all.map(str::to_owned).into());
    two.map(second, "two", "a").await?;
    first.patch("one", json!({ "spec": { "value": "changed" } })).await?;
    let changed = operator.settled().await?;
    assert_eq!(changed.runs, [(first.key("one"), 1), (second.key("two"), 1)].into());

    operator.operator().change_namespaces("web", only([first])).await?;
    assert_eq!(operator.settled().await?.runs, [].into(), "what stays is known, what goes is left alone");
    assert_eq!(operator.operator().footprint().await.primaries, 1);
    second.patch("two", json!({ "spec": { "value": "unseen" } })).await?;
    two.map(first, "one", "a").await?;
    assert_eq!(operator.settled().await?.runs, [(first.key("one"), 1)].into());
    assert_eq!(script.runs.overlapping(), [].into());
    Ok(())
}

#[operator_test]
async fn a_run_during_the_change_ends_and_nothing_is_stuck() -> Result<()> {
    let two = Two::new("namespaces-run").await?;
    let (first, second, gate) = (&two.first, &two.second, Gate::new());
    let script = Script::new({
        let gate = gate.clone();
        move |_, primary: Arc<TestResource>, _| {
            let gate = gate.clone();
            Box::pin(async move {
                if primary.metadata.name.as_deref() == Some("two") {
                    gate.pass().await;
                }
                // A timer that must go with its namespace.
                let message = Some(primary.value().to_owned());
                let status = TestStatus { message, ..TestStatus::default() };
                Ok(Said::status(status).reschedule_after(Duration::from_secs(100)))
            })
        }
    });
    let operator = two.start(two.controller(&script).watches(two.maps())).await?;
    operator.operator().change_namespaces("web", only([first, second])).await?;
    gate.arrived().await?;
    operator.operator().change_namespaces("web", only([first])).await?;
    gate.let_through(1);
    operator.settled().await?;
    assert_eq!((script.runs.of("two").len(), script.runs.under_way()), (1, 0));
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, footprint.leftovers), (1, Vec::new()), "nor its timer");

    // Away and back while it runs: not two of them at the same time, and none is lost.
    operator.operator().change_namespaces("web", only([first, second])).await?;
    gate.arrived().await?;
    operator.operator().change_namespaces("web", only([first])).await?;
    operator.operator().change_namespaces("web", only([first, second])).await?;
    gate.let_through(2);
    gate.arrived().await?;
    operator.settled().await?;
    assert_eq!((script.runs.of("two").len(), script.runs.overlapping()), (3, [].into()));
    assert_eq!(script.runs.of("one").len(), 1);
    Ok(())
}

#[operator_test]
async fn primaries_in_a_new_namespace_wait_for_its_secondaries_and_others_do_not() -> Result<()> {
    let (two, script, gate) =
        (Two::new("namespaces-wait").await?, Script::<TestResource>::idle(), Gate::new());
    let (first, second) = (&two.first, &two.second);
    let (hold, held) = (format!("/api/v1/namespaces/{}/configmaps", second.namespace), gate.clone());
    let lists = before(move |_, path| {
        let held = held.clone();
        (path == hold).then(|| async move { held.pass().await }.boxed())
    });
    let controller = two.controller(&script).watches(two.maps());
    let operator = TestOperator::start(first.operator().transport(lists).register(controller)).await?;
    operator.settled().await?;
    operator.operator().change_namespaces("web", only([first, second])).await?;
    gate.arrived().await?;
    two.create(first, "another").await?;
    integration_tests::eventually("the run of another primary", async || {
        Ok((!script.runs.of("another").is_empty()).then_some(()))
    })
    .await?;
    let waits = operator.unhealthy_sources().await;
    assert!(waits.iter().any(|source| source.namespace.as_ref() == Some(&second.namespace)), "{waits:?}");
    assert_eq!(script.runs.of("two").len(), 0);
    gate.let_through(1000);
    assert_eq!(operator.settled().await?.runs_of(&second.key("two")), 1);
    assert_eq!(operator.unhealthy_sources().await, []);
    Ok(())
}

#[operator_test]
async fn a_source_that_is_told_not_to_follow_stays_where_it_is() -> Result<()> {
    let (two, script) = (Two::new("namespaces-stay").await?, Script::<TestResource>::idle());
    let second = &two.second;
    let own = two.maps().follow_namespace_changes(false);
    let operator = two.start(two.controller(&script).watches(own)).await?;
    operator.settled().await?;
    two.lists.take();
    operator.operator().change_namespaces("web", only([second])).await?;
    assert_eq!(operator.settled().await?.runs, [(second.key("two"), 1)].into());
    assert!(two.lists.take().iter().all(|list| !list.contains("configmaps")));
    two.map(second, "two", "unseen").await?;
    assert_eq!(operator.settled().await?.runs, [].into());
    Ok(())
}

#[operator_test]
async fn a_source_that_a_run_has_added_follows_too() -> Result<()> {
    let two = Two::new("namespaces-late").await?;
    let (first, second, selector) = (&two.first, &two.second, two.selector());
    // Each run that could read says how many it has found.
    let found: Arc<Mutex<Vec<String>>> = Arc::default();
    let script = Script::new({
        let found = Arc::clone(&found);
        move |_, primary: Arc<TestResource>, context| {
            let source = InformerEventSource::<ConfigMap>::new().label_selector(&selector);
            if let Ok(true) = context.event_sources().add(source) {
                let maps = context.secondaries::<ConfigMap>().map_or(0, |maps| maps.len());
                let name = primary.metadata.name.as_deref().unwrap_or_default();
                found.lock().push(format!("{name} {maps}"));
            }
            Box::pin(async { Ok(UpdateControl::no_update()) })
        }
    });
    two.map(first, "one", "a").await?;
    two.map(second, "two", "a").await?;
    let operator = two.start(two.controller(&script)).await?;
    operator.settled().await?;
    assert_eq!(*found.lock(), ["one 1"]);
    operator.operator().change_namespaces("web", only([first, second])).await?;
    operator.settled().await?;
    // What it has added doesn't hold back first runs, so that an object that a run has found may start one more.
    found.lock().dedup();
    assert_eq!(*found.lock(), ["one 1", "two 1"], "not before its own namespace has been seen");
    found.lock().clear();
    operator.operator().change_namespaces("web", only([second])).await?;
    two.map(first, "one", "unseen").await?;
    assert_eq!(operator.settled().await?.runs, [].into());
    two.map(second, "two", "b").await?;
    operator.settled().await?;
    assert_eq!(*found.lock(), ["two 1"]);
    Ok(())
}

#[operator_test]
async fn what_can_not_be_is_refused() -> Result<()> {
    let (two, script) = (Two::new("namespaces-wrong").await?, Script::<TestResource>::idle());
    let declared = || two.first.operator().register(two.controller(&script));
    let operator: Operator = declared().build()?;
    let refused = operator.change_namespaces("web", WatchScope::All).await;
    assert!(matches!(refused, Err(Error::NotRunning)), "{refused:?}");

    let operator = TestOperator::start(declared()).await?;
    operator.settled().await?;
    let mixture = WatchScope::Namespaces(["*".to_owned(), two.second.namespace.clone()].into());
    for (name, scope, what) in [
        ("wbe", WatchScope::All, "no controller called `wbe`"),
        ("web", WatchScope::Namespaces(BTreeSet::new()), "the list of namespaces is empty"),
        ("web", mixture, "`WatchScope::All` alone"),
    ] {
        let Err(error) = operator.operator().change_namespaces(name, scope).await else { panic!("{what}") };
        assert!(error.to_string().contains(what), "{error}");
    }
    assert_eq!(operator.settled().await?.runs, [].into());
    operator.stop().await;
    let stopped = operator.operator().change_namespaces("web", WatchScope::All).await;
    assert!(matches!(stopped, Err(Error::NotRunning)), "{stopped:?}");
    Ok(())
}

/// A controller that works in all namespaces, whose list-watches others join.
fn everywhere(two: &Two) -> ControllerBuilder<Script> {
    let wide = Script::<TestResource>::idle().controller().name("wide");
    wide.label_selector(two.selector()).watches(two.maps())
}

/// The watches of all namespaces are late, as after a cut, or while their server is slow.
#[operator_test]
async fn who_joins_a_list_watch_that_is_behind_is_told_nothing_that_is_not_so() -> Result<()> {
    let two = Two::new("namespaces-behind").await?;
    let (first, second) = (&two.first, &two.second);
    let late = ["v1/testresources", "v1/configmaps"].map(Held::watches_of);
    late.iter().for_each(Held::release);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let script = Script::new({
        let told = Arc::clone(&told);
        move |_, primary: Arc<TestResource>, context| {
            let map = context.secondaries::<ConfigMap>().map_or(0, |maps| maps.len());
            let what = if context.primary_is_deleted() { "is gone".to_owned() } else { format!("has {map}") };
            told.lock().push(format!("{} {what}", primary.name_any()));
            Box::pin(async { Ok(UpdateControl::no_update()) })
        }
    });
    let narrow = two.controller(&script).watches(two.maps()).trigger_on_all_events(true);
    let builder = first.operator().transport(late[0].hook()).transport(late[1].hook());
    let operator = TestOperator::start(builder.register(everywhere(&two)).register(narrow)).await?;
    operator.settled().await?;
    late.iter().for_each(Held::hold);
    two.create(first, "young").await?;
    two.map(first, "young", "a").await?;
    // The one controller sees the deletion, while the others still know the object.
    first.resources.delete("one", &DeleteParams::default()).await?;
    let heard = |what: &str| told.lock().iter().any(|told| told == what);
    eventually("what the narrow watches show", async || {
        Ok((heard("young has 1") && heard("one is gone")).then_some(()))
    })
    .await?;
    told.lock().clear();

    operator.operator().change_namespaces("web", WatchScope::All).await?;
    // The controller gets the primary that only the other one knew.
    eventually("the run of `two`", async || Ok(heard("two has 0").then_some(()))).await?;
    operator.operator().change_namespaces("web", only([first, second])).await?;
    operator.operator().change_namespaces("web", WatchScope::All).await?;
    late.iter().for_each(Held::release);
    first.patch("young", json!({ "spec": { "value": "seen" } })).await?;
    operator.settled().await?;
    let told = told.lock().clone();
    assert!(told.iter().all(|told| ["two has 0", "young has 1"].contains(&told.as_str())), "{told:?}");
    Ok(())
}

#[operator_test]
async fn what_is_kept_of_an_end_goes_with_its_namespace() -> Result<()> {
    let two = Two::new("namespaces-ends").await?;
    let (first, second) = (&two.first, &two.second);
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        let fails = context.primary_is_deleted();
        let name = primary.name_any();
        Box::pin(async move {
            anyhow::ensure!(!fails, "the other system of {name} is down");
            Ok(UpdateControl::no_update())
        })
    });
    first.failures.expect("the other system of one is down");
    let controller = two.controller(&script).trigger_on_all_events(true);
    let operator = two.start(controller).await?;
    operator.settled().await?;
    first.resources.delete("one", &DeleteParams::default()).await?;
    eventually("the failed run", async || Ok((script.runs.of("one").len() > 1).then_some(()))).await?;
    operator.operator().change_namespaces("web", only([second])).await?;
    assert_eq!(operator.settled().await?.runs_of(&second.key("two")), 1);
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, footprint.leftovers), (1, Vec::new()), "nothing is left of `one`");
    Ok(())
}

/// The namespaces change before the condition of a node is met for the first time, and once more when its source runs.
#[operator_test]
async fn a_conditional_source_starts_in_the_namespaces_of_that_moment_and_follows_later_ones() -> Result<()> {
    let (two, switch) = (Two::new("namespaces-conditional").await?, Switch::off());
    let (first, second) = (&two.first, &two.second);
    let workflow = workflow_of_one(wanted_map("a").needs(switch.clone()))?;
    let controller = two.controller(&Script::idle()).workflow(&workflow);
    let operator = two.start(controller).await?;
    operator.settled().await?;
    operator.operator().change_namespaces("web", only([second])).await?;
    operator.settled().await?;
    two.lists.take();
    switch.turn(true);
    operator.settled().await?;
    let of_maps = |lists: BTreeSet<String>| lists.into_iter().filter(|line| line.contains("configmaps"));
    let of = |scene: &Scene| ["list", "watch"].map(|verb| format!("{verb} configmaps {}", scene.namespace));
    assert_eq!(of_maps(two.lists.take()).collect::<Vec<_>>(), of(second));
    // What is deleted comes back: the source shows it.
    second.api::<ConfigMap>().delete("two-a", &DeleteParams::default()).await?;
    operator.settled().await?;
    second.api::<ConfigMap>().get("two-a").await?;
    operator.operator().change_namespaces("web", only([first, second])).await?;
    operator.settled().await?;
    assert_eq!(of_maps(two.lists.take()).collect::<Vec<_>>(), of(first), "the second one goes on");
    first.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
    operator.settled().await?;
    first.api::<ConfigMap>().get("one-a").await?;
    Ok(())
}

/// On several threads, with real time: the former openings end while the sources follow other namespaces.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_run_starts_in_a_new_namespace_before_it_is_listed() -> Result<()> {
    for _ in 0..10 {
        let two = Two::on("namespaces-early").await?;
        let (first, second) = (&two.first, &two.second);
        two.map(second, "two", "a").await?;
        let found: Arc<Mutex<Vec<usize>>> = Arc::default();
        let script = Script::new({
            let found = Arc::clone(&found);
            move |_, primary: Arc<TestResource>, context| {
                if primary.name_any() == "two" {
                    found.lock().push(context.secondaries::<ConfigMap>().map_or(0, |maps| maps.len()));
                }
                Box::pin(async { Ok(UpdateControl::no_update()) })
            }
        });
        // The first namespace is never listed: the right is missing.
        let refused = format!("/api/v1/namespaces/{}/configmaps", first.namespace);
        let refuses = TransportHook::around(move |request, inner| {
            let is_refused = request.uri().path() == refused;
            async move { if is_refused { Err("refused".into()) } else { inner.send(request).await } }
        });
        let controller = two.controller(&script).watches(two.maps());
        let operator = first.operator().transport(refuses).register(controller);
        let operator = TestOperator::start_unsynced(operator).await?;
        operator.operator().change_namespaces("web", only([second])).await?;
        eventually("the run of `two`", async || Ok((!found.lock().is_empty()).then_some(()))).await?;
        assert!(found.lock().iter().all(|found| *found == 1), "{:?}", found.lock());
        operator.stop().await;
    }
    Ok(())
}
