//! Notes of creates that are about to be sent, in an annotation of the primary: after a crash, only they show that a
//! record may exist.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::resource::Object;

/// The notes of all nodes of one primary, by node and by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Notes(BTreeMap<String, BTreeMap<String, Note>>);

/// A create that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Its time, which distinguishes it from other attempts.
    pub(super) begun: String,
    /// The id of the record before it. Once another id is kept, the attempt has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
    /// Where the node keeps its ids: a field of the status, or a kind of objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<String>,
    /// The node's name at that time, which is part of the token, if it has another one now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<String>,
}

impl Note {
    /// Whether no id has been kept since.
    pub(super) fn is_open(&self, id: Option<&str>) -> bool {
        self.after.as_deref() == id
    }
}

impl Notes {
    /// The notes on an object. An invalid note counts as no note: someone has changed it by hand.
    pub(super) fn of(object: &dyn Object, annotation: &str) -> Self {
        let text = object.meta().annotations.as_ref().and_then(|all| all.get(annotation));
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The note of one record.
    pub(super) fn get(&self, node: &str, key: &str) -> Option<&Note> {
        self.0.get(node)?.get(key)
    }

    /// Whether there are any of this node.
    pub(super) fn has(&self, node: &str) -> bool {
        self.0.contains_key(node)
    }

    /// The nodes that have noted creates of records whose ids are kept in this place.
    pub(super) fn nodes_in(&self, place: &str) -> impl Iterator<Item = &String> {
        let is_here = move |note: &Note| note.place.as_deref() == Some(place);
        self.0.iter().filter(move |(_, notes)| notes.values().any(is_here)).map(|(node, _)| node)
    }

    /// The notes of that node are those of another one from now on.
    pub(super) fn pass_on(&mut self, from: &str, to: &str) {
        for (key, mut note) in self.0.remove(from).unwrap_or_default() {
            note.node.get_or_insert_with(|| from.to_owned());
            self.0.entry(to.to_owned()).or_default().entry(key).or_insert(note);
        }
    }

    /// The first moment from this one on at which no attempt was started: a person identifies an attempt by it.
    pub(super) fn free(&self, mut moment: Timestamp) -> Timestamp {
        let all = || self.0.values().flat_map(BTreeMap::values);
        while all().any(|note| note.begun == moment.to_string()) {
            let Ok(next) = moment.checked_add(SignedDuration::from_nanos(1)) else { break };
            moment = next;
        }
        moment
    }

    /// The keys of a node's records.
    pub(super) fn keys(&self, node: &str) -> impl Iterator<Item = &String> {
        self.0.get(node).into_iter().flat_map(BTreeMap::keys)
    }

    /// Adds a note, and removes the node's notes that are no longer open.
    pub(super) fn put(&mut self, node: &str, key: &str, note: Note, ids: &BTreeMap<String, String>) {
        let notes = self.0.entry(node.to_owned()).or_default();
        notes.retain(|key, note| note.is_open(ids.get(key).map(String::as_str)));
        notes.insert(key.to_owned(), note);
    }

    /// Removes a note.
    pub(super) fn take(&mut self, node: &str, key: &str) {
        if let Some(notes) = self.0.get_mut(node) {
            notes.remove(key);
        }
        self.0.retain(|_, notes| !notes.is_empty());
    }

    /// As text in the annotation; `None` if there are no notes.
    pub(super) fn text(&self) -> Option<String> {
        if self.0.is_empty() { None } else { serde_json::to_string(&self.0).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_attempts_on_one_primary_begin_at_the_same_moment() {
        let mut notes = Notes::default();
        let begin: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        for (node, key) in [("account", ""), ("hosts", "a"), ("hosts", "b")] {
            let note = Note { begun: notes.free(begin).to_string(), after: None, place: None, node: None };
            notes.put(node, key, note, &BTreeMap::new());
        }
        let begun = |node, key| notes.get(node, key).map(|note| note.begun.as_str());
        assert_eq!(begun("account", ""), Some("2026-01-01T00:00:00Z"));
        assert_eq!(begun("hosts", "a"), Some("2026-01-01T00:00:00.000000001Z"));
        assert_eq!(begun("hosts", "b"), Some("2026-01-01T00:00:00.000000002Z"));
    }
}
