//! The writes of the server and its controllers.
//!
//! A controller whose write is refused leaves things as they are until its next attempt.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Options, Target,
    delete::{DeleteOptions, How},
};
use crate::in_process::{failure::Failure, fields::Endpoint, kinds::Kind, state::State, store::Path};

impl State {
    /// Creates an object.
    pub(in crate::in_process) fn create_own(
        &mut self,
        kind: &Arc<Kind>,
        path: &Path,
        manager: &str,
        object: Value,
    ) -> Result<(), Failure> {
        let target = own(kind, path, Endpoint::Main, manager);
        self.create_object(&target, object).map(drop)
    }

    /// Changes an object.
    pub(in crate::in_process) fn write_own(
        &mut self,
        kind: &Arc<Kind>,
        path: &Path,
        endpoint: Endpoint,
        manager: &str,
        object: Value,
    ) -> Result<(), Failure> {
        let target = own(kind, path, endpoint, manager);
        let live = self.live(kind, path)?;
        self.update_object(&target, &live, object).map(drop)
    }

    /// Deletes an object.
    pub(in crate::in_process) fn delete_own(
        &mut self,
        kind: &Kind,
        path: &Path,
        how: How,
    ) -> Result<(), Failure> {
        let live = self.live(kind, path)?;
        self.delete_object(kind, path, &live, &DeleteOptions::of_controller(how, &live)).map(drop)
    }
}

fn own<'w>(kind: &'w Arc<Kind>, path: &'w Path, endpoint: Endpoint, manager: &str) -> Target<'w> {
    Target {
        kind,
        path,
        endpoint,
        manager: manager.to_owned(),
        options: Options { dry_run: false, validation: super::strict::Validation::Ignore, warns: false },
    }
}
