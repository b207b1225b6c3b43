//! What is done next about one record. Pure: the engine does it, and asks again.
//!
//! ```text
//! an id is known ── not written yet ──▶ Keep
//!        ├─ not looked at ──▶ Observe
//!        ├─ there, wanted ──▶ Update, unless it is alike ──▶ Done
//!        └─ there, not wanted ──▶ Delete ── asked for ──▶ Done: it goes
//! no id, or what it named is gone
//!        ├─ a create may have happened, or comes ──▶ Search ── one ──▶ its id is known
//!        │        ├─ several ──▶ Twice
//!        │        └─ the other system can't be searched ──▶ Wait, if an attempt was noted
//!        ├─ wanted ──▶ Note the attempt, where a search can't find it ──▶ Create
//!        └─ not wanted ──▶ Forget the id ──▶ Done: nothing
//! ```
//!
//! # Guarantees
//! - Nothing is done about a record before its id is written, so a crash can't lose the record.
//! - Nothing is created while a create of the same record may have happened without an answer.
//! - Each step changes the facts, so a record is finished after a few of them.

/// What is known about one record in a run.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// It is one of several, distinguished by keys.
    pub(super) several: bool,
    /// It should exist.
    pub(super) wanted: bool,
    /// Its primary is being deleted, and the id with it.
    pub(super) ends: bool,
    /// The id that the other system gave it, and whether it is written where a crash doesn't lose it.
    pub(super) id: Option<(String, Kept)>,
    pub(super) seen: Seen,
    /// It is as wanted.
    pub(super) alike: bool,
    /// Its deletion was requested in this run, and takes time.
    pub(super) asked: bool,
    pub(super) doubt: Doubt,
    pub(super) search: Search,
    /// The next attempt is noted.
    pub(super) noted: bool,
}

/// Whether an id is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

/// The state in the other system under the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    NotYet,
    There,
    /// Nothing; but the system may show new records only after a while.
    Lagging,
    Gone,
}

/// Whether a record may exist whose id nobody here knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    No,
    /// The actions of an earlier process aren't known.
    Unknown,
    /// A create was sent, and was not answered.
    Attempted,
}

/// The result of the search by the token; a found id becomes the record's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    NotYet,
    /// The other system can't be searched.
    Impossible,
    /// Nothing; but the system may show new records only after a while.
    Lagging,
    Nothing,
    Several(usize),
}

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Write the id.
    Keep,
    /// Read the record under the id from the other system.
    Observe,
    /// Search for the token.
    Search,
    /// Note that a create is about to be sent.
    Note,
    Create,
    Update,
    Delete,
    /// Remove the id of a record that is gone.
    Forget,
    /// Nothing can be done in this run.
    Wait(Wait),
    /// The token belongs to this number of records.
    Twice(usize),
    Done(Done),
}

/// What a record waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The other system has to show the record.
    Shown,
    /// A person has to determine the outcome of an attempt.
    Person,
}

/// The outcome for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    AsWanted,
    /// Its deletion takes time.
    Going,
    Nothing,
}

impl Facts {
    /// Returns the next action.
    pub(super) fn next(&self) -> Action {
        if let Some((_, kept)) = &self.id {
            match (kept, self.seen) {
                (Kept::No, _) => return Action::Keep,
                (Kept::Yes, Seen::NotYet) => return Action::Observe,
                (Kept::Yes, Seen::There) if self.wanted && self.alike => return Action::Done(Done::AsWanted),
                (Kept::Yes, Seen::There) if self.wanted => return Action::Update,
                (Kept::Yes, Seen::There) if self.asked => return Action::Done(Done::Going),
                (Kept::Yes, Seen::There) => return Action::Delete,
                (Kept::Yes, Seen::Lagging) => return Action::Wait(Wait::Shown),
                (Kept::Yes, Seen::Gone) => {}
            }
        }
        match (self.doubt, self.search) {
            // Only the search shows whether there could be a record, and so whether the attempt has to be noted.
            (Doubt::No, Search::NotYet) if self.wanted && !self.several => return Action::Search,
            (Doubt::No, _) | (_, Search::Nothing) | (Doubt::Unknown, Search::Impossible) => {}
            (_, Search::NotYet) => return Action::Search,
            (_, Search::Lagging) => return Action::Wait(Wait::Shown),
            (_, Search::Several(number)) => return Action::Twice(number),
            (Doubt::Attempted, Search::Impossible) => return Action::Wait(Wait::Person),
        }
        match self.wanted {
            false if self.id.is_some() && !self.ends => Action::Forget,
            false => Action::Done(Done::Nothing),
            true if self.needs_note() && !self.noted => Action::Note,
            true => Action::Create,
        }
    }

    /// Whether only a note can tell the next process that a create was sent: if a search can't; if it isn't known yet
    /// whether it can; and for one of several records, whose key may no longer be wanted by then.
    fn needs_note(&self) -> bool {
        self.several || matches!(self.search, Search::Impossible | Search::NotYet)
    }

    /// The other system has a record with this id.
    pub(super) fn found(&mut self, id: String, alike: bool) {
        self.id = Some((id, Kept::No));
        self.seen(alike);
        self.doubt = Doubt::No;
    }

    /// The record exists.
    pub(super) fn seen(&mut self, alike: bool) {
        (self.seen, self.alike) = (Seen::There, alike);
    }

    /// Nothing exists under the id. The record is searched for before it is created again: the id may be that of the
    /// record before it.
    pub(super) fn gone(&mut self) {
        self.seen = Seen::Gone;
        if self.doubt == Doubt::No {
            self.doubt = Doubt::Unknown;
        }
    }

    /// It was deleted, and is gone.
    pub(super) fn deleted(&mut self) {
        self.seen = Seen::Gone;
    }

    /// The id is written.
    pub(super) fn kept(&mut self) {
        if let Some((_, kept)) = &mut self.id {
            *kept = Kept::Yes;
        }
    }

    /// The id is removed.
    pub(super) fn forgotten(&mut self) {
        self.id = None;
        self.doubt = Doubt::No;
    }
}
