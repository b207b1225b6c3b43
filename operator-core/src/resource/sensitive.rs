//! Texts about an object that must not be repeated, because they may contain secret values.

use std::fmt::Display;

use super::ResourceType;

/// The replacement for such texts.
pub(crate) const MASKED: &str = "(not shown, as it may contain values of the secret)";

impl ResourceType {
    /// Whether a text about an object of this type may contain secret values.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.group().is_empty() && self.kind() == "Secret"
    }

    /// A text about an object of this type as it may be logged: decoders, servers and proxies often quote what they
    /// can't parse.
    pub(crate) fn masked(&self, words: impl Display) -> String {
        if self.is_sensitive() { MASKED.to_owned() } else { words.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;

    #[test]
    fn only_what_is_said_about_secrets_is_masked() {
        assert_eq!(ResourceType::of::<ConfigMap>().masked("hunter2"), "hunter2");
        assert_eq!(ResourceType::of::<Secret>().masked("hunter2"), MASKED);
    }
}
