//! Finds secrets in everything that is logged, at every level, and in everything that the operator sends.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::forms::{forms, is_secret, values};
use crate::testing::faults::RequestTarget;

/// Where secrets were found, and which ones are searched for. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Canaries(Arc<SecretSearch>);

#[derive(Debug, Default)]
struct SecretSearch {
    /// Whether there is anything to search for: checked for every line that is logged.
    any: AtomicBool,
    /// Whether texts from before a secret was known are remembered, because a password may be logged before it is
    /// stored.
    remembers: bool,
    state: Mutex<SecretsFound>,
}

#[derive(Debug, Default)]
struct SecretsFound {
    forms: Vec<String>,
    known: Vec<Vec<u8>>,
    public: Vec<Vec<u8>>,
    said: Vec<(String, String)>,
    found: Vec<String>,
}

/// The maximum number of texts that are remembered.
const MOST_SAID: usize = 100_000;

impl Canaries {
    /// With memory of what was said before a secret was known: for the calm run, because it takes time.
    pub(super) fn remembering() -> Self {
        Self(Arc::new(SecretSearch { remembers: true, ..SecretSearch::default() }))
    }

    /// From now on this is searched for.
    pub(super) fn watch_for(&self, secret: &[u8]) {
        let state = &mut *self.0.state.lock();
        if state.known.iter().chain(&state.public).any(|known| known == secret) {
            return;
        }
        state.known.push(secret.to_vec());
        let forms = forms(secret);
        let told =
            state.said.iter().filter(|(_, text)| forms.iter().any(|form| text.contains(form.as_str())));
        let places: Vec<String> = told.map(|(place, _)| place.clone()).collect();
        places.into_iter().for_each(|place| state.found(place));
        state.forms.extend(forms);
        self.0.any.store(true, Ordering::Relaxed);
    }

    /// This isn't a secret, although it is part of one.
    pub(super) fn is_public(&self, text: &str) {
        self.0.state.lock().public.push(text.as_bytes().to_vec());
    }

    /// The server has stored a Secret: its content must not appear anywhere else.
    pub(super) fn stored(&self, secret: &[u8]) {
        values(secret).iter().filter(|value| is_secret(value)).for_each(|value| self.watch_for(value));
    }

    /// Where secrets were found: the places in the source that logged them, the requests that they were sent in.
    pub(super) fn found(&self) -> Vec<String> {
        self.0.state.lock().found.clone()
    }

    /// Whether there is anything to search.
    pub(super) fn listen(&self) -> bool {
        self.0.remembers || self.0.any.load(Ordering::Relaxed)
    }

    /// Searches what is sent: even if it is overwritten later, or is not part of the state, such as Events.
    pub(super) fn look_at_request(&self, target: &RequestTarget, uri: &str, body: &[u8]) {
        self.look_at(uri, || format!("asked for in {target}"));
        if target.resource != "secrets" {
            self.look_at(&String::from_utf8_lossy(body), || format!("sent in {target}"));
        }
    }

    /// Searches for all known secrets.
    pub(super) fn look_at(&self, text: &str, place: impl Fn() -> String) {
        let state = &mut *self.0.state.lock();
        if state.forms.iter().any(|form| text.contains(form.as_str())) {
            state.found(place());
        } else if self.0.remembers && state.said.len() < MOST_SAID {
            state.said.push((place(), text.to_owned()));
        }
    }
}

impl SecretsFound {
    fn found(&mut self, place: String) {
        if !self.found.contains(&place) {
            self.found.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_the_secret_was_stored_is_found_in_the_calm_run() {
        let secret = br#"{"data":{"password":"aHVudGVyMg==","port":"NTQzMg==","user":"cG9zdGdyZXM="}}"#;
        for (canaries, places) in [(Canaries::remembering(), 2), (Canaries::default(), 1)] {
            canaries.is_public("postgres");
            canaries.look_at("the password is hunter2", || "before".to_owned());
            canaries.stored(secret);
            canaries.look_at("postgres at 5432", || "public".to_owned());
            canaries.look_at("Basic cG9zdGdyZXM6aHVudGVyMg==", || "after".to_owned());
            assert_eq!(canaries.found().len(), places, "{:?}", canaries.found());
        }
    }
}
