//! Reads the sources of settings, in their order.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{ConfigEntry, ConfigProvider, Resolved, keys, variables, yaml};
use crate::controller::Mistake;

/// Where an operator's settings come from, beside its code: a later source wins over an earlier one. JOSDK:
/// `ConfigLoader`, `AgregatePriorityListConfigProvider`, whose order is the opposite.
///
/// ```
/// use operator_core::{Operator, configuration::ConfigLoader};
///
/// let settings = ConfigLoader::new().file("/etc/webpage-operator/operator.yaml").environment();
/// let operator = Operator::builder().configured_by(settings);
/// ```
///
/// The command `run` does this by itself, with `--config FILE`, the environment and its other options.
#[derive(Clone, Default)]
#[must_use = "settings do nothing until an operator is `configured_by` them"]
pub struct ConfigLoader {
    sources: Vec<ConfigSource>,
}

#[derive(Clone)]
enum ConfigSource {
    File(PathBuf),
    Environment,
    Provider(Arc<dyn ConfigProvider>),
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the command line uses it"))]
    Said(Vec<ConfigEntry>),
}

impl ConfigLoader {
    /// No source yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file of YAML, with nested or dotted keys. JOSDK: `YamlConfigProvider`.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.push(ConfigSource::File(path.into()));
        self
    }

    /// The environment variables that begin with `OPERATOR_`: the key in capitals, with `_` for dots and hyphens. JOSDK:
    /// `EnvVarConfigProvider`.
    pub fn environment(mut self) -> Self {
        self.sources.push(ConfigSource::Environment);
        self
    }

    /// A custom source.
    pub fn provider(mut self, provider: impl ConfigProvider + 'static) -> Self {
        self.sources.push(ConfigSource::Provider(Arc::new(provider)));
        self
    }

    /// The settings of the command line.
    #[cfg(feature = "cli")]
    pub(crate) fn said(mut self, entries: Vec<ConfigEntry>) -> Self {
        self.sources.push(ConfigSource::Said(entries));
        self
    }

    /// Adds the sources of `other`, which take precedence.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.sources.extend(other.sources);
        self
    }

    /// Reads all sources, for an operator with these controllers.
    pub(crate) fn load(&self, controllers: &[String], mistakes: &mut Vec<Mistake>) -> Resolved {
        if self.sources.is_empty() {
            return Resolved::default();
        }
        let known = keys::known(controllers);
        let entries: Vec<Vec<ConfigEntry>> =
            self.sources.iter().map(|source| source.entries(&known, mistakes)).collect();
        Resolved::of(&entries, controllers, mistakes)
    }
}

impl ConfigSource {
    fn entries(&self, known: &[String], mistakes: &mut Vec<Mistake>) -> Vec<ConfigEntry> {
        match self {
            Self::File(path) => of_file(path, mistakes),
            Self::Environment => {
                let variables = std::env::vars_os().filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
                });
                variables::read(variables, known, mistakes)
            }
            Self::Provider(provider) => provider.entries().unwrap_or_else(|error| {
                mistakes.push(Mistake::new(
                    "a configuration provider has failed",
                    error.to_string(),
                    "fix the provider, or remove it",
                ));
                Vec::new()
            }),
            Self::Said(entries) => entries.clone(),
        }
    }
}

fn of_file(path: &Path, mistakes: &mut Vec<Mistake>) -> Vec<ConfigEntry> {
    match fs::read_to_string(path) {
        Ok(text) => yaml::read(&text, path, mistakes),
        Err(error) => {
            mistakes.push(Mistake::new(
                format!("{}: the file can't be read", path.display()),
                error.to_string(),
                "the path of a YAML file that this process may read",
            ));
            Vec::new()
        }
    }
}

impl fmt::Debug for ConfigLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.sources).finish()
    }
}

impl fmt::Debug for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment => f.write_str("environment"),
            Self::Provider(_) => f.write_str("provider"),
            Self::Said(_) => f.write_str("command line"),
        }
    }
}
