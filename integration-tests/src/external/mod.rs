//! A system outside the cluster: it keeps records, and gives them their ids.

mod dependent;
mod record;

use std::{collections::BTreeMap, sync::Arc};

use anyhow::{Context as _, Result};
use operator_core::{ObjectKey, event_source::ExternalResource};
use parking_lot::Mutex;

pub use dependent::{ManyRecords, OneRecord, many_kept_records, many_records, one_kept_record, one_record};
pub use record::{EachWord, Word, Words, words_in};

/// A record as the other system keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The id that the system gave it.
    pub id: String,
    /// The name that its creator, who may have several records, has given it.
    pub name: String,
    /// Its content.
    pub data: String,
}

impl ExternalResource for Record {
    type Id = String;

    fn id(&self) -> String {
        self.id.clone()
    }
}

impl Record {
    /// A record to which the system hasn't given an id yet.
    #[must_use]
    pub const fn wanted(name: String, data: String) -> Self {
        Self { id: String::new(), name, data }
    }
}

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<String, Record>,
    /// The tokens of the records, by their ids.
    tokens: BTreeMap<String, String>,
    created: usize,
    lose_answers: usize,
}

/// The system. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ExternalSystem(Arc<Mutex<State>>);

impl ExternalSystem {
    /// Creates a record, with an id of the system's choice.
    ///
    /// # Errors
    /// When the answer is lost, see [`ExternalSystem::lose_answers`].
    pub fn create(&self, name: &str, data: &str) -> Result<Record> {
        self.create_for("", name, data)
    }

    /// The same for a token, by which it is found again.
    ///
    /// # Errors
    /// When the answer is lost, see [`ExternalSystem::lose_answers`].
    pub fn create_for(&self, token: &str, name: &str, data: &str) -> Result<Record> {
        let mut state = self.0.lock();
        state.created += 1;
        let id = format!("id-{}", state.created);
        let record = Record { id: id.clone(), name: name.to_owned(), data: data.to_owned() };
        state.records.insert(id.clone(), record.clone());
        state.tokens.insert(id, token.to_owned());
        if let Some(left) = state.lose_answers.checked_sub(1) {
            state.lose_answers = left;
            anyhow::bail!("the answer was lost");
        }
        Ok(record)
    }

    /// Changes a record.
    ///
    /// # Errors
    /// If there is none with that id.
    pub fn update(&self, id: &str, data: &str) -> Result<Record> {
        let mut state = self.0.lock();
        let record = state.records.get_mut(id).with_context(|| format!("there is no record {id}"))?;
        data.clone_into(&mut record.data);
        Ok(record.clone())
    }

    /// Removes a record; one that doesn't exist counts as removed.
    pub fn delete(&self, id: &str) {
        self.0.lock().records.remove(id);
    }

    /// The record of that id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Record> {
        self.0.lock().records.get(id).cloned()
    }

    /// The records that were made for a token.
    #[must_use]
    pub fn made_for(&self, token: &str) -> Vec<Record> {
        let state = self.0.lock();
        let is_made_for = |record: &&Record| state.tokens.get(&record.id).is_some_and(|of| of == token);
        state.records.values().filter(is_made_for).cloned().collect()
    }

    /// The records of that name, in the order of their ids.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<Record> {
        self.0.lock().records.values().filter(|record| record.name == name).cloned().collect()
    }

    /// All records, in the order of their ids.
    #[must_use]
    pub fn all(&self) -> Vec<Record> {
        self.0.lock().records.values().cloned().collect()
    }

    /// All records by the primaries of that namespace to which they belong; `primary_of` derives their names from those of the records.
    #[must_use]
    pub fn by_primary(
        &self,
        namespace: &str,
        primary_of: impl Fn(&str) -> &str,
    ) -> BTreeMap<ObjectKey, Vec<Record>> {
        let mut of = BTreeMap::<_, Vec<_>>::new();
        for record in self.all() {
            let key = ObjectKey::namespaced(namespace, primary_of(&record.name));
            of.entry(key).or_default().push(record);
        }
        of
    }

    /// How many records were ever created.
    #[must_use]
    pub fn created(&self) -> usize {
        self.0.lock().created
    }

    /// Loses the answers to the next creates, after they took effect.
    pub fn lose_answers(&self, creates: usize) {
        self.0.lock().lose_answers = creates;
    }
}
