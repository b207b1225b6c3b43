//! Sources outside the cluster: a poll that failed is repeated, and leftovers of own writes aren't.

use integration_tests::prelude::*;
use operator_core::{
    CachingInboundEventSource, PerResourcePollingEventSource, event_source::ExternalResource,
};

use super::{calm, pass, scene, under};

/// What another system keeps.
#[derive(Clone, Debug, PartialEq)]
struct Kept(&'static str);

impl ExternalResource for Kept {
    type Id = ();

    fn id(&self) {}
}

#[tokio::test(start_paused = true)]
async fn after_polls_that_failed_the_next_ones_come_in_their_turn() -> Result<()> {
    let (scene, polls) = (scene().await?, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&polls);
    let minute = Duration::from_secs(60);
    let source = PerResourcePollingEventSource::new("kept", minute, move |_: Arc<TestResource>| {
        let poll = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move { if poll <= 3 { Err(std::io::Error::other("away")) } else { Ok(vec![Kept("there")]) } }
    });
    let script = Script::idle();
    let controller = scene.controller(&script).watches(source.spread(0.0));
    let operator = under(&calm(), &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(3 * 60 + 10).await;
    assert_eq!((polls.load(Ordering::SeqCst), script.runs.count()), (3, 1));
    assert_eq!(operator.unhealthy_sources().await.len(), 1, "no poll works");
    pass(60).await;
    assert_eq!((polls.load(Ordering::SeqCst), script.runs.count()), (4, 2), "the fourth has news");
    assert_eq!(operator.unhealthy_sources().await, []);
    pass(5 * 60).await;
    assert_eq!((polls.load(Ordering::SeqCst), script.runs.count()), (9, 2));
    operator.stop().await;
    Ok(())
}

/// A run has changed something; then the other system reports that it is gone, and that it exists again as it was at
/// first. The second report is news, and not an old answer that the run's write has overtaken.
#[tokio::test(start_paused = true)]
async fn what_comes_back_as_it_was_before_our_write_is_seen() -> Result<()> {
    let scene = scene().await?;
    let source = CachingInboundEventSource::new("kept", |_: Arc<TestResource>| async {
        Ok::<_, std::io::Error>(Vec::<Kept>::new())
    });
    let handle = source.handle();
    let read: Arc<Mutex<Vec<Option<&'static str>>>> = Arc::default();
    let noted = Arc::clone(&read);
    let script = Script::new(move |run, _: Arc<TestResource>, context| {
        let noted = Arc::clone(&noted);
        Box::pin(async move {
            let kept = context.external_source::<Kept>(None).context("there is such a source")?;
            noted.lock().push(context.external::<Kept>().first().map(|kept| kept.0));
            if run == 2 {
                kept.updated(context.primary_key(), &Kept("first"), Arc::new(Kept("ours")));
            }
            Ok(UpdateControl::no_update())
        })
    });
    let operator = under(&calm(), &scene, scene.controller(&script).watches(source)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let key = scene.key("one");
    handle.put(&key, vec![Kept("first")]);
    pass(10).await;
    handle.delete(&key, &());
    pass(10).await;
    handle.put(&key, vec![Kept("first")]);
    pass(10).await;
    assert_eq!(*read.lock(), [None, Some("first"), None, Some("first")], "what each run has read");
    operator.stop().await;
    Ok(())
}
