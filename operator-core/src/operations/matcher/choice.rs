//! The matcher that a dependent is configured with.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{GenericMatcher, Match};
use crate::resource::{KubeObject, Object};

/// A custom comparison: whether the actual object, the first one, is as desired.
pub(crate) type CustomMatch<K> = dyn Fn(&K, &K) -> bool + Send + Sync;

/// How a dependent is compared with what is desired. JOSDK: `Matcher`, and the `matcher` of a Kubernetes dependent.
#[derive(Default)]
pub enum Matcher<K: ?Sized> {
    /// An object that is applied is as desired if what was applied last is what is desired now, and if nobody has
    /// changed a field of it since. One that is replaced is compared by [`GenericMatcher`] with its defaults.
    ///
    /// Another spelling of the same state is another one, and is applied once: `1000m` instead of `1`, or ports in another
    /// order. So give lists an order that stays the same from run to run.
    ///
    /// What was applied last is noted in the object, in the annotation
    /// [`MarkNames::mark`](crate::resource::MarkNames::mark): a digest, which says nothing about the values of a Secret.
    /// Those are compared one by one.
    #[default]
    Auto,
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
}

impl<K: KubeObject> Matcher<K> {
    /// The same matcher, which doesn't know the type.
    pub(crate) fn erased(self) -> Matcher<dyn Object> {
        match self {
            Self::Auto => Matcher::Auto,
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
    /// Whether the content of `actual` is as desired. `body` is what would be sent for `desired`, with its `apiVersion`
    /// and `kind`. A function that says no names no path.
    ///
    /// # Errors
    /// If `actual` can't be turned into JSON. The error may repeat a part of it, so for a Secret it has to be masked.
    pub(crate) fn matches(
        &self,
        actual: &dyn Object,
        desired: &dyn Object,
        body: &Value,
    ) -> Result<Match, serde_json::Error> {
        match self {
            Self::Auto => Ok(GenericMatcher::new().matches(body, &actual.to_value()?)),
            Self::Generic(matcher) => Ok(matcher.matches(body, &actual.to_value()?)),
            Self::Custom(is_as_desired) => {
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
            Self::Generic(matcher) => Self::Generic(matcher.clone()),
            Self::Custom(is_as_desired) => Self::Custom(Arc::clone(is_as_desired)),
        }
    }
}

impl<K: ?Sized> fmt::Debug for Matcher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("Auto"),
            Self::Generic(matcher) => f.debug_tuple("Generic").field(matcher).finish(),
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}
