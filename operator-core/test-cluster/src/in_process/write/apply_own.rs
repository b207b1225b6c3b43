//! Server-side applies of the server's controllers.

use std::sync::Arc;

use serde_json::Value;

use super::{Options, Target};
use crate::in_process::{
    fields::{self, Endpoint},
    kinds::Kind,
    state::State,
    store::Path,
};

impl State {
    /// Applies to an object that exists, with force. One that is refused changes nothing.
    pub(in crate::in_process) fn apply_own(
        &mut self,
        kind: &Arc<Kind>,
        path: &Path,
        manager: &str,
        applied: &Value,
    ) {
        let options = Options { dry_run: false, validation: super::strict::Validation::Ignore, warns: false };
        let target = Target { kind, path, endpoint: Endpoint::Main, manager: manager.to_owned(), options };
        let (Ok(live), Ok(write)) = (self.live(kind, path), target.fields(self.now)) else { return };
        if let Ok(accepted) = fields::apply(&write, Some(&live), applied, true) {
            self.finish_update(&target, &live, accepted).ok();
        }
    }
}
