//! Event sources that run only while some primary needs them: those of workflow nodes with a condition `needs`, and
//! those that runs add.
//!
//! ```text
//!                 claim (first)            everything seen
//!      Stopped ─────────────────▶ Syncing ─────────────────▶ Synced ──▶ can be read, wakes its primaries
//!         ▲                          │ wakes waiting primaries  │
//!         └──── release (last) ──────┴──────────────────────────┘  forgets everything
//! ```
//!
//! # Guarantees
//! - A source runs while at least one primary's last answer was "active"; a primary that is gone no longer counts.
//! - Starting and stopping never wait: a primary whose run needs a source that is not synced yet is triggered once it
//!   is.
//! - A source triggers only the primaries that need it, so two primaries with opposite answers don't disturb each
//!   other.
//! - It can be read only once it is synced, or synced for the namespace of the reading primary if it follows the
//!   controller's namespaces separately; each start begins with nothing.
//! - A source that a run has added runs until one removes it, and triggers all primaries that it concerns.
//! - Each call changes everything or nothing, so a run that is dropped leaves nothing half-registered.

mod claims;
mod late;
mod named;
mod slot;
mod watches;

use std::{fmt, sync::Arc, time::Duration};

use futures::FutureExt;
use parking_lot::{Mutex, RwLock};

use super::{
    EventSource, NamedEventSource, PrimaryScope, SourceContents, SourceDeclaration, Sources, WatchScope,
    Wiring,
};
use crate::{cache, observe::SourceIndex, resource::ObjectKey};

pub(crate) use claims::Claimant;
pub use late::EventSources;
pub(crate) use named::{NamedKeys, NamedObjects};
use slot::Slot;
pub(crate) use slot::Trouble;

/// The conditional sources of one controller.
#[derive(Default)]
pub(crate) struct ConditionalSources {
    slots: RwLock<Slots>,
    /// The wiring for sources that runs add, and the first of their positions; `None` if runs can't add any.
    base: Option<(Wiring, usize)>,
    /// Held while one is added, and while namespaces change: each source starts with the new ones, or gets them.
    scope: Mutex<Option<WatchScope>>,
    /// The objects that runs read by their keys.
    named: Arc<NamedObjects>,
}

/// A source that a run has started, and waits for.
pub(crate) struct Late {
    slot: Arc<Slot>,
    claimant: Claimant,
}

impl Late {
    /// Waits until the primary can read it, for so long. If it can't, it is triggered once it can.
    pub(crate) async fn shown(self, scope: PrimaryScope<'_>, patience: Duration) -> Result<(), Trouble> {
        drop(tokio::time::timeout(patience, self.slot.shown_to(scope.primary())).await);
        if self.slot.claim(scope, Some(self.claimant)) {
            return Ok(());
        }
        Err(self.slot.trouble(scope.primary()))
    }
}

#[derive(Default)]
struct Slots {
    /// The declared ones first.
    all: Arc<[Arc<Slot>]>,
    /// The controller has stopped.
    closed: bool,
}

impl Slots {
    fn push(&mut self, slot: Arc<Slot>) {
        self.all = self.all.iter().cloned().chain([slot]).collect();
    }
}

impl ConditionalSources {
    /// None yet.
    pub(super) fn none_in(wiring: &Wiring) -> Self {
        let named = Arc::new(NamedObjects::new(Arc::clone(&wiring.named)));
        Self { named, ..Self::default() }
    }

    /// The objects that runs read by their keys.
    pub(crate) fn named(&self) -> &Arc<NamedObjects> {
        &self.named
    }

    /// Objects of a kind that only runs know are read by key from now on.
    pub(crate) fn name_late(&self, source: &NamedEventSource) {
        let is_open = !self.slots.read().closed;
        if let Some((wiring, _)) = self.base.as_ref().filter(|_| is_open) {
            self.named.add_late(source, SourceIndex(u8::MAX), wiring);
        }
    }

    /// Adds a source that doesn't run yet.
    pub(super) fn add(
        &mut self,
        declaration: Arc<dyn SourceDeclaration>,
        index: SourceIndex,
        wiring: Wiring,
    ) {
        self.slots.get_mut().push(Slot::new(declaration, index, wiring, false));
    }

    /// Lets runs add further ones, whose positions begin with `first`.
    pub(super) fn accept_more(&mut self, wiring: Wiring, first: usize) {
        self.base = Some((wiring, first));
    }

    /// All of them.
    fn each(&self) -> impl Iterator<Item = Arc<Slot>> {
        let all = Arc::clone(&self.slots.read().all);
        (0..all.len()).map(move |position| Arc::clone(&all[position]))
    }

    /// The same with those of objects that are read by their keys.
    fn with_named(&self) -> impl Iterator<Item = Arc<Slot>> {
        self.each().chain(self.named.slots())
    }

    fn slot(&self, name: &str) -> Option<Arc<Slot>> {
        self.each().find(|slot| slot.name == name)
    }

    /// The sources that runs have added.
    fn added(&self) -> impl Iterator<Item = Arc<Slot>> {
        self.each().filter(|slot| slot.is_added)
    }

    /// The source of that name, or else a new one, which doesn't run yet.
    fn slot_for(&self, declaration: Arc<dyn SourceDeclaration>) -> Option<Arc<Slot>> {
        let name = declaration.name();
        let scope = self.scope.lock();
        let slots = &mut *self.slots.write();
        if let Some(slot) = slots.all.iter().find(|slot| slot.name == name) {
            return Some(Arc::clone(slot));
        }
        let (wiring, first) = self.base.as_ref().filter(|_| !slots.closed)?;
        // Beyond the last position they share one.
        let taken = |index: &u8| slots.all.iter().any(|slot| slot.index == SourceIndex(*index));
        let mut free = (u8::try_from(*first).unwrap_or(u8::MAX)..=u8::MAX).filter(|index| !taken(index));
        let index = SourceIndex(free.next().unwrap_or(u8::MAX));
        let mut wiring = wiring.clone();
        wiring.scope = scope.clone().unwrap_or(wiring.scope);
        let slot = Slot::new(declaration, index, wiring, true);
        slots.push(Arc::clone(&slot));
        Some(slot)
    }

    /// Removes a source that a run has added.
    fn take(&self, name: &str) -> Option<Arc<Slot>> {
        let slots = &mut *self.slots.write();
        let slot = slots.all.iter().find(|slot| slot.is_added && slot.name == name).cloned()?;
        slots.all = slots.all.iter().filter(|other| !Arc::ptr_eq(other, &slot)).cloned().collect();
        Some(slot)
    }

    /// Whether a source of that name is declared.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.slot(name).is_some_and(|slot| !slot.is_added)
    }

    /// The name of the source at that position, if a run has added it.
    pub(crate) fn late_name(&self, index: SourceIndex) -> Option<String> {
        self.added().find(|slot| slot.index == index).map(|slot| slot.name.clone())
    }

    /// Whether the declaration of one of them is true for its contents.
    pub(super) fn declare(&self, says: impl Fn(&SourceContents) -> bool) -> bool {
        self.each().any(|slot| says(&slot.declaration.contents()))
    }

    /// A node is active for a primary: its source runs from now on. Returns what the run has to wait for, if anything;
    /// the primary is triggered then. A source that isn't conditional always exists.
    ///
    /// The claim is held in the primary's scope: a run that outlives its primary claims nothing.
    pub(crate) fn claim(
        &self,
        source: &str,
        scope: PrimaryScope<'_>,
        claimant: Claimant,
    ) -> Result<(), String> {
        let Some(slot) = self.slot(source) else { return Ok(()) };
        if slot.claim(scope, Some(claimant)) {
            return Ok(());
        }
        Err(slot.trouble(scope.primary()).reason)
    }

    /// The same for a source that is declared only at run time, and runs while it is claimed: starts it. What the run has to wait
    /// for is returned by [`Late::shown`].
    pub(crate) fn start_late(
        &self,
        source: Arc<dyn SourceDeclaration>,
        scope: PrimaryScope<'_>,
        claimant: Claimant,
    ) -> Result<Late, Trouble> {
        let name = source.name();
        // A kind that was removed, and came back with another scope.
        let is_stale = |slot: &Arc<Slot>| {
            slot.is_added && !late::are_alike(&slot.declaration.contents(), &source.contents())
        };
        if self.slot(&name).is_some_and(|slot| is_stale(&slot))
            && let Some(stale) = self.take(&name)
        {
            stale.close();
        }
        let stops = || Trouble { reason: "the controller stops".to_owned(), is_failure: true };
        let slot = self.slot_for(source).ok_or_else(stops)?;
        slot.start_for(scope, claimant);
        Ok(Late { slot, claimant })
    }

    /// A node is inactive for a primary.
    pub(crate) fn release(&self, source: &str, scope: PrimaryScope<'_>, claimant: Claimant) {
        match self.slot(source) {
            Some(slot) => slot.release(scope.primary(), claimant),
            None => self.named.release(source, scope),
        }
    }

    /// The sources that a run of this primary can read.
    pub(super) fn readable(&self, primary: &ObjectKey) -> Vec<Arc<Sources>> {
        self.each().filter_map(|slot| slot.readable(primary)).collect()
    }

    /// The controller works in other namespaces from now on.
    pub(crate) fn change_namespaces(&self, scope: &WatchScope) {
        let mut current = self.scope.lock();
        *current = Some(scope.clone());
        for slot in self.each() {
            slot.change_namespaces(scope);
        }
    }

    /// The running sources, synced or not.
    pub(crate) fn running(&self) -> Vec<Arc<dyn EventSource>> {
        let running = self.with_named().filter_map(|slot| slot.sources());
        running.flat_map(|sources| sources.all().cloned().collect::<Vec<_>>()).collect()
    }

    /// Whether each running source has seen everything that exists at this moment, and has notified the waiting
    /// primaries.
    pub(crate) async fn caught_up(&self) -> Result<bool, cache::Error> {
        for source in self.running() {
            if source.synced().now_or_never().is_none() || !source.caught_up().await? {
                return Ok(false);
            }
        }
        Ok(self.with_named().all(|slot| slot.has_told()))
    }

    /// The names of the sources that don't work any more because their task has ended.
    pub(crate) fn ended_tasks(&self) -> Vec<String> {
        self.with_named().filter(|slot| slot.has_ended()).map(|slot| slot.name.clone()).collect()
    }

    /// Stops all of them, for good.
    pub(crate) fn close(&self) {
        // First of all: no source is added afterwards.
        self.slots.write().closed = true;
        for slot in self.each().chain(self.named.close()) {
            slot.close();
        }
    }
}

impl fmt::Debug for ConditionalSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.each().map(|slot| slot.name.clone())).finish()
    }
}
