//! The type for errors of user code, and how such an error says that a retry can't help, or that it is no failure.

use std::{error::Error as StdError, fmt, time::Duration};

/// Any error. The library keeps user errors in this type.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// An error after which the run is not retried: the next event, or the maximum interval, causes the next run. Use it if
/// only a change of the primary, or of something that is watched, can fix the problem.
///
/// Any user function may return it: `reconcile`, `cleanup`, a function that makes a desired state, a condition, or one
/// that creates or updates something. It may be anywhere in the chain of causes. If several nodes of a workflow fail,
/// the run is retried unless all of their errors are permanent.
///
/// ```
/// use operator_core::{BoxError, Permanent};
///
/// fn plan(name: &str) -> Result<u32, BoxError> {
///     match name {
///         "small" => Ok(1),
///         "large" => Ok(8),
///         _ => Err(Permanent::new(format!("there is no plan `{name}`")).into()),
///     }
/// }
/// # assert!(plan("huge").is_err());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}", self.get_ref())]
pub struct Permanent(#[source] NotRetried);

/// Found among the causes of an error, even if the error before it hides it: a boxed `anyhow::Error`, or an error that
/// presents it as its own.
#[derive(Debug)]
struct NotRetried(BoxError, Option<&'static str>);

impl Permanent {
    /// Takes an error, or its message.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(NotRetried(error.into(), None))
    }

    /// The reason of the conditions `Ready` and `Stalled` in the status, instead of `Failed`: one word in camel case.
    #[must_use]
    pub fn because(self, code: &'static str) -> Self {
        let Self(NotRetried(error, _)) = self;
        Self(NotRetried(error, Some(code)))
    }

    /// The error itself.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0.0
    }

    /// The error that this one stands for, if this error itself says so.
    pub(crate) fn within<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
        Self::mark(error).map(|inner| &*inner.0 as _)
    }

    /// The reason that this error itself gives.
    pub(crate) fn code(error: &(dyn StdError + 'static)) -> Option<&'static str> {
        Self::mark(error)?.1
    }

    fn mark<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e NotRetried> {
        error.downcast_ref::<Self>().map(|permanent| &permanent.0).or_else(|| error.downcast_ref())
    }

    /// Whether this is only the word that an error isn't retried.
    pub(crate) fn is_mark(error: &(dyn StdError + 'static)) -> bool {
        error.is::<NotRetried>()
    }

    /// Whether this error itself, without its causes, says so.
    pub(crate) fn is(error: &(dyn StdError + 'static)) -> bool {
        Self::within(error).is_some()
    }
}

impl fmt::Display for NotRetried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not retried")
    }
}

impl StdError for NotRetried {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// An error that is no failure: a step can't go on yet, and is to be asked again after some time. The run counts as
/// successful, uses up no attempt, and is in no metric of errors; its status is written. `Reconciling` is true, and `Ready` false
/// with the code.
///
/// Any user function may return it, as [`Permanent`]. In the function or a condition of a node, the node waits.
///
/// ```
/// use std::time::Duration;
///
/// use operator_core::{BoxError, Waiting};
///
/// fn licence(key: Option<&str>) -> Result<&str, BoxError> {
///     let wait = || Waiting::again_in(Duration::from_secs(60), "NoLicence", "no licence was issued yet");
///     Ok(key.ok_or_else(wait)?)
/// }
/// # assert!(licence(None).is_err());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Waiting(#[source] Awaited);

/// Found among the causes of an error, as the mark of a [`Permanent`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Awaited {
    pub(crate) after: Duration,
    pub(crate) code: &'static str,
    pub(crate) reason: String,
}

impl Waiting {
    /// `code` is one word in camel case, the reason of the conditions; `reason` is the reason for people.
    pub fn again_in(after: Duration, code: &'static str, reason: impl Into<String>) -> Self {
        Self(Awaited { after, code, reason: reason.into() })
    }

    /// What this error itself, without its causes, waits for.
    pub(crate) fn within<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e Awaited> {
        error.downcast_ref::<Self>().map(|waiting| &waiting.0).or_else(|| error.downcast_ref())
    }
}
