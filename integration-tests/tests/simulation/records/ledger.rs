//! The users' wishes for the other system, and its states.

use integration_tests::prelude::*;
use operator_core::{
    observe::{Observation, Observer, RunEnd},
    testing::{OtherSystem, OtherSystemError, simulation::Objects},
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::site::{Site, name_of};

/// The other system and the books about it. Clones share them.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) system: OtherSystem<String>,
    books: Arc<Mutex<Books>>,
    errors: UnboundedSender<String>,
}

#[derive(Default)]
struct Books {
    /// The current wishes of each site that has ever existed.
    wanted: BTreeMap<String, BTreeSet<String>>,
    /// How often each record was wanted anew.
    times: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Ledger {
    /// A separate system, and the errors of failed runs.
    pub(crate) fn new() -> (Self, UnboundedReceiver<String>) {
        let (errors, told) = unbounded_channel();
        let system = OtherSystem::new();
        system.unique(|record: &String| name_of(record));
        (Self { system, books: Arc::default(), errors }, told)
    }

    /// A user has set the wishes of this site.
    pub(crate) fn wants(&self, site: &Site) {
        let uid = site.uid().unwrap_or_default();
        let wanted: BTreeSet<String> = site.wants().into_keys().map(|key| format!("{uid}/{key}")).collect();
        let books = &mut *self.books.lock();
        let before = books.wanted.insert(uid, wanted.clone()).unwrap_or_default();
        wanted.difference(&before).for_each(|token| *books.times.entry(token.clone()).or_default() += 1);
    }

    /// Makes a record, and looks whether there is one already.
    pub(crate) async fn create(&self, token: &str, body: &str) -> Result<(String, String), OtherSystemError> {
        let before = self.existing(token);
        let made = self.system.create(token, body.to_owned()).await;
        if before + usize::from(made.is_ok()) > 1 {
            self.books.lock().wrong.push(format!("{token} is made although it exists"));
        }
        made
    }

    fn existing(&self, token: &str) -> usize {
        let all = self.system.records();
        all.iter().filter(|(_, made_for, body)| made_for == token && body.is_some()).count()
    }

    /// The conditions that must hold when all is quiet.
    pub(crate) fn judge(&self, objects: &Objects) -> Result<(), String> {
        let sites = objects.all::<Site>();
        let records = self.system.records();
        let mut wrong = self.books.lock().wrong.clone();
        let unpermitted = self.system.unpermitted().into_iter();
        wrong.extend(unpermitted.map(|call| format!("`{call}` was called without a permit")));
        let mut existing: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (id, token, body) in &records {
            if let Some(body) = body {
                existing.entry(token).or_default().push((id, body));
            }
        }
        for site in &sites {
            let (uid, ids) = (site.uid().unwrap_or_default(), site.ids());
            for (key, body) in site.wants() {
                let found = existing.remove(format!("{uid}/{key}").as_str()).unwrap_or_default();
                let id = ids.get(&key).map_or("none", String::as_str);
                if found != [(id, body.as_str())] {
                    let name = site.name_any();
                    wrong.push(format!("{key} of {name} should be {body:?} under {id}, and is {found:?}"));
                }
            }
            let useless = ids.keys().filter(|key| !site.wants().contains_key(*key));
            wrong.extend(useless.map(|key| format!("an id of {key} is kept, which isn't wanted")));
        }
        wrong.extend(existing.into_iter().map(|(token, left)| format!("{left:?} of {token} is left")));
        let tokens: BTreeSet<&String> = records.iter().map(|(_, token, _)| token).collect();
        for token in tokens {
            let (made, wanted) = (self.system.made_for(token), self.times(token));
            if made > wanted {
                wrong.push(format!("{token} was wanted {wanted} times, and made {made} times"));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let calls = self.system.calls().join(", ");
        Err(format!("{}; the records are {records:?}, the calls were {calls}", wrong.join("; ")))
    }

    fn times(&self, token: &str) -> usize {
        self.books.lock().times.get(token).copied().unwrap_or(0)
    }

    /// Tells what failed runs say.
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(Tells(self.errors.clone()))
    }
}

#[derive(Debug)]
struct Tells(UnboundedSender<String>);

impl Observer for Tells {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RunFinished { end: RunEnd::Failed { error, .. }, .. } = observation {
            // Nobody may be listening any more.
            let _ = self.0.send((*error).to_owned());
        }
    }
}
