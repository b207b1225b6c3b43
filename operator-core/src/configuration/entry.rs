//! One setting of a source, and the trait of sources.

use crate::error::BoxError;

/// One external setting: a key, its value as text, and the place where it is written.
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

/// A configuration source. It lists all its keys, so unknown keys are detected. JOSDK: `ConfigProvider`, which is asked
/// for single keys.
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
    /// All of its settings. Called once, when the operator is built.
    ///
    /// # Errors
    /// If the source can't be read. Then the operator doesn't start.
    fn entries(&self) -> Result<Vec<ConfigEntry>, BoxError>;
}
