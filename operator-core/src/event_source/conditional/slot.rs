//! One source that runs only while it is needed.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Claimant,
    claims::{Claims, Start},
};
use crate::{
    event_source::{
        Divisions, EventSink, Opening, Opens, PrimaryChange, PrimaryScope, ScopeSlot, SourceDeclaration,
        SourcePart, Sources, WatchScope, Wiring, run_and_tell,
    },
    observe::{Cause, Observation, SourceHealth, SourceIndex},
    resource::{Departed, ObjectKey},
};

/// How often a run that waits for a source looks whether it works.
const LOOK: Duration = Duration::from_secs(1);

/// A declared source, and its running instance.
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) declaration: Arc<dyn SourceDeclaration>,
    pub(super) index: SourceIndex,
    pub(super) wiring: Wiring,
    /// A run has added it.
    pub(super) is_added: bool,
    state: Arc<Mutex<SlotState>>,
    /// Notified when more of it can be seen.
    shows_more: Arc<Notify>,
    /// The slot in which the primaries keep their claims.
    claimed: ScopeSlot,
}

/// Why a source can't be read yet.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) reason: String,
    /// Whether it takes more than time.
    pub(crate) is_failure: bool,
}

/// The claims of a primary, in its scope: they are released when the primary is gone.
#[derive(Default)]
struct Claimed(Weak<Slot>, Option<ObjectKey>);

impl Drop for Claimed {
    fn drop(&mut self) {
        if let (Some(slot), Some(primary)) = (self.0.upgrade(), &self.1) {
            slot.change(|claims| claims.gone(primary));
        }
    }
}

/// Its lock may be taken while a source, or that of the primaries, holds its own: no source is called under it.
#[derive(Default)]
struct SlotState {
    claims: Claims,
    running: Option<RunningSource>,
    /// The namespaces of the controller, if they have changed.
    scope: Option<WatchScope>,
    /// The controller has stopped.
    closed: bool,
}

/// One start of the source; its tasks end with it.
struct RunningSource {
    /// Ends once everything has been seen.
    telling: AbortOnDropHandle<()>,
    tasks: Vec<AbortOnDropHandle<()>>,
    sources: Arc<Sources>,
}

impl Slot {
    pub(super) fn new(
        declaration: Arc<dyn SourceDeclaration>,
        index: SourceIndex,
        wiring: Wiring,
        is_added: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|of| {
            let concerned = Concerned { sink: Arc::clone(&wiring.sink), of: Weak::clone(of) };
            let wiring = Wiring { sink: Arc::new(concerned), ..wiring };
            let (name, state, claimed) = (declaration.name(), Arc::default(), ScopeSlot::unique());
            Self { name, declaration, index, wiring, is_added, state, shows_more: Arc::default(), claimed }
        })
    }

    /// From now on the end of the primary releases its claims. Returns false if the primary is gone.
    fn ends_with(self: &Arc<Self>, scope: PrimaryScope<'_>) -> bool {
        let claimed = |claimed: &mut Claimed| {
            claimed.0 = Arc::downgrade(self);
            claimed.1.get_or_insert_with(|| scope.primary().clone());
        };
        scope.slot(self.claimed).change(claimed).is_some()
    }

    /// A node of a primary claims it, or the controller for all primaries, until it is closed. Returns whether
    /// everything has been seen; otherwise the primary is triggered when it has been.
    pub(super) fn claim(self: &Arc<Self>, scope: PrimaryScope<'_>, claimant: Option<Claimant>) -> bool {
        self.claim_and(scope, claimant, Claims::is_synced_or_waits)
    }

    /// The same for a run that waits itself until the primary can read it, but not for long: it isn't triggered then.
    pub(super) fn start_for(self: &Arc<Self>, scope: PrimaryScope<'_>, claimant: Claimant) {
        self.claim_and(scope, Some(claimant), Claims::is_synced_or_attends);
    }

    /// Waits until the primary can read it, or it doesn't work. Takes as long as that takes.
    pub(super) async fn shown_to(&self, primary: &ObjectKey) {
        loop {
            let shows_more = self.shows_more.notified();
            if self.state.lock().claims.is_synced_for(primary) || self.trouble(primary).is_failure {
                return;
            }
            // The health of a source tells nobody here.
            drop(tokio::time::timeout(LOOK, shows_more).await);
        }
    }

    fn claim_and(
        self: &Arc<Self>,
        scope: PrimaryScope<'_>,
        claimant: Option<Claimant>,
        is_synced: impl Fn(&mut Claims, &ObjectKey) -> bool,
    ) -> bool {
        let mut built = None;
        loop {
            let mut state = self.state.lock();
            // Under the lock: a primary that is gone later releases its claims under the same lock.
            if state.closed || !self.ends_with(scope) {
                return false;
            }
            if state.running.is_none() {
                let fits = |built: &mut (_, _, _, Option<WatchScope>)| built.3 == state.scope;
                let Some((sources, opening, seen, _)) = built.take_if(fits) else {
                    let scope = state.scope.clone();
                    drop(state);
                    let (sources, mut opening) = self.build(scope.clone());
                    // Objects that are given by hand are complete at once; everything else is waited for.
                    let seen = self.wiring.given.is_some() && opening.is_open_at_once();
                    built = Some((sources, opening, seen, scope));
                    continue;
                };
                let start = self.start(&mut state, sources, opening);
                if seen {
                    state.claims.synced(start);
                }
            }
            state.claims.claim(scope.primary(), claimant);
            return is_synced(&mut state.claims, scope.primary());
        }
    }

    /// Called without the lock, and before anything is recorded: this may be user code, which may panic, or trigger
    /// other primaries.
    fn build(&self, scope: Option<WatchScope>) -> (Sources, Opening) {
        let wiring = match scope {
            Some(scope) => &Wiring { scope, ..self.wiring.clone() },
            None => &self.wiring,
        };
        let mut sources = Sources::none_in(wiring);
        self.declaration.build(self.index, wiring, &mut sources);
        let opening = self.opening(&sources, &wiring.scope);
        (sources, opening)
    }

    fn opening(&self, sources: &Sources, scope: &WatchScope) -> Opening {
        let all: Vec<_> = sources.all().cloned().collect();
        Opening::new(Divisions::of_controller(scope, &self.wiring.primary_type), &all)
    }

    /// The controller works in other namespaces from now on.
    pub(super) fn change_namespaces(&self, scope: &WatchScope) {
        let mut state = self.state.lock();
        let before = state.scope.replace(scope.clone()).unwrap_or_else(|| self.wiring.scope.clone());
        let Some(sources) = state.running.as_ref().map(|running| Arc::clone(&running.sources)) else {
            return;
        };
        // First of all: a source that is synced because it leaves its namespaces must not count as synced in the new ones.
        let own = |scope| Divisions::of_controller(scope, &self.wiring.primary_type);
        let (before, now, is_all) = (own(&before), own(scope), *scope == WatchScope::All);
        let start = state.claims.rescoped(|seen| match (seen, before.is_empty()) {
            (None, true) => now.clone(),
            (seen, _) => {
                let seen = seen.unwrap_or(&before).iter();
                seen.filter(|namespace| is_all || now.contains(*namespace)).cloned().collect()
            }
        });
        drop(state);
        // Not under the lock: a source reports the objects that it leaves under its own lock.
        for source in sources.all() {
            source.change_namespaces(scope);
        }
        let opening = self.opening(&sources, scope);
        let mut state = self.state.lock();
        if !state.running.as_ref().is_some_and(|running| Arc::ptr_eq(&running.sources, &sources)) {
            return;
        }
        let telling = self.tell(opening, start);
        if let Some(running) = &mut state.running {
            running.telling = telling;
        }
    }

    fn start(&self, state: &mut SlotState, sources: Sources, opening: Opening) -> Start {
        let start = state.claims.started();
        let environment = &self.wiring.environment;
        let (controller, observers) = (&self.wiring.controller, &self.wiring.observers);
        let run = |source| {
            let run = run_and_tell(source, controller, observers);
            AbortOnDropHandle::new(environment.spawn("event source", run))
        };
        let tasks = sources.all().map(run).collect();
        let telling = self.tell(opening, start);
        tracing::debug!(controller = %self.wiring.controller, source = self.name, "event source starts: it is needed");
        state.running = Some(RunningSource { sources: Arc::new(sources), tasks, telling });
        start
    }

    /// Notifies the waiting primaries, as the source sees more and more.
    fn tell(&self, mut opening: Opening, start: Start) -> AbortOnDropHandle<()> {
        let (of, sink, cause) =
            (Arc::downgrade(&self.state), Arc::clone(&self.wiring.sink), Cause::Source(self.index));
        let shows_more = Arc::clone(&self.shows_more);
        AbortOnDropHandle::new(self.wiring.environment.spawn("end of a wait", async move {
            while let Some(opens) = opening.next().await {
                let Some(of) = of.upgrade() else { return };
                let waiting = match opens {
                    Opens::Everything => of.lock().claims.synced(start),
                    Opens::Namespaces(namespaces) => {
                        namespaces.iter().flat_map(|name| of.lock().claims.synced_in(start, name)).collect()
                    }
                };
                shows_more.notify_waiters();
                for primary in waiting {
                    sink.related_changed(&primary, cause);
                }
            }
        }))
    }

    /// Why the primary can't read it yet.
    pub(super) fn trouble(&self, primary: &ObjectKey) -> Trouble {
        // Not under the lock: a source reports changes under its own lock, and takes this one then.
        let sources = self.sources();
        let parts = sources.iter().flat_map(|sources| sources.all()).flat_map(|source| source.parts());
        // Trouble in the primary's own parts comes first.
        let own = |part: &SourcePart| {
            part.namespace.as_deref().is_none_or(|name| primary.namespace() == Some(name))
        };
        let reason = |part: SourcePart| match part.health {
            SourceHealth::Unhealthy { reason, .. } => Some(reason),
            SourceHealth::Syncing | SourceHealth::Healthy => None,
        };
        let (own, others): (Vec<_>, Vec<_>) = parts.filter(|part| !part.synced).partition(own);
        match own.into_iter().chain(others).find_map(reason) {
            Some(reason) => Trouble {
                reason: format!("informer of {} does not work: {reason}", self.name),
                is_failure: true,
            },
            None => Trouble { reason: format!("informer of {} is syncing", self.name), is_failure: false },
        }
    }

    pub(super) fn release(&self, primary: &ObjectKey, claimant: Claimant) {
        self.change(|claims| claims.release(primary, claimant));
    }

    /// Releases claims, and stops the source if none is left.
    fn change(&self, change: impl FnOnce(&mut Claims)) {
        let mut state = self.state.lock();
        change(&mut state.claims);
        let unneeded = if state.claims.is_needed() { None } else { state.running.take() };
        if unneeded.is_some() {
            state.claims.stopped();
            tracing::debug!(controller = %self.wiring.controller, source = self.name, "event source stops: it is no longer needed");
        }
        // Its objects are dropped without the lock.
        drop(state);
        self.dropped(unneeded);
    }

    fn dropped(&self, running: Option<RunningSource>) {
        if running.is_some() {
            drop(running);
            let (controller, source) = (&*self.wiring.controller, &*self.name);
            self.wiring.observers.observe(&Observation::SourceRemoved { controller, source });
        }
    }

    pub(super) fn readable(&self, primary: &ObjectKey) -> Option<Arc<Sources>> {
        let state = self.state.lock();
        let running = state.running.as_ref().filter(|_| state.claims.is_synced_for(primary))?;
        Some(Arc::clone(&running.sources))
    }

    pub(super) fn sources(&self) -> Option<Arc<Sources>> {
        self.state.lock().running.as_ref().map(|running| Arc::clone(&running.sources))
    }

    /// Whether no primary still waits to be notified that everything has been seen.
    pub(super) fn has_told(&self) -> bool {
        self.state.lock().running.as_ref().is_none_or(|running| running.telling.is_finished())
    }

    pub(super) fn has_ended(&self) -> bool {
        let state = self.state.lock();
        state.running.iter().flat_map(|running| &running.tasks).any(AbortOnDropHandle::is_finished)
    }

    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        // From now on it concerns no primary.
        state.claims = Claims::default();
        let running = state.running.take();
        drop(state);
        self.dropped(running);
        // A primary may outlive many sources that runs add and remove.
        self.wiring.scopes.clear(self.claimed);
    }
}

/// Passes on only the events of primaries that need the source, and none of its first list: its primaries are triggered
/// once, at the end of the list.
struct Concerned {
    sink: Arc<dyn EventSink>,
    of: Weak<Slot>,
}

impl EventSink for Concerned {
    fn primary_changed(&self, change: PrimaryChange<'_>) {
        self.sink.primary_changed(change);
    }

    fn primary_deleted(&self, key: &ObjectKey, uid: &str, last: Option<Departed>) {
        self.sink.primary_deleted(key, uid, last);
    }

    fn related_changed(&self, primary: &ObjectKey, cause: Cause) {
        let Some(of) = self.of.upgrade() else { return };
        // Under the lock: a slot that was closed causes nothing any more. The processor only takes note.
        let mut state = of.state.lock();
        let may_wait = || of.ends_with(of.wiring.scopes.of(primary));
        if state.claims.concerns(primary)
            && (state.claims.is_synced_for(primary) || may_wait())
            && state.claims.wakes(primary)
        {
            self.sink.related_changed(primary, cause);
        }
    }
}
