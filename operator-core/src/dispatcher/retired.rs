//! What an earlier version of the controller has left on primaries. Finalizers that this version doesn't use are
//! removed: nothing else would do that, and the primary could never be deleted. What was applied under another field
//! manager is taken over.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Dispatcher, failure::Failure};
use crate::{operations::matcher::owned_fields, reconciler::AnyContext, resource::AnyObject};

/// The finalizers that the controller no longer uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetiredFinalizers {
    /// Those listed in the declaration.
    named: BTreeSet<String>,
    /// The default one, if the controller uses another one or none. Another controller of the same kind may use it, so
    /// it counts only if this controller has added it.
    default: Option<String>,
}

impl RetiredFinalizers {
    /// `used` is the one that the controller uses.
    pub(crate) fn new(named: BTreeSet<String>, default: Option<String>, used: Option<&str>) -> Self {
        let named = named.into_iter().filter(|name| used != Some(name)).collect();
        Self { named, default: default.filter(|default| used != Some(default)) }
    }

    /// Another finalizer is used instead of the `declared` one.
    pub(crate) fn succeed(&mut self, declared: &str, default: String, used: &str) {
        let mut named = std::mem::take(&mut self.named);
        // Another controller of the same kind may use the default one, so it has to be this one that has added it.
        if declared != default {
            named.insert(declared.to_owned());
        }
        *self = Self::new(named, Some(default), Some(used));
    }

    /// Whether the default one, which nobody uses, is retired.
    pub(crate) fn retire_default(&mut self, default: Option<String>) {
        self.default = default;
    }

    /// Those of them that are on an object with this metadata; `managers` are the field managers with which this
    /// controller writes, or has written.
    fn found(&self, meta: &ObjectMeta, managers: &[&str]) -> Vec<String> {
        let finalizers = meta.finalizers.iter().flatten();
        let retired = |name: &&String| {
            self.named.contains(*name)
                || (self.default.as_ref() == Some(name) && has_written(meta, managers, name))
        };
        finalizers.filter(retired).cloned().collect()
    }
}

impl Dispatcher {
    /// Handles what an earlier version has left on a primary that is alive, and returns its newest state.
    pub(super) async fn succeed(
        &self,
        mut primary: AnyObject,
        context: &Arc<AnyContext>,
    ) -> Result<AnyObject, Failure> {
        if let Some(newest) = self.writer(context).inherit().await.map_err(Failure::of_write)? {
            context.work_on(&newest);
            primary = newest;
        }
        if self.take_off_retired(&primary, context).await?
            && let Some(newest) = context.primary()
        {
            context.work_on(&newest);
            primary = newest;
        }
        Ok(primary)
    }

    /// Removes the finalizers that an earlier version has added to the primary. Returns whether there were any.
    pub(super) async fn take_off_retired(
        &self,
        primary: &AnyObject,
        context: &Arc<AnyContext>,
    ) -> Result<bool, Failure> {
        let managers = self.shared.writer.own_managers();
        let retired = self.retired_finalizers.found(primary.meta(), &managers);
        for finalizer in &retired {
            tracing::info!(%finalizer, "removed: this version of the controller doesn't use it");
            self.writer(context).remove_finalizer(finalizer).await.map_err(Failure::of_write)?;
        }
        Ok(!retired.is_empty())
    }
}

/// Whether one of `managers` has added `finalizer` to the object.
fn has_written(meta: &ObjectMeta, managers: &[&str], finalizer: &str) -> bool {
    let item = format!("v:{}", serde_json::Value::from(finalizer));
    meta.managed_fields.iter().flatten().any(|entry| {
        let owns = || owned_fields(entry)?.get("f:metadata")?.get("f:finalizers")?.get(&item).map(drop);
        entry.manager.as_deref().is_some_and(|by| managers.contains(&by)) && owns().is_some()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meta(finalizers: &[&str], manager: &str) -> ObjectMeta {
        let items = finalizers.iter().map(|name| (format!("v:\"{name}\""), json!({})));
        let fields: serde_json::Map<_, _> = items.collect();
        let managed =
            json!([{ "manager": manager, "fieldsV1": { "f:metadata": { "f:finalizers": fields } } }]);
        let meta = json!({ "finalizers": finalizers, "managedFields": managed });
        serde_json::from_value(meta).expect("valid metadata")
    }

    #[test]
    fn the_default_one_is_taken_off_only_by_who_has_put_it_on() {
        let none = RetiredFinalizers::new(BTreeSet::new(), Some("pods/finalizer".to_owned()), None);
        let ours = meta(&["others/finalizer", "pods/finalizer"], "us");
        assert_eq!(none.found(&ours, &["us"]), ["pods/finalizer"]);
        assert!(none.found(&ours, &["another-controller"]).is_empty());
        assert_eq!(none.found(&ours, &["renamed", "us"]), ["pods/finalizer"], "under a former field manager");
        let used = RetiredFinalizers::new(
            BTreeSet::new(),
            Some("pods/finalizer".to_owned()),
            Some("pods/finalizer"),
        );
        assert!(used.found(&ours, &["us"]).is_empty());
    }

    #[test]
    fn a_named_one_is_taken_off_whoever_has_put_it_on_unless_it_is_used() {
        let named = || ["old/finalizer".to_owned()].into();
        let found = meta(&["old/finalizer", "others/finalizer"], "an-older-manager");
        let retired =
            RetiredFinalizers::new(named(), Some("pods/finalizer".to_owned()), Some("new/finalizer"));
        assert_eq!(retired.found(&found, &["us"]), ["old/finalizer"]);
        let used = RetiredFinalizers::new(named(), Some("pods/finalizer".to_owned()), Some("old/finalizer"));
        assert!(used.found(&found, &["us"]).is_empty());
    }
}
