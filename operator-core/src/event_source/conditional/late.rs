//! Event sources that runs add, and remove again.
//!
//! ```text
//!  add ──▶ its own slot, claimed by the controller ──▶ lists, wakes waiting primaries ──▶ can be read, wakes its primaries
//!  remove ──▶ the slot is closed: it wakes no primary any more, and its objects are forgotten
//! ```

use std::{fmt, sync::Arc};

use crate::{
    event_source::{Error, PrimaryScope, SourceContents, SourceDeclaration, Sources},
    observe::Observation,
};

/// Event sources that are added and removed while the controller runs, for kinds that are known only then. JOSDK:
/// `EventSourceRetriever.dynamicallyRegisterEventSource` and `dynamicallyDeRegisterEventSource`.
///
/// They belong to the controller, not to a primary: each is added once, whichever run does it first, and lives until it
/// is removed or the controller stops. A controller that is started again begins without them.
#[derive(Clone, Copy)]
pub struct EventSources<'c> {
    pub(crate) sources: &'c Sources,
    /// The scope of the run's primary.
    pub(crate) scope: PrimaryScope<'c>,
}

impl EventSources<'_> {
    /// Adds an event source, unless there is one of this name. It lists and watches from now on, needs the rights for
    /// that, and triggers primaries like any other.
    ///
    /// Nothing waits for it: returns whether it has seen everything that exists, and can be read. If not, this primary
    /// is triggered once it has, as are those that its objects belong to. Until then a read finds nothing in it: the
    /// run has to leave the work with these objects to that later run.
    ///
    /// # Errors
    /// If the controller's declaration has a source of this name, or an earlier run has added one for another kind.
    pub fn add(&self, source: impl SourceDeclaration + 'static) -> Result<bool, Error> {
        let taken = |by: &str| Error::NameTaken { event_source: source.name(), by: by.to_owned() };
        let conditional = self.sources.conditional();
        if self.sources.declares(&source.name()) {
            return Err(taken("by a source of the controller's declaration"));
        }
        if let Some(slot) = conditional.slot(&source.name())
            && !are_alike(&slot.contents(), &source.contents())
        {
            return Err(taken("for another kind"));
        }
        // A run that outlives its primary must not have anything wait for it.
        if !self.scope.exists() {
            return Ok(false);
        }
        let slot = conditional.slot_for(Arc::new(source));
        Ok(slot.is_some_and(|slot| slot.claim(self.scope, None)))
    }

    /// Removes an event source that a run has added: it causes no event any more, and can't be read. Returns whether
    /// there was one.
    pub fn remove(&self, name: &str) -> bool {
        let Some(slot) = self.sources.conditional().take(name) else { return false };
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
        let added = self.sources.conditional().added();
        f.debug_list().entries(added.map(|slot| slot.name().to_owned())).finish()
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
