//! What a dependent wants to exist.

/// What should exist: this, nothing, or what exists now.
#[must_use = "it has no effect unless a dependent returns it"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want<T> {
    /// This should exist.
    Is(T),
    /// Nothing should exist: an existing object is deleted. Contains the reason, in a form for people.
    None(String),
    /// What exists stays as it is. Nodes that depend on it wait, and those that it depends on aren't deleted.
    Hold {
        /// One word in camel case: the reason of the conditions in the status. Anything else is put before their message, and the
        /// reason is `Held`.
        code: &'static str,
        /// The same for people.
        reason: String,
    },
    /// The same, if nobody has to act: what it waits for comes by itself, and triggers the primary.
    Wait {
        /// As that of a hold; otherwise the reason is `Waiting`.
        code: &'static str,
        /// The same for people: a few words that complete "waiting: …".
        reason: String,
    },
}

impl<T> Want<T> {
    /// This should exist.
    pub fn of(wanted: T) -> Self {
        Self::Is(wanted)
    }

    /// Nothing should exist, and this is why.
    pub fn none(reason: impl Into<String>) -> Self {
        Self::None(reason.into())
    }

    /// What exists stays as it is until a person acts: the condition `Stalled` is true. `code` is one word in camel case, and
    /// `reason` is the reason for people.
    pub fn hold(code: &'static str, reason: impl Into<String>) -> Self {
        Self::Hold { code, reason: reason.into() }
    }

    /// What exists stays as it is until something else has come, which triggers the primary: an object that is referred to, for
    /// example. The condition `Reconciling` is true. `code` is one word in camel case, and `reason` is the reason for people.
    pub fn wait(code: &'static str, reason: impl Into<String>) -> Self {
        Self::Wait { code, reason: reason.into() }
    }

    /// The same answer about something else.
    pub(crate) fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Want<U>, E> {
        Ok(match self {
            Self::Is(wanted) => Want::Is(change(wanted)?),
            Self::None(reason) => Want::None(reason),
            Self::Hold { code, reason } => Want::Hold { code, reason },
            Self::Wait { code, reason } => Want::Wait { code, reason },
        })
    }

    /// Whether anything is wanted, without the content.
    pub(crate) fn answer(&self) -> Want<()> {
        match self {
            Self::Is(_) => Want::Is(()),
            Self::None(reason) => Want::None(reason.clone()),
            Self::Hold { code, reason } => Want::Hold { code, reason: reason.clone() },
            Self::Wait { code, reason } => Want::Wait { code, reason: reason.clone() },
        }
    }

    /// The wanted content, if there is any.
    pub(crate) fn wanted(&self) -> Option<&T> {
        match self {
            Self::Is(wanted) => Some(wanted),
            Self::None(_) | Self::Hold { .. } | Self::Wait { .. } => None,
        }
    }
}

impl Want<()> {
    /// What follows from both answers: any "no" removes, else any hold or wait keeps, the first one.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (no @ Self::None(_), _) | (_, no @ Self::None(_)) => no,
            (Self::Is(()), other) => other,
            (kept, _) => kept,
        }
    }
}

impl<T> From<T> for Want<T> {
    fn from(wanted: T) -> Self {
        Self::Is(wanted)
    }
}
