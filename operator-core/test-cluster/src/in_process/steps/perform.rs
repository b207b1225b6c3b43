//! The writes of the controllers.

use serde_json::Value;

use super::Act;
use crate::in_process::{failure::Failure, state::State, store::Path};

impl State {
    /// Does one act. An error is the text of the refusal.
    pub(super) fn perform(&mut self, act: Act) -> Result<(), String> {
        let said = |failure: Failure| {
            let body = failure.body().unwrap_or_default();
            body["message"].as_str().unwrap_or("the kind is not served any more").to_owned()
        };
        match act {
            Act::Create { resource, manager, mut object } => {
                let kind = self.kinds.of_resource(&resource).cloned().ok_or_else(|| said(Failure::Page))?;
                let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
                let path = |name: &str| Path::new(namespace.as_deref(), name);
                let given = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                let path = if given.is_empty() {
                    let prefix = object["metadata"]["generateName"].as_str().unwrap_or_default().to_owned();
                    loop {
                        let path = path(&format!("{prefix}{}", self.counters.suffix()));
                        if self.store.get(&resource, &path).is_none() {
                            break path;
                        }
                    }
                } else {
                    path(&given)
                };
                object["metadata"]["name"] = path.name().into();
                self.create_own(&kind, &path, manager, object).map_err(said)
            }
            Act::Write { resource, path, endpoint, manager, object } => {
                let kind = self.kinds.of_resource(&resource).cloned().ok_or_else(|| said(Failure::Page))?;
                self.write_own(&kind, &path, endpoint, manager, object).map_err(said)
            }
            Act::Bind { path, object } => {
                let kind = self.kinds.of_object("v1", "Pod").cloned().ok_or_else(|| said(Failure::Page))?;
                self.put_own(&kind, &path, object);
                Ok(())
            }
            Act::Delete { resource, path, how } => {
                let kind = self.kinds.of_resource(&resource).cloned().ok_or_else(|| said(Failure::Page))?;
                self.delete_own(&kind, &path, how).map_err(said)
            }
        }
    }

    /// Stores an object as it is: without managed fields of the writer, and without a check.
    pub(in crate::in_process) fn put_own(
        &mut self,
        kind: &crate::in_process::kinds::Kind,
        path: &Path,
        object: Value,
    ) {
        self.put(kind, path, object);
    }
}
