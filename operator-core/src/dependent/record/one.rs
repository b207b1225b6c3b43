//! One record in one run: carries out the steps.

pub(super) mod notes;

use std::{future::Future, sync::Arc};

use super::{
    External, Found as Searched, NotMade, Token,
    engine::{Engine, Start, several},
    looks::Looks,
    memory::{ExternalId, Known},
    step::{Action, Done, Facts, Kept, Search, Seen, Wait},
};
use crate::{
    dependent::{
        Asked, Deletion, Error,
        system::{CallError, CallKind, RecordId},
    },
    observe::with_sources,
    reconciler::{BoxError, Context},
    resource::KubeObject,
    results::Operation,
};

/// One record.
pub(super) struct One<'r, E: External<P>, P: KubeObject> {
    of: &'r Engine<E, P>,
    asked: Asked<'r>,
    context: &'r Context<P>,
    start: &'r Start,
    key: &'r str,
    token: Token,
    want: Option<&'r E::Resource>,
    facts: Facts,
    resource: Option<Arc<E::Resource>>,
    operation: Operation,
    /// A note of an earlier run exists, open or not.
    has_note: bool,
}

/// The outcome for a record: the operation and the record; `None` if there was nothing to do.
pub(super) struct Left<R> {
    pub(super) done: Done,
    pub(super) resource: Option<(Operation, Arc<R>)>,
}

impl<'r, E: External<P>, P: KubeObject> One<'r, E, P> {
    /// `want` is what should exist.
    pub(super) fn new(
        of: &'r Engine<E, P>,
        asked: Asked<'r>,
        context: &'r Context<P>,
        start: &'r Start,
        key: &'r str,
        want: Option<&'r E::Resource>,
    ) -> Self {
        let uid = context.any().run().uid.as_str();
        let written = start.ids.get(key).map(String::as_str);
        let open = start.notes.get(asked.node, key).filter(|note| note.is_open(written));
        let is_forgotten = open.is_some() && open.map(|note| &note.begun) == start.forgotten.as_ref();
        let follows = of.ids.follow();
        let (id, doubt, gone) = of.memory.of(context.any().scope(), key, |known| {
            known.unanswered &= !is_forgotten;
            let open = open.filter(|note| known.unsent.as_ref() != Some(&note.begun));
            let doubt = known.doubt(several::<E, P>(), open.is_some() && !is_forgotten);
            (known.id(written), doubt, known.gone.clone())
        });
        // Another node, or another record, may take longer.
        let is_gone = want.is_none() && gone.is_some() && gone.as_ref() == id.as_ref().map(|(id, _)| id);
        let facts = Facts {
            several: several::<E, P>(),
            wanted: want.is_some(),
            // An id that follows from the primary needn't be forgotten.
            ends: follows || asked.primary.meta().deletion_timestamp.is_some(),
            id: id.map(|(id, kept)| (id, if kept { Kept::Yes } else { Kept::No })),
            seen: if is_gone { Seen::Gone } else { Seen::NotYet },
            alike: false,
            asked: false,
            doubt,
            // Any record created before has the same id, so there is nothing to search for.
            search: if follows { Search::Nothing } else { Search::NotYet },
            noted: follows,
        };
        let token = Token::of(uid, asked.node, key);
        let operation = Operation::Matched;
        let has_note = start.notes.get(asked.node, key).is_some();
        Self { of, asked, context, start, key, token, want, facts, resource: None, operation, has_note }
    }

    /// Does all that can be done about it.
    pub(super) async fn work(mut self) -> Result<Left<E::Resource>, BoxError> {
        loop {
            match self.facts.next() {
                Action::Keep => self.keep().await?,
                Action::Observe => self.observe().await?,
                Action::Search => self.search().await?,
                Action::Note => self.note().await?,
                Action::Create => self.create().await?,
                Action::Update => self.update().await?,
                Action::Delete => self.delete().await?,
                Action::Forget => self.forget().await?,
                Action::Wait(wait) => return Err(self.waits(wait).boxed()),
                Action::Twice(number) => return Err(Error::FoundTwice { token: self.token, number }.boxed()),
                Action::Done(done) => {
                    if done == Done::Nothing {
                        self.clear_note().await?;
                    }
                    return Ok(self.done(done));
                }
            }
        }
    }

    fn known<T>(&self, read: impl FnOnce(&mut Known<E::Resource>) -> T) -> T {
        self.of.memory.of(self.context.any().scope(), self.key, read)
    }

    fn id(&self) -> String {
        self.facts.id.as_ref().map(|(id, _)| id.clone()).unwrap_or_default()
    }

    fn written(&self) -> Option<&str> {
        self.start.ids.get(self.key).map(String::as_str)
    }

    /// The record as it is known to the limits of the other system.
    fn record(&self) -> RecordId<'_> {
        RecordId { scope: self.context.any().scope(), token: self.token.as_str() }
    }

    /// Calls the other system, once its limits allow it. Such calls don't count among the dependents' concurrent calls:
    /// waiting for a slow system doesn't delay others.
    async fn call<T: Send>(
        &self,
        kind: CallKind,
        call: impl Future<Output = Result<T, BoxError>> + Send,
    ) -> Result<T, CallError> {
        let wall = self.context.wall_clock();
        self.of.system.call(self.record(), kind, wall, is_not_made, call).await
    }

    /// The token of the record, and those that it had under former names of its node.
    fn tokens(&self) -> Vec<Token> {
        let uid = self.context.any().run().uid.as_str();
        let noted = self.start.notes.get(self.asked.node, self.key).and_then(|note| note.node.as_ref());
        let former = self.start.former.iter().chain(noted).map(|node| Token::of(uid, node, self.key));
        let mut all: Vec<_> = former.chain([self.token.clone()]).collect();
        all.dedup();
        all
    }

    fn is_alike(&self, actual: &E::Resource) -> bool {
        self.want.is_none_or(|want| self.of.external.matches(actual, want))
    }

    /// The record exists, and this is its state.
    fn saw(&mut self, actual: Arc<E::Resource>) {
        let by = self.facts.id.as_ref().map(|(id, _)| id.clone());
        self.known(|known| {
            known.by = by;
            (known.missing_since, known.unanswered, known.settled) = (None, false, true);
            (known.seen, known.gone) = (Some(Arc::clone(&actual)), None);
        });
        self.resource = Some(actual);
    }

    /// Whether the other system may still show a record that it doesn't show now.
    fn may_lag(&self) -> bool {
        let now = self.context.any().shared().writer.environment.now();
        let since = self.known(|known| *known.missing_since.get_or_insert(now));
        now < since + self.of.shows_within
    }

    async fn keep(&mut self) -> Result<(), BoxError> {
        let (id, _one_at_a_time) = (self.id(), self.context.any().primary_writes.lock().await);
        self.of.ids.keep((self.facts.several, self.key), Some(&id), self.asked).await?;
        self.facts.kept();
        Ok(())
    }

    async fn observe(&mut self) -> Result<(), BoxError> {
        let id = self.id();
        let remembered = match &self.of.looks {
            Looks::InEachRun => None,
            Looks::Polled(_) => self.of.looks.polled(self.context, &id).await?,
            Looks::Pushed => self.known(|known| known.seen.clone().filter(|_| !known.stale)),
        };
        let is_new = remembered.is_none();
        let found = match remembered {
            Some(found) => Some(found),
            None => {
                // A push from now on is newer than the answer.
                self.known(|known| known.stale = false);
                let observed = self.call(CallKind::Observe, self.of.external.observe(&id)).await;
                observed.map_err(CallError::boxed)?.map(Arc::new)
            }
        };
        match found {
            Some(actual) => {
                let alike = self.is_alike(&actual);
                if is_new {
                    self.of.looks.made(self.context, &id, &actual);
                }
                self.saw(actual);
                self.facts.seen(alike);
            }
            None if self.may_lag() => self.facts.seen = Seen::Lagging,
            None => {
                self.is_gone(&id);
                self.facts.gone();
            }
        }
        Ok(())
    }

    /// Forgets everything about the record.
    fn is_gone(&self, id: &str) {
        let last = self.known(|known| {
            known.by = None;
            known.seen.take()
        });
        if let Some(last) = last {
            self.of.looks.gone(self.context, id, &last);
        }
    }

    async fn search(&mut self) -> Result<(), BoxError> {
        let mut found = Vec::new();
        for token in self.tokens() {
            let searched = self.call(CallKind::Find, self.of.external.find(&token)).await;
            match searched.map_err(CallError::boxed)? {
                Searched::NotSearchable => {
                    self.facts.search = Search::Impossible;
                    return Ok(());
                }
                Searched::Records(more) => found.extend(more),
            }
        }
        // A record that is known to be gone may still be shown for a while.
        found.retain(|(id, _)| self.facts.id.as_ref().is_none_or(|(gone, _)| gone != id));
        match found.len() {
            0 if self.may_lag() => self.facts.search = Search::Lagging,
            0 => {
                self.known(|known| (known.unanswered, known.settled) = (false, true));
                self.facts.search = Search::Nothing;
            }
            1 => {
                if let Some((id, actual)) = found.pop() {
                    self.found(id, Arc::new(actual));
                }
            }
            number => self.facts.search = Search::Several(number),
        }
        Ok(())
    }

    /// The id is known from now on, whatever happens.
    fn found(&mut self, id: String, actual: Arc<E::Resource>) {
        if !self.of.ids.follow() {
            let found = ExternalId { id: id.clone(), before: self.written().map(str::to_owned) };
            self.known(|known| known.id = Some(found));
        }
        self.of.looks.made(self.context, &id, &actual);
        self.facts.found(id, self.is_alike(&actual));
        self.saw(actual);
    }

    async fn create(&mut self) -> Result<(), BoxError> {
        let Some(want) = self.want else { return Ok(()) };
        self.of.try_out(self.asked).await?;
        // Before the call, because it may be dropped at any time.
        let before = self.known(|known| {
            // A record that is created now may be shown as late as any before it.
            let before = (std::mem::replace(&mut known.unanswered, true), known.missing_since.take());
            (before.0, before.1, known.unsent.take())
        });
        let creation = self.call(CallKind::Create, self.of.external.create(want, &self.token));
        match creation.await {
            Ok((id, actual)) => {
                let id = if self.of.ids.follow() { self.id() } else { id };
                if id.is_empty() {
                    return Err(Error::NoId { token: self.token.clone() }.boxed());
                }
                self.found(id, Arc::new(actual));
                // The system's version of it is compared in the next run, which sees how the system stores an update.
                (self.facts.alike, self.operation) = (true, Operation::Created);
                Ok(())
            }
            Err(CallError::NotCalled(error)) => {
                self.known(|known| (known.unanswered, known.missing_since, known.unsent) = before);
                self.take_note().await?;
                Err(error.boxed())
            }
            Err(CallError::Refused(error)) if is_not_made(&error) => {
                self.known(|known| {
                    (known.unanswered, known.missing_since, known.unsent) = (false, before.1, before.2);
                });
                self.take_note().await?;
                Err(error)
            }
            Err(error) => Err(error.boxed()),
        }
    }

    async fn update(&mut self) -> Result<(), BoxError> {
        let (Some(want), Some(actual)) = (self.want, self.resource.take()) else { return Ok(()) };
        let id = self.id();
        let update = self.call(CallKind::Update, self.of.external.update(&id, &actual, want));
        let updated = update.await.map_err(CallError::boxed)?;
        let updated = Arc::new(updated);
        self.of.looks.changed(self.context, &id, (&actual, &updated));
        self.saw(updated);
        (self.facts.alike, self.operation) = (true, Operation::Updated);
        Ok(())
    }

    async fn delete(&mut self) -> Result<(), BoxError> {
        let id = self.id();
        let deletion = self.call(CallKind::Delete, self.of.external.delete(&id));
        let deletion = deletion.await.map_err(CallError::boxed)?;
        self.operation = Operation::Deleted;
        match deletion {
            Deletion::Asked => {
                // Perhaps nothing reports when it is done.
                self.context.any().remembered().lock().note_asked();
                self.known(|known| known.stale = true);
                self.facts.asked = true;
            }
            Deletion::Gone => {
                self.is_gone(&id);
                self.known(|known| known.gone = Some(id));
                self.facts.deleted();
            }
        }
        Ok(())
    }

    async fn forget(&mut self) -> Result<(), BoxError> {
        // Without the id the attempt would count as open again.
        self.clear_note().await?;
        let _one_at_a_time = self.context.any().primary_writes.lock().await;
        self.of.ids.keep((self.facts.several, self.key), None, self.asked).await?;
        self.known(|known| (known.id, known.settled) = (None, true));
        self.facts.forgotten();
        Ok(())
    }

    fn waits(&self, wait: Wait) -> Error {
        match wait {
            Wait::Shown => Error::NotShown { token: self.token.clone(), within: self.of.shows_within },
            Wait::Person => {
                let note = self.start.notes.get(self.asked.node, self.key);
                let begun = note.map(|note| note.begun.clone()).unwrap_or_default();
                let names = self.context.any().shared().marks.names();
                Error::InDoubt {
                    token: self.tokens().swap_remove(0),
                    place: self.of.ids.place(),
                    annotation: Arc::from(names.forget_attempt()),
                    begun,
                }
            }
        }
    }

    fn done(self, done: Done) -> Left<E::Resource> {
        if done == Done::Nothing {
            self.known(|known| known.settled = true);
            // As long as the id is written, or an attempt is noted, a further run asks again, and doesn't have to wait again.
            if self.facts.several && self.facts.id.is_none() && !self.has_note {
                self.of.memory.forget(self.context.any().scope(), self.key);
            }
        }
        let operation = self.operation;
        let resource = self.resource.map(|resource| (operation, resource));
        Left { done, resource }
    }
}

/// Whether the other system has said that it created nothing.
pub(super) fn is_not_made(error: &BoxError) -> bool {
    with_sources(&**error).any(|error| error.is::<NotMade>())
}
