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
    resource::{AnyObject, Draft, KubeObject, LONGEST_NAME, Object, ObjectKey, digits},
};

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

/// Ids by the keys of their records; that of the only one is empty.
pub(super) type Ids = BTreeMap<String, String>;

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
    pub(super) fn of<K: Keeps>(several: bool) -> Self {
        let mut settings = ObjectSettings::<K>::new(Arc::from(""));
        settings.rules.keeps_ids = true;
        Self {
            managed: settings.finish(K::DynamicType::default()),
            make: |ids| Box::new(K::keeping(ids)),
            read: |object| object.typed_ref::<K>().map(K::ids),
            several,
        }
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
        match self.found(&own)? {
            Some(found) => self.ids_in(asked, &*found),
            None => Ok(BTreeMap::new()),
        }
    }

    /// The objects of nodes that the controller no longer has: the node, as its label names it, and the ids.
    pub(super) fn former(&self, asked: Asked<'_>) -> Result<BTreeMap<String, Ids>, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let former = own.of_former_nodes().map_err(Error::boxed)?.into_iter();
        former.map(|(node, object)| Ok((node, self.ids_in(asked, &*object)?))).collect()
    }

    /// The fields of the status with ids that no present node keeps there, with the keys in them. One record has one such field.
    pub(super) fn former_fields(&self, asked: Asked<'_>) -> Vec<(String, String)> {
        let paths = asked.context.fields_of_former_records();
        let is_known = self.several || paths.len() == 1;
        let split = |mut path: Vec<String>| {
            let key = if self.several { path.pop().unwrap_or_default() } else { String::new() };
            let field = path.join(".");
            let named = [field.as_str(), &key].join(".");
            asked
                .context
                .remembered()
                .lock()
                .note_records_of(&format!("`status.{}`", named.trim_end_matches('.')));
            (field, key)
        };
        paths.into_iter().filter(|_| is_known).map(split).collect()
    }

    /// Whether what former nodes have left could be another node's as well.
    pub(super) fn has_rivals(&self, asked: Asked<'_>) -> Result<bool, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        own.has_rivals().map_err(Error::boxed)
    }

    /// Makes the object of a former node the node's own. It keeps its name.
    pub(super) async fn take_over(&self, asked: Asked<'_>, former: &str) -> Result<(), BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        for (node, object) in own.of_former_nodes().map_err(Error::boxed)? {
            if node == former {
                let desired = self.draft(&own, self.ids_in(asked, &*object)?, Some(&*object))?;
                own.bring_about(&*desired, Some(object)).await.map_err(Error::boxed)?;
            }
        }
        Ok(())
    }

    /// Whether the first id can be written.
    ///
    /// # Errors
    /// If the server would refuse the object, or one of its name belongs to somebody else.
    pub(super) async fn try_out(&self, asked: Asked<'_>) -> Result<(), BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        if self.found(&own)?.is_some() {
            return Ok(());
        }
        let sample = BTreeMap::from([(String::new(), "an-id".to_owned())]);
        own.try_out(&*self.draft(&own, sample, None)?).await.map_err(Error::boxed)
    }

    /// The object of the node, which its mark shows, whatever its name; or its name, if it has lost the labels.
    fn found(&self, own: &OfPrimary<'_>) -> Result<Option<AnyObject>, BoxError> {
        let key = ObjectKey::in_meta(self.draft(own, Ids::new(), None)?.meta());
        let named = own.actual(&key).map_err(Error::boxed)?;
        Ok(own.removable().map_err(Error::boxed)?.pop().or(named))
    }

    fn ids_in(&self, asked: Asked<'_>, object: &dyn Object) -> Result<Ids, BoxError> {
        let source = self.managed.source(asked.context).map_err(Error::boxed)?;
        let known = source.get(&ObjectKey::in_meta(object.meta())).map_err(operations::Error::from)?;
        let ids = known.and_then(|known| (self.read)(&*known)).unwrap_or_default();
        Ok(match self.several {
            true => ids.into_iter().map(|(name, text)| read_entry(name, text)).collect(),
            false => ids.get(ONLY).map(|id| (String::new(), id.clone())).into_iter().collect(),
        })
    }

    /// Writes an id, or removes it.
    pub(super) async fn keep(&self, asked: Asked<'_>, key: &str, id: Option<&str>) -> Result<(), BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let there = self.found(&own)?;
        let mut ids = match (&there, self.several) {
            (Some(there), true) => self.ids_in(asked, &**there)?,
            _ => Ids::new(),
        };
        match id {
            Some(id) => drop(ids.insert(key.to_owned(), id.to_owned())),
            None => drop(ids.remove(key)),
        }
        let is_empty = ids.is_empty();
        let desired = self.draft(&own, ids, there.as_deref())?;
        let there = match there {
            Some(there) => Some(there),
            None => own.there(&ObjectKey::in_meta(desired.meta())).map_err(Error::boxed)?,
        };
        match (is_empty, there) {
            (true, Some(object)) => own.remove(&object).await.map(drop).map_err(Error::boxed)?,
            (true, None) => {}
            (false, there) => drop(own.bring_about(&*desired, there).await.map_err(Error::boxed)?),
        }
        Ok(())
    }

    /// The object with these ids, under the name of the one that is `there`.
    fn draft(
        &self,
        own: &OfPrimary<'_>,
        ids: Ids,
        there: Option<&dyn Object>,
    ) -> Result<AnyObject, BoxError> {
        let mut draft = (self.make)(match self.several {
            true => ids.iter().map(|(key, id)| entry(key, id)).collect(),
            false => ids.into_values().map(|id| (ONLY.to_owned(), id)).collect(),
        });
        draft.meta_mut().name = there.and_then(|there| there.meta().name.clone());
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
