//! The type for errors of user code, and how such an error says that a retry can't help.

use std::{error::Error as StdError, fmt};

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
#[derive(Debug)]
pub struct Permanent(NotRetried);

/// Found among the causes of an error, even if the error before it hides it: a boxed `anyhow::Error`, or an error that
/// presents it as its own.
#[derive(Debug)]
struct NotRetried(BoxError);

impl Permanent {
    /// Takes an error, or its message.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(NotRetried(error.into()))
    }

    /// The error itself.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0.0
    }

    /// The error that this one stands for, if this error itself says so.
    pub(crate) fn within<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
        let one = error.downcast_ref::<Self>().map(|permanent| &permanent.0);
        one.or_else(|| error.downcast_ref()).map(|inner: &NotRetried| &*inner.0 as _)
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

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.fmt(f)
    }
}

impl StdError for Permanent {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
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
