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
//! - Nothing is done about a record before its id is written, so that a crash can't lose it.
//! - Nothing is created while a create of the same record may have happened without an answer.
//! - Each step changes the facts, so that a record is done with after a few of them.

/// What is known about one record in a run.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// It is one of several, told apart by keys.
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
    /// Its deletion was asked for in this run, and takes time.
    pub(super) asked: bool,
    pub(super) doubt: Doubt,
    pub(super) search: Search,
    /// The attempt that comes next is noted.
    pub(super) noted: bool,
}

/// Whether an id is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

/// What the other system has under the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    NotYet,
    There,
    /// Nothing; but the system may show what it has only after a while.
    Lagging,
    Gone,
}

/// Whether a record may exist whose id nobody here knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    No,
    /// This process doesn't know what an earlier one has done.
    Unknown,
    /// A create was begun, and there was no answer.
    Attempted,
}

/// What the search by the token has found; what it finds becomes the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    NotYet,
    /// The other system can't be searched.
    Impossible,
    /// Nothing; but the system may show what it has only after a while.
    Lagging,
    Nothing,
    Several(usize),
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Write the id.
    Keep,
    /// Look at what the other system has under the id.
    Observe,
    /// Search for the token.
    Search,
    /// Note that a create is about to be sent.
    Note,
    Create,
    Update,
    Delete,
    /// Remove the id of what is gone.
    Forget,
    /// Nothing can be done in this run.
    Wait(Wait),
    /// So many records have the token.
    Twice(usize),
    Done(Done),
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// That the other system shows what it has.
    Shown,
    /// That a person says what has become of an attempt.
    Person,
}

/// How a record is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    AsWanted,
    /// Its deletion takes time.
    Going,
    Nothing,
}

impl Facts {
    /// What is done next.
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
            // Only the search tells whether there could be one, and so whether the attempt has to be noted.
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

    /// Whether only a note can tell the next process that a create was begun: where a search can't, or nobody has found out
    /// whether it can, and for one of several, whose key may not be wanted any more then.
    fn needs_note(&self) -> bool {
        self.several || matches!(self.search, Search::Impossible | Search::NotYet)
    }

    /// The other system has a record with this id.
    pub(super) fn found(&mut self, id: String, alike: bool) {
        self.id = Some((id, Kept::No));
        self.seen(alike);
        self.doubt = Doubt::No;
    }

    /// It is there.
    pub(super) fn seen(&mut self, alike: bool) {
        (self.seen, self.alike) = (Seen::There, alike);
    }

    /// There is nothing under the id. The record is searched for before it is made again: the id may be that of the record
    /// before it.
    pub(super) fn gone(&mut self) {
        self.seen = Seen::Gone;
        if self.doubt == Doubt::No {
            self.doubt = Doubt::Unknown;
        }
    }

    /// It was deleted, and nothing of it is left.
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
