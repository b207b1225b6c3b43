//! The status shows a node's resources in a state that is no older than the one that the run reports.

use integration_tests::prelude::*;
use operator_core::{
    Condition, Context, Run, Verdict, Wire as _,
    dependent::{Deletion, External, Records, Token},
    resource::KubeObject,
    the,
};

use super::first;

/// The data that the status function got in each run: whether everything is ready, and a value of the node's resource.
type Told<T> = Arc<Mutex<Vec<(bool, Option<T>)>>>;

/// A status function that notes its arguments.
fn noting<P: KubeObject, T: Send + 'static>(
    told: Told<T>,
    value: impl Fn(&Run<P>) -> Option<T> + Send + Sync + 'static,
) -> impl Fn(&P, &Run<P>) -> Option<TestStatus> + Send + Sync + 'static {
    move |_, run| {
        told.lock().push((run.all_ready(), value(run)));
        None
    }
}

/// Another writer's answer to a map, as a cluster answers by a status.
fn answer(map: &ConfigMap) -> Option<String> {
    map.data.as_ref()?.get("answer").cloned()
}

fn is_answered(map: &ConfigMap) -> bool {
    answer(map).is_some()
}

/// Has the map answered, and is met once the operator knows the answer.
struct Answered(Api<ConfigMap>);

impl Condition<TestResource, ConfigMap> for Answered {
    async fn check(
        &self,
        map: &Arc<ConfigMap>,
        _: &Arc<TestResource>,
        cx: &Context<TestResource>,
    ) -> Result<Verdict, BoxError> {
        let answers = Patch::Merge(json!({ "data": { "answer": "yes" } }));
        self.0.patch(&map.name_any(), &PatchParams::default(), &answers).await?;
        until(cx, map, |map| map.is_some_and(|map| is_answered(&map))).await?;
        Ok(Verdict::met())
    }
}

/// Waits until the operator knows that of a map.
async fn until(
    cx: &Context<TestResource>,
    map: &ConfigMap,
    is_so: impl Fn(Option<Arc<ConfigMap>>) -> bool,
) -> Result<()> {
    let key = ObjectKey::of(map);
    while !is_so(cx.get(&key)?) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

fn answer_of_first(run: &Run<TestResource>) -> Option<String> {
    run.get(first).as_deref().and_then(answer)
}

#[operator_test]
async fn a_status_that_says_ready_shows_what_the_condition_has_judged() -> Result<()> {
    let scene = Scene::new("status-values-ready").await?;
    let told = Told::default();
    let workflow =
        Workflow::builder().nodes((first.ready(Answered(scene.api())).ready(is_answered),)).build()?;
    let controller =
        scene.managed(&Script::idle(), &workflow).status(noting(Arc::clone(&told), answer_of_first));
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let told = told.lock();
    assert!(!told.is_empty() && told.iter().all(|told| *told == (true, Some("yes".to_owned()))), "{told:?}");
    Ok(())
}

#[operator_test]
async fn what_the_condition_has_judged_is_shown_although_it_is_gone_since() -> Result<()> {
    let scene = Scene::new("status-values-gone").await?;
    let told = Told::default();
    let maps = scene.api::<ConfigMap>();
    let script = Script::new(move |number, _: Arc<TestResource>, cx| {
        let maps = maps.clone();
        Box::pin(async move {
            let map = cx.so_far()?.get(first).context("the workflow has run")?;
            if number == 1 {
                maps.delete(&map.name_any(), &DeleteParams::default()).await?;
                until(cx, &map, |map| map.is_none()).await?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let workflow =
        Workflow::builder().nodes((first.ready(Answered(scene.api())).ready(is_answered),)).build()?;
    let controller = scene.managed(&script, &workflow).status(noting(Arc::clone(&told), answer_of_first));
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let told = told.lock();
    assert!(told.len() > 1 && told.iter().all(|told| *told == (true, Some("yes".to_owned()))), "{told:?}");
    Ok(())
}

#[operator_test]
async fn what_the_reconciler_writes_after_its_workflow_is_shown() -> Result<()> {
    let scene = Scene::new("status-values-own").await?;
    let told = Told::default();
    let script = Script::new(move |_, _: Arc<TestResource>, cx| {
        Box::pin(async move {
            let run = cx.run().await?;
            let map = run.get(first).context("there is a map")?;
            let mut map = ConfigMap::clone(&map);
            (map.metadata.managed_fields, map.metadata.resource_version) = (None, None);
            map.data = Some([("value".to_owned(), "written later".to_owned())].into());
            cx.apply(&map).await?;
            anyhow::ensure!(run.get(first).as_deref().and_then(value_of) == Some("written later"));
            Ok(UpdateControl::no_update())
        })
    });
    let value = |run: &Run<TestResource>| run.get(first).as_deref().and_then(value_of).map(str::to_owned);
    let workflow = Workflow::builder().nodes((first,)).explicit_invocation();
    let controller = scene.controller(&script).workflow(workflow).status(noting(Arc::clone(&told), value));
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH configmaps/one-first -> 201", "PATCH configmaps/one-first -> 200"]);
    assert_eq!(*told.lock(), [(true, Some("written later".to_owned()))]);
    Ok(())
}

/// Counts how often it is read.
#[derive(Default)]
struct Meter(Arc<AtomicUsize>);

impl External<TestResource> for Meter {
    type Resource = usize;
    type Want = Option<usize>;

    fn want(&self, _: &TestResource) -> Option<usize> {
        Some(0)
    }

    async fn observe(&self, _: &str) -> Result<Option<usize>, BoxError> {
        Ok(Some(self.0.fetch_add(1, Ordering::SeqCst) + 1))
    }

    async fn create(&self, want: &usize, _: &Token) -> Result<(String, usize), BoxError> {
        Ok(("meter".to_owned(), *want))
    }

    /// It shows what it counts, whatever is wanted.
    fn matches(&self, _: &usize, _: &usize) -> bool {
        true
    }

    async fn update(&self, _: &str, actual: &usize, _: &usize) -> Result<usize, BoxError> {
        Ok(*actual)
    }

    async fn delete(&self, _: &str) -> Result<Deletion, BoxError> {
        Ok(Deletion::Gone)
    }
}

#[operator_test]
async fn what_is_elsewhere_is_shown_as_its_condition_has_judged_it_and_is_not_read_for_that() -> Result<()> {
    let scene = Scene::new("status-values-elsewhere").await?;
    let (read, told) = (Arc::new(AtomicUsize::new(0)), Told::default());
    let meter = Records::<_, TestResource>::new(Meter(Arc::clone(&read))).id_of(|_| "meter".to_owned());
    let workflow = Workflow::builder().nodes((meter.ready(|read: &usize| *read == 1),)).build()?;
    let shown = |run: &Run<TestResource>| run.get(the::<Meter>()).as_deref().copied();
    let controller = scene.managed(&Script::idle(), &workflow).status(noting(Arc::clone(&told), shown));
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(*told.lock(), [(true, Some(1))], "the first one was judged");
    assert_eq!(read.load(Ordering::SeqCst), 1, "by the node alone, which tells its condition");
    Ok(())
}
