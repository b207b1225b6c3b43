//! The writes of the server and its controllers.
//!
//! A controller whose write is refused leaves things as they are until its next attempt.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Options, Target,
    create::create_object,
    delete::{DeleteOptions, How, delete_object},
    update::update_object,
};
use crate::in_process::{api::ApiServer, failure::Failure, fields::Endpoint, kinds::Kind, read, store::Path};

/// Creates an object.
pub(in crate::in_process) fn create_own(
    api: &mut ApiServer,
    kind: &Arc<Kind>,
    path: &Path,
    manager: &str,
    object: Value,
) -> Result<(), Failure> {
    let target = own(kind, path, Endpoint::Main, manager);
    create_object(api, &target, object).map(drop)
}

/// Changes an object.
pub(in crate::in_process) fn write_own(
    api: &mut ApiServer,
    kind: &Arc<Kind>,
    path: &Path,
    endpoint: Endpoint,
    manager: &str,
    object: Value,
) -> Result<(), Failure> {
    let target = own(kind, path, endpoint, manager);
    let live = read::live(&api.store, kind, path)?;
    update_object(api, &target, &live, object).map(drop)
}

/// Deletes an object.
pub(in crate::in_process) fn delete_own(
    api: &mut ApiServer,
    kind: &Kind,
    path: &Path,
    how: How,
) -> Result<(), Failure> {
    let live = read::live(&api.store, kind, path)?;
    delete_object(api, kind, path, &live, &DeleteOptions::of_controller(how, &live)).map(drop)
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
