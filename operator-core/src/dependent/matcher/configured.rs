//! The matcher that a dependent is configured with.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{GenericMatcher, matches_applied};
use crate::{
    operations::matcher::Match,
    resource::{KubeObject, Object},
};

/// A custom comparison: whether the actual object, the first one, is as desired.
pub(crate) type CustomMatch<K> = dyn Fn(&K, &K) -> bool + Send + Sync;

/// How a dependent is written, which decides what a match means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written<'m> {
    /// By server-side apply, with this field manager.
    Applied {
        /// The field manager.
        manager: &'m str,
    },
    /// By POST and PUT.
    Replaced,
}

/// How a dependent is compared with what is desired. JOSDK: `Matcher`, and the `matcher` of a Kubernetes dependent.
#[derive(Default)]
pub enum Matcher<K: ?Sized> {
    /// By the managed fields if it is applied, otherwise by [`GenericMatcher`] with its defaults.
    #[default]
    Auto,
    /// By the managed fields: [`matches_applied`]. For dependents that are applied; a replaced one has no fields that were
    /// applied, and never matches ([`Matcher::needs_apply`]).
    Ssa,
    /// By content, whatever its owner.
    Generic(GenericMatcher),
    /// By a function.
    Custom(Arc<CustomMatch<K>>),
}

impl<K> Matcher<K> {
    /// A custom comparison: whether the actual object, the first one, is as desired.
    #[must_use]
    pub fn custom(is_as_desired: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        Self::Custom(Arc::new(is_as_desired))
    }

    /// Whether it can't be used for a dependent that is replaced.
    #[must_use]
    pub const fn needs_apply(&self) -> bool {
        matches!(self, Self::Ssa)
    }
}

impl<K: KubeObject> Matcher<K> {
    /// Whether writing `desired` would change `actual`. `body` is what would be sent for `desired`, with its
    /// `apiVersion` and `kind`. A custom comparison that fails names no path.
    ///
    /// # Errors
    /// If `actual` can't be turned into JSON. The error may repeat a part of it, so for a Secret it has to be masked.
    pub fn matches(
        &self,
        actual: &K,
        desired: &K,
        body: &Value,
        written: Written<'_>,
    ) -> Result<Match, serde_json::Error> {
        self.clone().erased().matches_any(actual, desired, body, written)
    }

    /// The same for a caller that doesn't know the type.
    pub(crate) fn erased(self) -> Matcher<dyn Object> {
        match self {
            Self::Auto => Matcher::Auto,
            Self::Ssa => Matcher::Ssa,
            Self::Generic(matcher) => Matcher::Generic(matcher),
            Self::Custom(is_as_desired) => {
                Matcher::Custom(Arc::new(move |actual: &dyn Object, desired: &dyn Object| {
                    match (actual.typed_ref(), desired.typed_ref()) {
                        (Some(actual), Some(desired)) => is_as_desired(actual, desired),
                        _ => false,
                    }
                }))
            }
        }
    }
}

impl Matcher<dyn Object> {
    /// See [`Matcher::matches`].
    pub(crate) fn matches_any(
        &self,
        actual: &dyn Object,
        desired: &dyn Object,
        body: &Value,
        written: Written<'_>,
    ) -> Result<Match, serde_json::Error> {
        let by_managed_fields = |manager: &str| {
            let managed = actual.meta().managed_fields.as_deref().unwrap_or_default();
            Ok(matches_applied(body, &actual.to_value()?, managed, manager))
        };
        let by_content = |matcher: &GenericMatcher| Ok(matcher.matches(body, &actual.to_value()?));
        match (self, written) {
            (Self::Auto | Self::Ssa, Written::Applied { manager }) => by_managed_fields(manager),
            (Self::Ssa, Written::Replaced) => Ok(Match::NeverApplied),
            (Self::Auto, Written::Replaced) => by_content(&GenericMatcher::new()),
            (Self::Generic(matcher), _) => by_content(matcher),
            (Self::Custom(is_as_desired), _) => {
                actual.check()?;
                Ok(if is_as_desired(actual, desired) { Match::Equal } else { Match::Differs(Vec::new()) })
            }
        }
    }
}

impl<K: ?Sized> Clone for Matcher<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Auto => Self::Auto,
            Self::Ssa => Self::Ssa,
            Self::Generic(matcher) => Self::Generic(matcher.clone()),
            Self::Custom(is_as_desired) => Self::Custom(Arc::clone(is_as_desired)),
        }
    }
}

impl<K: ?Sized> fmt::Debug for Matcher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("Auto"),
            Self::Ssa => f.write_str("Ssa"),
            Self::Generic(matcher) => f.debug_tuple("Generic").field(matcher).finish(),
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}
