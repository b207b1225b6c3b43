//! A body with its lock, serialized as it is sent, without a copy of the body. Pure.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};

/// A body whose metadata has this version, and this uid, if one is given.
pub(in crate::operations) struct Locked<'a> {
    pub(in crate::operations) body: &'a Value,
    pub(in crate::operations) version: Option<&'a str>,
    pub(in crate::operations) uid: Option<&'a str>,
}

/// The metadata of such a body.
struct Metadata<'a> {
    fields: Option<&'a Map<String, Value>>,
    version: Option<&'a str>,
    uid: Option<&'a str>,
}

impl Serialize for Locked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.body.as_object() else { return self.body.serialize(serializer) };
        let (version, uid) = (self.version, self.uid);
        let metadata = |fields| Metadata { fields, version, uid };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in fields {
            match value {
                Value::Object(fields) if name == "metadata" => {
                    map.serialize_entry(name, &metadata(Some(fields)))?;
                }
                value => map.serialize_entry(name, value)?,
            }
        }
        if !fields.contains_key("metadata") && (version.is_some() || uid.is_some()) {
            map.serialize_entry("metadata", &metadata(None))?;
        }
        map.end()
    }
}

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let given = [("resourceVersion", self.version), ("uid", self.uid)];
        let given = || given.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.fields.into_iter().flatten() {
            if !given().any(|(given, _)| given == name) {
                map.serialize_entry(name, value)?;
            }
        }
        for (name, value) in given() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
