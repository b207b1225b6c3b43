//! A run may be dropped at every await.

use std::{future::Future, pin::pin, task::Poll};

use super::{
    activation::{Scripted, Woken},
    *,
};
use crate::{
    event_source::{EventSink, SourceDeclaration},
    reconciler::WorkflowSurroundings,
};

/// Polls so often, a round trip apart, and drops what is not ready then.
async fn polled<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Poll::Ready(answer) = futures::poll!(&mut future) {
            return Some(answer);
        }
        sleep(ROUND_TRIP / 2).await;
    }
    None
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_behind() {
    let mut polls = 0;
    loop {
        let (source, log) = (Scripted::new(), Log::default());
        source.synced.send_replace(true);
        let workflows = WorkflowSurroundings::new(2);
        let offline = Offline::new(OfflineParts {
            conditional: vec![Arc::new(source.clone()) as Arc<dyn SourceDeclaration>],
            sink: Arc::new(Woken::default()) as Arc<dyn EventSink>,
            workflows: workflows.clone(),
            ..OfflineParts::default()
        });
        let under_way = Arc::new(AtomicUsize::new(0));
        let fake = |name: &str| Fake { under_way: Arc::clone(&under_way), ..Fake::named(name, &log) };
        let sources = vec![DependentSource::shared(Arc::new(source.clone()))];
        let all = workflow([
            fake("a").node(),
            fake("b").node(),
            fake("c").node(),
            fake("d").node().after(Called("a")).after(Called("b")).after(Called("c")),
            fake("e").existing().node().only_if(Says::no("not wanted").met()).after(Called("a")),
            Fake { sources, ..fake("route") }.node().needs(Says::yes()),
        ]);
        let primary = primary("one");
        let context = offline.context(&primary);
        let result = polled(all.reconcile(&primary, &context), polls).await;
        // What was claimed stays claimed, as the answer was given; it goes with the primary.
        offline.shared.scopes.gone(context.primary_key());
        sleep(ROUND_TRIP).await;
        assert_eq!(under_way.load(Ordering::SeqCst), 0, "after {polls} polls");
        assert_eq!(workflows.dependents.available_permits(), 2, "after {polls} polls");
        assert_eq!(source.running.load(Ordering::SeqCst), 0, "after {polls} polls");
        if let Some(result) = result {
            assert_eq!(log.take().len(), 5, "{result}");
            break;
        }
        polls += 1;
    }
    assert!(polls > 4, "only {polls} polls");
}
