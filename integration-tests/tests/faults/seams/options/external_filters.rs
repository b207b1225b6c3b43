//! The filters of sources outside the cluster: a filtered resource triggers nothing, and is known all the same.

use integration_tests::prelude::*;
use operator_core::{
    CachingInboundEventSource, PerResourcePollingEventSource, PollingEventSource,
    event_source::{ExternalResource, SourceDeclaration},
};

use super::{calm, pass, scene, under};

/// How full something of a primary is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level(u32);

impl ExternalResource for Level {
    type Id = ();

    fn id(&self) {}
}

/// The other system's data about the one primary.
type System = Arc<Mutex<Option<Level>>>;

const PERIOD: Duration = Duration::from_secs(10);

/// Only high levels are reported when they come and go, only growth is reported in between, and 13 never.
macro_rules! filtered {
    ($source:expr) => {
        $source
            .on_add(|level: &Level| level.0 >= 10)
            .on_update(|new: &Level, old: &Level| new.0 > old.0)
            .on_delete(|last: &Level| last.0 >= 10)
            .generic_filter(|level: &Level| level.0 != 13)
    };
}

/// Each step: the other system's data from now on, and whether it triggers the primary.
const STEPS: [(Option<u32>, bool); 10] = [
    (Some(5), false),
    (Some(13), false),
    (Some(20), true),
    (Some(15), false),
    (None, true),
    (Some(30), true),
    (Some(3), false),
    (None, false),
    (Some(13), false),
    (None, false),
];

async fn each_step_wakes_or_not(
    scene: Scene,
    source: impl SourceDeclaration + 'static,
    set: impl Fn(&ObjectKey, Option<Level>),
) -> Result<()> {
    let read = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&read);
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        noted.lock().push(context.external::<Level>().first().map(|level| level.0));
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    assert_eq!(script.runs.count(), 1);
    for (number, (level, wakes)) in STEPS.into_iter().enumerate() {
        let before = script.runs.count();
        set(&scene.key("one"), level.map(Level));
        pass(60).await;
        let runs = script.runs.count() - before;
        assert_eq!(runs, usize::from(wakes), "step {number}, {level:?}: runs");
        // A change of the primary leads to a run in any case, which reads what there is.
        scene.set("one", &number.to_string()).await?;
        pass(1).await;
        assert_eq!(read.lock().last(), Some(&level), "step {number}: what a run reads");
    }
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_filters_of_a_poll_of_everything_say_whom_it_wakes() -> Result<()> {
    let (scene, system) = (scene().await?, System::default());
    let (polled, key) = (Arc::clone(&system), scene.key("one"));
    let source = PollingEventSource::new("levels", PERIOD, move || {
        let found: BTreeMap<_, _> = polled.lock().iter().map(|level| (key.clone(), vec![*level])).collect();
        async { Ok::<_, std::io::Error>(found) }
    });
    each_step_wakes_or_not(scene, filtered!(source), move |_, level| *system.lock() = level).await
}

#[tokio::test(start_paused = true)]
async fn the_filters_of_a_poll_for_each_primary_say_whom_it_wakes() -> Result<()> {
    let (scene, system) = (scene().await?, System::default());
    let polled = Arc::clone(&system);
    let source = PerResourcePollingEventSource::new("levels", PERIOD, move |_: Arc<TestResource>| {
        let found: Vec<_> = polled.lock().iter().copied().collect();
        async { Ok::<_, std::io::Error>(found) }
    });
    each_step_wakes_or_not(scene, filtered!(source), move |_, level| *system.lock() = level).await
}

#[tokio::test(start_paused = true)]
async fn the_filters_of_a_source_that_is_pushed_to_say_whom_it_wakes() -> Result<()> {
    let scene = scene().await?;
    let source = CachingInboundEventSource::new("levels", |_: Arc<TestResource>| async {
        Ok::<_, std::io::Error>(Vec::<Level>::new())
    });
    let handle = source.handle();
    let push = move |key: &ObjectKey, level: Option<Level>| match level {
        Some(level) => handle.put(key, vec![level]),
        None => handle.delete(key, &()),
    };
    each_step_wakes_or_not(scene, filtered!(source), push).await
}
