//! Event sources that runs add, and remove again.
//!
//! ```text
//!  add ──▶ a slot of its own, pinned ──▶ lists, wakes who waits ──▶ can be read, wakes whom it concerns
//!  remove ──▶ the slot is closed: it wakes nobody any more, and what it knew goes
//! ```

use std::{fmt, sync::Arc};

use parking_lot::{Mutex, RwLock};

use super::slot::Slot;
use crate::{
    event_source::{Error, PrimaryScope, SourceContents, SourceDeclaration, Sources, WatchScope, Wiring},
    observe::{Observation, SourceIndex},
};

/// Those of one controller.
#[derive(Default)]
pub(super) struct Late {
    /// With what they are built, and the first of their positions; `None` where there can be none.
    base: Option<(Wiring, usize)>,
    slots: RwLock<Slots>,
    /// Held while one is added, and while namespaces change: each has them, or gets them.
    scope: Mutex<Option<WatchScope>>,
}

#[derive(Default)]
struct Slots {
    all: Arc<[Arc<Slot>]>,
    /// The controller has stopped.
    closed: bool,
}

impl Late {
    pub(super) fn new(wiring: Wiring, first: usize) -> Self {
        Self { base: Some((wiring, first)), ..Self::default() }
    }

    pub(super) fn all(&self) -> Arc<[Arc<Slot>]> {
        Arc::clone(&self.slots.read().all)
    }

    fn find(&self, name: &str) -> Option<Arc<Slot>> {
        self.all().iter().find(|slot| slot.name() == name).cloned()
    }

    /// The one of that name; a new one, which doesn't run yet, if there is none.
    fn slot(&self, declaration: Arc<dyn SourceDeclaration>) -> Option<Arc<Slot>> {
        let name = declaration.name();
        let scope = self.scope.lock();
        let slots = &mut *self.slots.write();
        if let Some(slot) = slots.all.iter().find(|slot| slot.name() == name) {
            return Some(Arc::clone(slot));
        }
        let (wiring, first) = self.base.as_ref().filter(|_| !slots.closed)?;
        // Beyond the last position they share one.
        let taken = |index: &u8| slots.all.iter().any(|slot| slot.index() == SourceIndex(*index));
        let mut free = (u8::try_from(*first).unwrap_or(u8::MAX)..=u8::MAX).filter(|index| !taken(index));
        let index = SourceIndex(free.next().unwrap_or(u8::MAX));
        let mut wiring = wiring.clone();
        wiring.scope = scope.clone().unwrap_or(wiring.scope);
        let slot = Slot::new(declaration, index, wiring);
        slots.all = slots.all.iter().cloned().chain([Arc::clone(&slot)]).collect();
        Some(slot)
    }

    /// The controller works in other namespaces from now on.
    pub(super) fn change_namespaces(&self, scope: &WatchScope) {
        let mut current = self.scope.lock();
        *current = Some(scope.clone());
        for slot in &*self.all() {
            slot.change_namespaces(scope);
        }
    }

    fn take(&self, name: &str) -> Option<Arc<Slot>> {
        let slots = &mut *self.slots.write();
        let slot = slots.all.iter().find(|slot| slot.name() == name).cloned()?;
        slots.all = slots.all.iter().filter(|other| !Arc::ptr_eq(other, &slot)).cloned().collect();
        Some(slot)
    }

    /// No one is added any more.
    pub(super) fn close(&self) {
        self.slots.write().closed = true;
    }

    /// The name of the one with that position.
    pub(super) fn name_of(&self, index: SourceIndex) -> Option<String> {
        self.all().iter().find(|slot| slot.index() == index).map(|slot| slot.name().to_owned())
    }
}

/// Event sources that are added and removed while the controller runs, for kinds that are known only then. JOSDK:
/// `EventSourceRetriever.dynamicallyRegisterEventSource` and `dynamicallyDeRegisterEventSource`.
///
/// They belong to the controller, not to a primary: each is added once, whichever run does it first, and lives until it
/// is removed or the controller stops. A controller that is started again begins without them.
#[derive(Clone, Copy)]
pub struct EventSources<'c> {
    pub(crate) sources: &'c Sources,
    /// That of the run's primary.
    pub(crate) scope: PrimaryScope<'c>,
}

impl EventSources<'_> {
    /// Adds an event source, unless there is one of this name. It lists and watches from now on, needs the rights for
    /// that, and triggers primaries like any other.
    ///
    /// Nothing waits for it: returns whether it has seen everything that exists, and can be read. If not, this primary
    /// is triggered once it has, as are those that its objects belong to; until then a read finds nothing of it, so the
    /// run has to leave what it would do with it to that later run.
    ///
    /// # Errors
    /// If the controller's declaration has a source of this name, or an earlier run has added one for another kind.
    pub fn add(&self, source: impl SourceDeclaration + 'static) -> Result<bool, Error> {
        let taken = |by: &str| Error::NameTaken { event_source: source.name(), by: by.to_owned() };
        let conditional = self.sources.conditional();
        if self.sources.declares(&source.name()) {
            return Err(taken("by a source of the controller's declaration"));
        }
        if let Some(slot) = conditional.late.find(&source.name())
            && !are_alike(&slot.contents(), &source.contents())
        {
            return Err(taken("for another kind"));
        }
        // A run that outlives its primary must not have anything wait for it.
        if !self.scope.exists() {
            return Ok(false);
        }
        let slot = conditional.late.slot(Arc::new(source));
        Ok(slot.is_some_and(|slot| slot.pin(self.scope)))
    }

    /// Removes an event source that a run has added: it causes no event any more, and can't be read. Returns whether
    /// there was one.
    pub fn remove(&self, name: &str) -> bool {
        let Some(slot) = self.sources.conditional().late.take(name) else { return false };
        slot.close();
        let wiring = slot.wiring();
        let (controller, source) = (&*wiring.controller, name);
        wiring.observers.observe(&Observation::SourceRemoved { controller, source });
        tracing::debug!(controller, source, "event source stops: a run has removed it");
        true
    }
}

impl fmt::Debug for EventSources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let late = self.sources.conditional().late.all();
        f.debug_list().entries(late.iter().map(|slot| slot.name())).finish()
    }
}

/// Whether one may stand for the other.
fn are_alike(one: &SourceContents, other: &SourceContents) -> bool {
    match (one, other) {
        (
            SourceContents::Objects { of, kind, .. },
            SourceContents::Objects { of: other, kind: other_kind, .. },
        ) => of == other && kind == other_kind,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}
