//! The client of a DNS provider, in the place of the crate that you have for yours. It keeps the records in memory.
#![allow(dead_code, unreachable_pub, reason = "it stands for a crate")]

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub name: String,
    pub address: String,
}

#[derive(Debug)]
pub struct Error(String);

#[derive(Debug)]
pub struct Client;

/// The provider has them: by id, each with its comment.
static RECORDS: Mutex<BTreeMap<String, (Record, String)>> = Mutex::new(BTreeMap::new());

/// No id is given twice.
static LAST_ID: AtomicU32 = AtomicU32::new(0);

fn records() -> MutexGuard<'static, BTreeMap<String, (Record, String)>> {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Record {
    pub fn a(name: &str, address: &str) -> Self {
        Self { name: name.to_owned(), address: address.to_owned() }
    }
}

impl Client {
    pub fn new() -> Self {
        Self
    }

    pub async fn get(&self, id: &str) -> Result<Option<Record>, Error> {
        Ok(records().get(id).map(|(record, _)| record.clone()))
    }

    pub async fn post(&self, record: &Record, comment: &str) -> Result<(String, Record), Error> {
        let id = format!("record-{}", LAST_ID.fetch_add(1, Ordering::Relaxed) + 1);
        records().insert(id.clone(), (record.clone(), comment.to_owned()));
        Ok((id, record.clone()))
    }

    pub async fn put(&self, id: &str, record: &Record) -> Result<Record, Error> {
        let mut records = records();
        let (known, _) = records.get_mut(id).ok_or_else(|| Error(format!("there is no record {id}")))?;
        *known = record.clone();
        Ok(record.clone())
    }

    pub async fn remove(&self, id: &str) -> Result<(), Error> {
        records().remove(id);
        Ok(())
    }

    pub async fn search(&self, comment: &str) -> Result<Vec<(String, Record)>, Error> {
        let records = records();
        let found = records.iter().filter(|(_, (_, of_it))| of_it == comment);
        Ok(found.map(|(id, (record, _))| (id.clone(), record.clone())).collect())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// What the provider's own page shows, where somebody else may look, and change a record.
pub fn shown() -> Vec<(String, String)> {
    records()
        .iter()
        .map(|(id, (record, _))| (id.clone(), format!("{} {}", record.name, record.address)))
        .collect()
}

pub fn change_by_hand(id: &str, address: &str) -> bool {
    let mut records = records();
    let Some((record, _)) = records.get_mut(id) else { return false };
    address.clone_into(&mut record.address);
    true
}
