//! Primaries that are left alone for a while.
//!
//! # Guarantees
//! - While a primary is paused, no run does anything for it, and nothing is written but one status that says so.
//! - The end of a primary is handled as ever.

use std::{mem, sync::Arc};

use super::{Dispatcher, failure::RunFailure, transitions::LastTold};
use crate::{
    environment::fenced,
    reconciler::{AnyContext, says_paused},
    resource::AnyObject,
};

impl Dispatcher {
    /// Whether the primary is left alone.
    pub(super) fn is_paused(&self, primary: &AnyObject, context: &AnyContext) -> Result<bool, RunFailure> {
        let Some(paused_when) = &self.paused_when else { return Ok(false) };
        let is_alive = context.run().departed.is_none() && primary.meta().deletion_timestamp.is_none();
        let is_known = is_alive && !self.shared.primary.is_undecodable(context.primary_key());
        let is_paused = fenced(|| is_known && paused_when(&**primary))
            .map_err(|payload| RunFailure::of_panic("function of `paused_when`", &*payload))?;
        context.remembered().lock().is_paused = is_paused;
        let was = LastTold::change(context, |last| {
            let said = || last.pause.unwrap_or_else(|| says_paused(&**primary));
            let pause = is_paused.then(said);
            mem::replace(&mut last.pause, pause)
        });
        if let Some((was, told)) = was
            && was.is_some() != is_paused
        {
            told.pause(is_paused);
        }
        Ok(is_paused)
    }

    /// Writes the status of a pause, once.
    pub(super) async fn tell_of_pause(&self, context: &Arc<AnyContext>) -> Result<(), RunFailure> {
        let pause = context.scope().look(|last: &mut LastTold| last.pause);
        if pause.flatten() != Some(true) {
            self.write_status(None, context).await?;
            says_so(context, true);
        }
        Ok(())
    }
}

/// Whether the status of a paused primary says that it is; that of a failed run doesn't.
pub(super) fn says_so(context: &AnyContext, is_so: bool) {
    context.scope().look(|last: &mut LastTold| last.pause = last.pause.map(|_| is_so));
}
