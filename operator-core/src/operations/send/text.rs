//! The body of an apply as text, without a tree of values in between. Pure.
//!
//! ```text
//!  {"apiVersion":"v1","kind":"ConfigMap","data":{…},"metadata":{"name":"a",…}}
//!                                                               ▲ the lock
//! ```
//!
//! # Guarantees
//! - Read as JSON, it is what `body::applied` makes of the same object.

use std::{fmt, sync::OnceLock};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    cache::range_within,
    resource::{Object, ResourceType},
};

/// The body of an object that is sent as it writes itself.
pub(in crate::operations) struct Text {
    text: String,
    /// The place of the first field of the metadata.
    metadata: usize,
    value: OnceLock<Value>,
}

impl Text {
    /// `None` if something has to be changed first: then the body is built as a value.
    pub(in crate::operations) fn of(object: &dyn Object, kind: &ResourceType) -> Option<Self> {
        let meta = object.meta();
        if meta.managed_fields.is_some() || meta.resource_version.is_some() {
            return None;
        }
        let text = object.to_text().ok()?;
        let (version, kind) = (kind.api_version(), kind.kind());
        // An apply of a null would own the field.
        let is_plain = text.starts_with(&format!(r#"{{"apiVersion":"{version}","kind":"{kind}","#))
            && !text.contains("null");
        let metadata = is_plain.then(|| metadata_in(&text)).flatten()?;
        Some(Self { text, metadata, value: OnceLock::new() })
    }

    /// The bytes to send, locked to this version, and to this uid, if they are given.
    pub(in crate::operations) fn locked(&self, version: Option<&str>, uid: Option<&str>) -> Option<Bytes> {
        // It may contain one of its own already.
        if uid.is_some() {
            return None;
        }
        let Some(version) = version else { return Some(self.text.clone().into()) };
        let (head, rest) = self.text.split_at(self.metadata);
        let comma = if rest.starts_with('}') { "" } else { "," };
        let lock = serde_json::to_string(version).ok()?;
        Some([head, "\"resourceVersion\":", &lock, comma, rest].concat().into())
    }

    /// The same as a value.
    pub(in crate::operations) fn value(&self) -> &Value {
        // It was written as JSON.
        self.value.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}

/// The place of the first field of the metadata; `None` if there is no metadata.
fn metadata_in(text: &str) -> Option<usize> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
    }
    let metadata = serde_json::from_str::<Object<'_>>(text).ok()?.metadata.get();
    metadata.starts_with('{').then(|| range_within(text, metadata).start + "{".len())
}

/// The content is not shown because it may be a Secret's.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("bytes", &self.text.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{apps::v1::Deployment, core::v1::ConfigMap},
        apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry,
    };
    use kube::core::DynamicObject;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        operations::send::{body, locked::Locked},
        resource::KubeObject,
    };

    fn kind<K: KubeObject<DynamicType = ()>>() -> ResourceType {
        ResourceType::of::<K>()
    }

    /// What is sent, if text is.
    fn sent(text: &Text, version: Option<&str>) -> Value {
        serde_json::from_slice(&text.locked(version, None).expect("there is no uid")).expect("it is JSON")
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn it_is_what_the_tree_of_values_is(
            name in ".{0,8}", labels in prop::option::of(prop::collection::btree_map(".{0,5}", ".{0,9}", 0..3)),
            data in prop::option::of(prop::collection::btree_map(".{0,5}", ".{0,9}", 0..3)),
            version in prop::option::of("[0-9]{1,4}"), uid: bool,
        ) {
            let mut map = ConfigMap { data, ..ConfigMap::default() };
            (map.metadata.name, map.metadata.labels) = (Some(name).filter(|name| !name.is_empty()), labels);
            map.metadata.uid = uid.then(|| "its own".to_owned());
            let kind = kind::<ConfigMap>();
            let body = body::applied(&map, &kind).unwrap();
            if let Some(text) = Text::of(&map, &kind) {
                let locked = Locked { body: &body, version: version.as_deref(), uid: None };
                prop_assert_eq!(sent(&text, version.as_deref()), serde_json::to_value(&locked).unwrap());
                prop_assert_eq!(text.value(), &body);
            } else {
                let words = format!("{map:?}");
                prop_assert!(words.contains("null"), "{words}");
            }
        }
    }

    #[test]
    fn what_has_to_be_changed_first_is_no_text() {
        let map = |edit: fn(&mut ConfigMap)| {
            let mut map = ConfigMap::default();
            map.metadata.name = Some("a".to_owned());
            edit(&mut map);
            Text::of(&map, &kind::<ConfigMap>()).is_some()
        };
        assert!(map(|_| ()));
        assert!(!map(|map| map.metadata.resource_version = Some("7".to_owned())));
        assert!(!map(|map| map.metadata.managed_fields = Some(vec![ManagedFieldsEntry::default()])));
        assert!(!map(|map| map.data = Some([("a".to_owned(), "null".to_owned())].into())));
        assert!(Text::of(&Deployment::default(), &kind::<ConfigMap>()).is_none(), "another type");
        let object = json!({ "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": null } });
        let dynamic: DynamicObject = serde_json::from_value(object).unwrap();
        assert!(
            Text::of(&dynamic, &kind::<ConfigMap>()).is_none(),
            "it doesn't begin with its type, and has a null"
        );
        let text = Text::of(&ConfigMap::default(), &kind::<ConfigMap>()).unwrap();
        assert!(text.locked(None, Some("uid")).is_none(), "a uid is for the tree of values");
        assert!(!format!("{text:?}").contains("metadata"));
    }
}
