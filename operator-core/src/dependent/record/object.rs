//! Ids that are kept in an object of the cluster.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    dependent::{
        Asked, Declaration, Error, ObjectSettings,
        object::{Managed, OfPrimary},
    },
    operations,
    reconciler::BoxError,
    resource::{AnyObject, Draft, KubeObject, Object, ObjectKey, digits},
};

/// The longest name of an entry.
const LONGEST_NAME: usize = 253;

/// The number of digits of a key's hash in the name.
const DIGITS: usize = 32;

/// The name of the only entry, if there is one record.
const ONLY: &str = "id";

/// The beginning of the names of entries for keys that can't be names.
const HASHED: &str = "key-";

/// The entry for a record with that key and id. If the server wouldn't accept the key as a name, the entry is named after a hash
/// of the key, and contains the key and the id.
fn entry(key: &str, id: &str) -> (String, String) {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    let is_name = !key.is_empty() && key.len() <= LONGEST_NAME && key.chars().all(fits);
    if is_name && !key.starts_with('.') && !key.starts_with(HASHED) {
        return (key.to_owned(), id.to_owned());
    }
    let name = format!("{HASHED}{}", digits(Sha256::digest(key), DIGITS));
    (name, json!([key, id]).to_string())
}

/// The key and the id of an entry.
fn read_entry(name: String, text: String) -> (String, String) {
    let hashed = Some(&text).filter(|_| name.starts_with(HASHED));
    hashed.and_then(|text| serde_json::from_str(text).ok()).unwrap_or((name, text))
}

/// An object with ids.
pub(super) trait Keeps: KubeObject<DynamicType: Default> {
    fn keeping(ids: BTreeMap<String, String>) -> Self;
    fn ids(&self) -> BTreeMap<String, String>;
}

impl Keeps for ConfigMap {
    fn keeping(ids: BTreeMap<String, String>) -> Self {
        Self { data: Some(ids), ..Self::default() }
    }

    fn ids(&self) -> BTreeMap<String, String> {
        self.data.clone().unwrap_or_default()
    }
}

impl Keeps for Secret {
    fn keeping(ids: BTreeMap<String, String>) -> Self {
        let bytes = ids.into_iter().map(|(key, id)| (key, ByteString(id.into_bytes())));
        Self { data: Some(bytes.collect()), ..Self::default() }
    }

    fn ids(&self) -> BTreeMap<String, String> {
        let text = |id: &ByteString| String::from_utf8(id.0.clone()).ok();
        let data = self.data.iter().flatten();
        data.filter_map(|(key, id)| Some((key.clone(), text(id)?))).collect()
    }
}

/// The objects of a node that keep its ids, one for each primary: `<primary>-<node>`, owned by the primary.
pub(super) struct IdObject {
    managed: Managed,
    make: fn(BTreeMap<String, String>) -> Box<dyn Draft>,
    read: fn(&dyn Object) -> Option<BTreeMap<String, String>>,
    several: bool,
}

impl IdObject {
    /// Objects of type `K`.
    pub(super) fn of<K: Keeps>(several: bool) -> Arc<Self> {
        Arc::new(Self {
            managed: ObjectSettings::<K>::new(Arc::from("")).finish(K::DynamicType::default()),
            make: |ids| Box::new(K::keeping(ids)),
            read: |object| object.typed_ref::<K>().map(K::ids),
            several,
        })
    }

    /// What is known about it before anything runs.
    pub(super) fn declaration(&self) -> Declaration {
        self.managed.declaration()
    }

    /// Its kind, for people.
    pub(super) fn kind(&self) -> &str {
        self.managed.kind.kind()
    }

    /// The ids, by key; none if the primary has no such object.
    pub(super) fn written(&self, asked: Asked<'_>) -> Result<BTreeMap<String, String>, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let key = ObjectKey::in_meta(self.draft(&own, BTreeMap::new())?.meta());
        let Some(known) = own.actual(&key).map_err(Error::boxed)? else { return Ok(BTreeMap::new()) };
        drop(known);
        let source = self.managed.source(asked.context).map_err(Error::boxed)?;
        let known = source.get(&key).map_err(operations::Error::from)?;
        let ids = known.and_then(|known| (self.read)(&*known)).unwrap_or_default();
        Ok(match self.several {
            true => ids.into_iter().map(|(name, text)| read_entry(name, text)).collect(),
            false => ids.get(ONLY).map(|id| (String::new(), id.clone())).into_iter().collect(),
        })
    }

    /// Writes an id, or removes it.
    pub(super) async fn keep(&self, asked: Asked<'_>, key: &str, id: Option<&str>) -> Result<(), BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let mut ids = match self.several {
            true => self.written(asked)?,
            false => BTreeMap::new(),
        };
        let key = if self.several { key } else { ONLY };
        match id {
            Some(id) => drop(ids.insert(key.to_owned(), id.to_owned())),
            None => drop(ids.remove(key)),
        }
        let is_empty = ids.is_empty();
        if self.several {
            ids = ids.iter().map(|(key, id)| entry(key, id)).collect();
        }
        let desired = self.draft(&own, ids)?;
        let there = own.there(&ObjectKey::in_meta(desired.meta())).map_err(Error::boxed)?;
        match (is_empty, there) {
            (true, Some(object)) => own.remove(&object).await.map(drop).map_err(Error::boxed)?,
            (true, None) => {}
            (false, there) => drop(own.bring_about(&*desired, there).await.map_err(Error::boxed)?),
        }
        Ok(())
    }

    fn draft(&self, own: &OfPrimary<'_>, ids: BTreeMap<String, String>) -> Result<AnyObject, BoxError> {
        let mut draft = (self.make)(ids);
        own.completed(&mut *draft, true).map_err(Error::boxed)?;
        own.marked(draft).map_err(Error::boxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_an_entry_of_its_own_that_the_server_takes() {
        let long = "a".repeat(254);
        let keys = [
            "a",
            "www.example.com",
            "www.example.com/A",
            "*.example.com",
            "me@example.com",
            ".",
            "..",
            "key-a",
            &long,
            "",
        ];
        let entries: BTreeMap<_, _> = keys.iter().map(|key| entry(key, "id-1")).collect();
        assert_eq!(entries.len(), keys.len());
        for (name, text) in entries {
            assert!(name.len() <= 253 && !name.starts_with('.') && !name.contains(['/', '*', '@']), "{name}");
            let (key, id) = read_entry(name, text);
            assert!(keys.contains(&&*key) && id == "id-1", "{key}: {id}");
        }
        assert_eq!(entry("www.example.com", "id-1"), ("www.example.com".to_owned(), "id-1".to_owned()));
        let by_hand = ("key-a".to_owned(), "id-1".to_owned());
        assert_eq!(read_entry(by_hand.0.clone(), by_hand.1.clone()), by_hand, "as it was written before");
    }
}
