//! Server-side applies of the server's controllers.

use std::sync::Arc;

use serde_json::Value;

use super::{Options, Target, update::finish_update};
use crate::in_process::{
    api::ApiServer,
    fields::{self, Endpoint},
    kinds::Kind,
    read,
    store::Path,
};

/// Applies to an object that exists, with force. One that is refused changes nothing.
pub(in crate::in_process) fn apply_own(
    api: &mut ApiServer,
    kind: &Arc<Kind>,
    path: &Path,
    manager: &str,
    applied: &Value,
) {
    let options = Options { dry_run: false, validation: super::strict::Validation::Ignore, warns: false };
    let target = Target { kind, path, endpoint: Endpoint::Main, manager: manager.to_owned(), options };
    let (Ok(live), Ok(write)) = (read::live(&api.store, kind, path), target.fields(api.now)) else { return };
    if let Ok(object) = fields::apply(&write, Some(&live), applied, true) {
        finish_update(api, &target, &live, object).ok();
    }
}
