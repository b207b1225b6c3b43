//! Finalizers that an earlier version of the controller has put on primaries and this one doesn't use: they are taken off, as
//! nobody else would do so, and the primary could never go.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Dispatcher, Primary, failure::Failure};
use crate::{
    operations::matcher::owned_fields,
    reconciler::{Context, Reconciler},
};

/// The finalizers that the controller doesn't use any more.
#[derive(Debug, Default)]
pub(crate) struct RetiredFinalizers {
    /// Those that the declaration names.
    named: BTreeSet<String>,
    /// The default one, where the controller uses another one or none. Another controller of the same kind may use it, so
    /// that it counts only where this one has put it there.
    default: Option<String>,
}

impl RetiredFinalizers {
    /// `used` is the one that the controller uses.
    pub(crate) fn new(named: BTreeSet<String>, default: String, used: Option<&str>) -> Self {
        let named = named.into_iter().filter(|name| used != Some(name)).collect();
        Self { named, default: Some(default).filter(|default| used != Some(default)) }
    }

    /// Those of them that are on an object with this metadata; `manager` is who writes for this controller.
    fn found(&self, meta: &ObjectMeta, manager: &str) -> Vec<String> {
        let finalizers = meta.finalizers.iter().flatten();
        let retired = |name: &&String| {
            self.named.contains(*name)
                || (self.default.as_ref() == Some(name) && has_written(meta, manager, name))
        };
        finalizers.filter(retired).cloned().collect()
    }
}

impl<R: Reconciler> Dispatcher<R> {
    /// Takes off the finalizers that an earlier version has put on the primary. Says whether there were some.
    pub(super) async fn take_off_retired(
        &self,
        primary: &Arc<Primary<R>>,
        context: &Context<Primary<R>>,
    ) -> Result<bool, Failure> {
        let manager = &self.shared.writer.field_manager;
        let retired = self.retired_finalizers.found(kube::Resource::meta(&**primary), manager);
        for finalizer in &retired {
            tracing::info!(%finalizer, "taken off, as this version of the controller doesn't use it");
            self.writer(context).remove_finalizer(finalizer).await.map_err(Failure::of_write)?;
        }
        Ok(!retired.is_empty())
    }
}

/// Whether `manager` has put `finalizer` on the object.
fn has_written(meta: &ObjectMeta, manager: &str, finalizer: &str) -> bool {
    let item = format!("v:{}", serde_json::Value::from(finalizer));
    meta.managed_fields.iter().flatten().any(|entry| {
        let owns = || owned_fields(entry)?.get("f:metadata")?.get("f:finalizers")?.get(&item).map(drop);
        entry.manager.as_deref() == Some(manager) && owns().is_some()
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
        let none = RetiredFinalizers::new(BTreeSet::new(), "pods/finalizer".to_owned(), None);
        let ours = meta(&["others/finalizer", "pods/finalizer"], "us");
        assert_eq!(none.found(&ours, "us"), ["pods/finalizer"]);
        assert!(none.found(&ours, "another-controller").is_empty());
        let used =
            RetiredFinalizers::new(BTreeSet::new(), "pods/finalizer".to_owned(), Some("pods/finalizer"));
        assert!(used.found(&ours, "us").is_empty());
    }

    #[test]
    fn a_named_one_is_taken_off_whoever_has_put_it_on_unless_it_is_used() {
        let named = || ["old/finalizer".to_owned()].into();
        let found = meta(&["old/finalizer", "others/finalizer"], "an-older-manager");
        let retired = RetiredFinalizers::new(named(), "pods/finalizer".to_owned(), Some("new/finalizer"));
        assert_eq!(retired.found(&found, "us"), ["old/finalizer"]);
        let used = RetiredFinalizers::new(named(), "pods/finalizer".to_owned(), Some("old/finalizer"));
        assert!(used.found(&found, "us").is_empty());
    }
}
