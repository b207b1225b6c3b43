//! Custom event sources, written as one function.

use std::{future::Future, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;

use super::{EventSource, SourceContents, SourceDeclaration, SourceEvents, Sources, Wiring};
use crate::{
    environment::fenced_future,
    observe::{SourceHealth, SourceIndex},
};

type Follow = Arc<dyn Fn(SourceEvents) -> BoxFuture<'static, ()> + Send + Sync>;

/// After a panic the function is called again after this time, and after twice as long each further time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// An origin of events outside the cluster, or a timer, as one asynchronous function that triggers primaries. JOSDK:
/// `TimerEventSource`. For resources that another system holds or pushes, there are sources with a cache, such as
/// [`PollingEventSource`](crate::PollingEventSource).
///
/// The function is called when the controller starts and dropped when it stops. It may return: from then on the source
/// is quiet, and healthy. Each start calls it again. If it panics, the source is unhealthy, and the function is called
/// again after a pause.
///
/// If the first run has to wait for a source, implement [`EventSource`] and [`SourceDeclaration`] instead.
///
/// ```
/// use std::time::Duration;
///
/// use operator_core::FunctionEventSource;
///
/// // Triggers every primary once a minute, whatever happens.
/// let heartbeat = FunctionEventSource::new("heartbeat", |events| async move {
///     let mut minutes = tokio::time::interval(Duration::from_secs(60));
///     loop {
///         minutes.tick().await;
///         events.wake_all();
///     }
/// });
///
/// // Triggers the primary whose name arrives from elsewhere.
/// let (sender, _) = tokio::sync::broadcast::channel::<String>(16);
/// let names = sender.clone();
/// let inbound = FunctionEventSource::new("inbound", move |events| {
///     let mut names = names.subscribe();
///     async move {
///         while let Ok(name) = names.recv().await {
///             events.wake(&operator_core::ObjectKey::namespaced("shop", &name));
///         }
///     }
/// });
/// ```
#[must_use = "a source does nothing until it is given to a controller"]
pub struct FunctionEventSource {
    name: String,
    follow: Follow,
}

impl FunctionEventSource {
    /// A source with that name; the primaries that `follow` triggers are reconciled.
    pub fn new<F>(name: impl Into<String>, follow: impl Fn(SourceEvents) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self { name: name.into(), follow: Arc::new(move |events| follow(events).boxed()) }
    }
}

debug_of!(FunctionEventSource: "FunctionEventSource", |it| name: it.name);

impl SourceDeclaration for FunctionEventSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn contents(&self) -> SourceContents {
        SourceContents::Nothing
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        sources.add_source(Arc::new(Following {
            name: self.name.clone(),
            follow: Arc::clone(&self.follow),
            events: wiring.events(index, &self.name),
            health: Arc::new(Mutex::new(SourceHealth::Healthy)),
        }));
    }
}

/// A function that a controller has started.
struct Following {
    name: String,
    follow: Follow,
    events: SourceEvents,
    health: Arc<Mutex<SourceHealth>>,
}

impl EventSource for Following {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let (follow, events, health) =
            (Arc::clone(&self.follow), self.events.clone(), Arc::clone(&self.health));
        let report = move |now: SourceHealth, events: &SourceEvents| {
            events.report(&now);
            *health.lock() = now;
        };
        async move {
            let mut pause = FIRST_PAUSE;
            loop {
                // The call itself is user code, too, not only the future that it returns.
                if fenced_future(async { follow(events.clone()).await }).await.is_ok() {
                    break;
                }
                let reason = "its function panicked".to_owned();
                report(SourceHealth::Unhealthy { reason, advice: None }, &events);
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                report(SourceHealth::Healthy, &events);
            }
            // It has nothing more to report. A task that ended would count as failed.
            std::future::pending().await
        }
        .boxed()
    }

    fn health(&self) -> SourceHealth {
        self.health.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_source::wiring_for_tests::{Recorder, wiring};

    /// Builds a source as a controller does it.
    fn built(source: &FunctionEventSource, wiring: &Wiring) -> Arc<dyn EventSource> {
        let mut sources = Sources::default();
        source.build(SourceIndex(3), wiring, &mut sources);
        Arc::clone(sources.all().next().expect("the source was added"))
    }

    #[tokio::test(start_paused = true)]
    async fn wakes_what_its_function_names() {
        let recorder = Arc::new(Recorder::default());
        let wiring = wiring(Arc::clone(&recorder), &["shop/a", "shop/b"]);
        let source = FunctionEventSource::new("own", |events| async move { events.wake_all() });
        let source = built(&source, &wiring);
        assert!(source.synced().now_or_never().is_some(), "there is nothing to wait for");
        assert!(source.run().now_or_never().is_none(), "its function has ended, it has not");
        assert_eq!(recorder.related(), ["shop/a by 3", "shop/b by 3"]);
        assert_eq!(source.health(), SourceHealth::Healthy);
        assert!(source.caught_up().await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_makes_it_unhealthy_until_it_runs_again() {
        let recorder = Arc::new(Recorder::default());
        let wiring = wiring(Arc::clone(&recorder), &[]);
        let calls = Arc::new(Mutex::new(0));
        let source = FunctionEventSource::new("own", move |_| {
            *calls.lock() += 1;
            let call = *calls.lock();
            async move {
                if call < 3 {
                    panic!("user code");
                }
                std::future::pending().await
            }
        });
        let source = built(&source, &wiring);
        let running = tokio::spawn(source.run());
        tokio::time::sleep(FIRST_PAUSE / 2).await;
        assert!(matches!(source.health(), SourceHealth::Unhealthy { .. }));
        tokio::time::sleep(FIRST_PAUSE * 4).await;
        assert_eq!(source.health(), SourceHealth::Healthy);
        running.abort();
    }
}
