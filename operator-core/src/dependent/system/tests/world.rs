//! A controller's primaries, a clock on the wall, and calls that tell when they are made.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    dependent::system::{Backoff, CallError, CallKind, RecordId, System},
    environment::WallClock,
    error::BoxError,
    event_source::{
        EventSource, PrimaryScopes, Sources, Wiring,
        wiring_for_tests::{Recorder, wiring},
    },
    observe::{Observation, Observer, Observers, SourceHealth, SourceIndex},
    resource::ObjectKey,
};

pub(super) fn zone(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

pub(super) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Begins with the test, at the beginning of time.
#[derive(Debug)]
pub(super) struct Wall(Instant);

impl WallClock for Wall {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.0.elapsed().as_millis()).unwrap();
        Timestamp::from_millisecond(elapsed).unwrap()
    }
}

/// A system, and those who call it.
#[derive(Clone)]
pub(super) struct World {
    pub(super) system: System,
    pub(super) wall: Arc<Wall>,
    /// Of the primaries `a` to `h`.
    pub(super) scopes: Arc<PrimaryScopes>,
    made: Arc<AtomicUsize>,
}

impl World {
    pub(super) fn of(system: System) -> Self {
        let scopes = Arc::<PrimaryScopes>::default();
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            scopes.seen(&zone(name), name);
        }
        Self { system, wall: Arc::new(Wall(Instant::now())), scopes, made: Arc::default() }
    }

    /// How many calls were made.
    pub(super) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    /// Calls for the primary of that name, and its one record.
    pub(super) async fn call<T>(
        &self,
        name: &str,
        call: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, CallError> {
        let (primary, token) = (zone(name), format!("{name}/record"));
        let record = RecordId { scope: self.scopes.of(&primary), token: &token };
        let counted = async {
            self.made.fetch_add(1, Ordering::Relaxed);
            call.await
        };
        let is_refusal = |error: &BoxError| error.to_string() == "no";
        self.system.call(record, CallKind::Create, &*self.wall, is_refusal, counted).await
    }

    /// A call that takes this long and is answered.
    pub(super) async fn takes(&self, name: &str, time: Duration) -> Result<(), CallError> {
        let call = async {
            tokio::time::sleep(time).await;
            Ok(())
        };
        self.call(name, call).await
    }

    /// A call that fails at once.
    pub(super) async fn fails(&self, name: &str, words: &'static str) -> CallError {
        self.call::<()>(name, async { Err(words.into()) }).await.expect_err("it fails")
    }

    /// Calls for several primaries, until the system is down.
    pub(super) async fn goes_down(&self) {
        for name in ["a", "b", "c", "d", "e"] {
            self.fails(name, "no route").await;
        }
        assert!(matches!(self.health(), SourceHealth::Unhealthy { .. }));
    }

    pub(super) fn health(&self) -> SourceHealth {
        self.system.health(&*self.wall)
    }

    /// Whether nothing is kept about any record.
    pub(super) fn is_empty(&self) -> bool {
        let kept = |_: &ObjectKey, backoff: &mut Backoff| (!backoff.0.is_empty()).then_some(());
        self.scopes.find(self.system.shared.slot, kept).is_none()
    }
}

/// The reports about sources.
#[derive(Debug, Default)]
pub(super) struct Reported(pub(super) Mutex<Vec<String>>);

impl Observer for Reported {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::SourceHealth { source, health, .. } = observation {
            let health = match health {
                SourceHealth::Unhealthy { reason, .. } => reason.clone(),
                health => format!("{health:?}"),
            };
            self.0.lock().push(format!("{source}: {health}"));
        }
    }
}

/// A controller's start, with the system's event source.
pub(super) fn started(world: &World, reported: &Arc<Reported>) -> Arc<dyn EventSource> {
    let wiring = wiring(Arc::new(Recorder::default()), &[]);
    let wiring = Wiring {
        controller: Arc::from("zones"),
        environment: wiring.environment.clone().with_wall_clock(Arc::clone(&world.wall) as _),
        observers: Observers::new(vec![Arc::clone(reported) as _]),
        ..wiring
    };
    let mut sources = Sources::default();
    world.system.source().declaration.build(SourceIndex(0), &wiring, &mut sources);
    let source = sources.all().next().expect("it was built");
    Arc::clone(source)
}
