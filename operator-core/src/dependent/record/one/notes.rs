//! The notes of the creates that are about to be sent.

use super::One;
use crate::{
    dependent::{
        record::{
            External,
            ids::{own_writer, primary_writer},
            note::{Note, Notes},
        },
        system::CallError,
    },
    reconciler::{AnyContext, BoxError},
    resource::{KubeObject, Object},
};

/// Changes the notes on the primary of the run.
pub(in crate::dependent::record) async fn change_notes(
    context: &AnyContext,
    change: impl Fn(&mut Notes) + Send + Sync,
) -> Result<(), BoxError> {
    let annotation = context.shared().marks.names().attempts();
    let writer = own_writer(context);
    let mut change = |state: &dyn Object| {
        let mut notes = Notes::of(state, annotation);
        change(&mut notes);
        notes.text()
    };
    let writer = primary_writer(context, &writer);
    let _one_at_a_time = context.primary_writes.lock().await;
    context.permitted(writer.change_annotation(annotation, &mut change)).await?;
    Ok(())
}

impl<E: External<P>, P: KubeObject> One<'_, E, P> {
    pub(super) async fn note(&mut self) -> Result<(), BoxError> {
        self.of.try_out(self.asked).await?;
        // The note would be in vain if the call isn't made.
        let checked = self.of.system.check(self.record(), self.context.wall_clock());
        checked.map_err(CallError::boxed)?;
        let now = self.context.wall_clock().now();
        let unsent = self.known(|known| known.unsent.clone());
        change_notes(self.context.any(), |notes| {
            let noted = notes.get(self.asked.node, self.key).map(|note| note.begun.clone());
            let begun = match noted {
                Some(begun) if unsent.as_ref() == Some(&begun) => begun,
                _ => notes.free(now).to_string(),
            };
            // This write may be unanswered; the create is sent only after an answer.
            self.known(|known| known.unsent = Some(begun.clone()));
            let after = self.written().map(str::to_owned);
            let note = Note { begun, after, place: self.of.ids.place_of_notes(), node: None };
            notes.put(self.asked.node, self.key, note, &self.start.ids);
        })
        .await?;
        self.facts.noted = true;
        Ok(())
    }

    /// There is no record, and none is wanted: the outcome of the attempt is known. Notes are deleted with their primary.
    pub(super) async fn clear_note(&mut self) -> Result<(), BoxError> {
        if self.has_note && !self.facts.ends {
            change_notes(self.context.any(), |notes| notes.take(self.asked.node, self.key)).await?;
            self.has_note = false;
        }
        Ok(())
    }

    /// Nothing was created, so no note is needed.
    pub(super) async fn take_note(&self) -> Result<(), BoxError> {
        if self.facts.noted && !self.of.ids.follow() {
            change_notes(self.context.any(), |notes| notes.take(self.asked.node, self.key)).await?;
        }
        Ok(())
    }
}
