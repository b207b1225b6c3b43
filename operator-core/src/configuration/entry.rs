//! One setting as its source has it, and sources of one's own.

use crate::error::BoxError;

/// One setting from outside: a key, its value as text, and where it is written.
///
/// ```
/// use operator_core::configuration::ConfigEntry;
///
/// let entry = ConfigEntry::new("operator.reconciliation.termination-timeout", "40s", "row 7 of `settings`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) place: String,
}

impl ConfigEntry {
    /// The setting `key`, with all of its parts: `operator.…`. Errors say that it is at `place`.
    pub fn new(key: impl Into<String>, value: impl Into<String>, place: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into(), place: place.into() }
    }
}

/// A source of settings of one's own. JOSDK: `ConfigProvider`, which is asked for single keys; here a source tells all
/// that it has, so that a key which nobody knows is found.
///
/// ```
/// use operator_core::{BoxError, configuration::{ConfigEntry, ConfigProvider}};
///
/// struct Defaults;
///
/// impl ConfigProvider for Defaults {
///     fn entries(&self) -> Result<Vec<ConfigEntry>, BoxError> {
///         Ok(vec![ConfigEntry::new("operator.check-crd", "true", "the company's defaults")])
///     }
/// }
/// ```
pub trait ConfigProvider: Send + Sync {
    /// All of its settings, once, when the operator is built.
    ///
    /// # Errors
    /// If it can't be read. The operator then doesn't start.
    fn entries(&self) -> Result<Vec<ConfigEntry>, BoxError>;
}
