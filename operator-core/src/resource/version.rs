//! Comparable resource versions.

use std::fmt;

/// The version of one object or of a collection, as the API server counts them.
///
/// Since 1.35 Kubernetes guarantees that versions of one collection are decimal numbers that grow, and its own storage
/// has always worked that way. A server that uses something else (some aggregated ones do) returns versions that don't
/// parse: then everything that relies on comparing them is bypassed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceVersion(u64);

impl ResourceVersion {
    /// A version by its number; for tests and models.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Parses what the server sent; `None` if it is not a number that can be compared (`"0"` and an empty string mean
    /// "any version" in requests and aren't the version of an object).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // A sign or a leading zero would make two texts of one number, and no server writes either.
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        text.parse().ok().filter(|_| is_plain).map(Self)
    }

    /// The version of an object.
    pub fn of<K: kube::Resource>(object: &K) -> Option<Self> {
        object.meta().resource_version.as_deref().and_then(Self::parse)
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn compares_by_number_and_not_by_text() {
        assert!(ResourceVersion::parse("9") < ResourceVersion::parse("10"));
    }

    #[test]
    fn what_is_no_number_is_not_comparable() {
        for text in ["", "0", "abc", "12x", "-1", "+5", "007", "18446744073709551616"] {
            assert_eq!(ResourceVersion::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn what_is_parsed_is_printed_as_it_was(text in "[+-]?[0-9]{0,22}|.{0,8}") {
            if let Some(version) = ResourceVersion::parse(&text) {
                prop_assert_eq!(version.to_string(), text);
            }
        }

        #[test]
        fn every_number_but_zero_is_a_version(number in 1_u64..) {
            prop_assert_eq!(ResourceVersion::parse(&number.to_string()), Some(ResourceVersion::new(number)));
        }
    }
}
