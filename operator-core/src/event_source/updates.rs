//! Questions about an update, to build filters from. JOSDK: `InternalEventFilters`.
//!
//! Filters are closures, so they compose with `&&`, `||` and `!`. All of these take the new state first.
//!
//! ```
//! use k8s_openapi::api::apps::v1::Deployment;
//! use operator_core::{InformerEventSource, event_source::updates};
//!
//! let source = InformerEventSource::<Deployment>::new()
//!     .on_update(|new, old| updates::generation_changed(new, old) || updates::labels_changed(new, old));
//! ```

use kube::Resource;

/// Whether the spec changed, as the server tracks it: the generation differs. Usually it has grown; a restored backup
/// takes it back. Always true for kinds without a generation.
#[must_use]
pub fn generation_changed<K: Resource>(new: &K, old: &K) -> bool {
    is_another_generation(new.meta().generation, old.meta().generation)
}

pub(super) fn is_another_generation(new: Option<i64>, old: Option<i64>) -> bool {
    old.is_none() || old != new
}

/// Whether the object was marked for deletion by this update.
#[must_use]
pub fn marked_for_deletion<K: Resource>(new: &K, old: &K) -> bool {
    old.meta().deletion_timestamp.is_none() && new.meta().deletion_timestamp.is_some()
}

/// Whether the finalizer is missing in one of the two states.
#[must_use]
pub fn lacks_finalizer<K: Resource>(new: &K, old: &K, finalizer: &str) -> bool {
    let lacks = |object: &K| !object.meta().finalizers.iter().flatten().any(|name| name == finalizer);
    lacks(old) || lacks(new)
}

/// Whether the labels differ.
#[must_use]
pub fn labels_changed<K: Resource>(new: &K, old: &K) -> bool {
    new.meta().labels != old.meta().labels
}

/// Whether the annotations differ.
#[must_use]
pub fn annotations_changed<K: Resource>(new: &K, old: &K) -> bool {
    new.meta().annotations != old.meta().annotations
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

    use super::*;

    fn with(change: impl FnOnce(&mut ObjectMeta)) -> ConfigMap {
        let mut object = ConfigMap::default();
        change(&mut object.metadata);
        object
    }

    #[test]
    fn a_kind_without_generation_counts_each_update() {
        assert!(generation_changed(&ConfigMap::default(), &ConfigMap::default()));
        let second = with(|meta| meta.generation = Some(2));
        assert!(generation_changed(&second, &with(|meta| meta.generation = Some(1))));
        assert!(!generation_changed(&second, &second));
        assert!(
            generation_changed(&with(|meta| meta.generation = Some(1)), &second),
            "a restored backup takes it back"
        );
    }

    #[test]
    fn a_finalizer_may_be_missing_before_or_after() {
        let has = with(|meta| meta.finalizers = Some(vec!["a/b".to_owned()]));
        assert!(!lacks_finalizer(&has, &has, "a/b"));
        assert!(lacks_finalizer(&has, &ConfigMap::default(), "a/b"));
        assert!(lacks_finalizer(&ConfigMap::default(), &has, "a/b"));
    }

    #[test]
    fn labels_are_told_from_annotations() {
        let labelled = with(|meta| meta.labels = Some([("a".to_owned(), "b".to_owned())].into()));
        assert!(labels_changed(&labelled, &ConfigMap::default()));
        assert!(!annotations_changed(&labelled, &ConfigMap::default()));
    }
}
