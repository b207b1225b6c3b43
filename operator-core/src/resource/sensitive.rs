//! What must not be repeated: words about an object that may hold values which nobody should read.

use std::fmt::Display;

use super::ResourceType;

/// What stands in the place of such words.
pub(crate) const MASKED: &str = "(not shown, as it may contain values of the secret)";

impl ResourceType {
    /// Whether what is said about an object of this type may hold values that nobody should read.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.group().is_empty() && self.kind() == "Secret"
    }

    /// Words about an object of this type as they may be logged: decoders, servers and proxies like to quote what they
    /// don't understand.
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
