//! Any text as the value of a label.

use sha2::{Digest, Sha256};

/// The maximum length of a label's value.
const LONGEST: usize = 63;

/// The number of digits of the hash in the value for a text that is not a valid label value.
const DIGITS: usize = 16;

/// `text` as the value of a label: unchanged if it is a valid one, otherwise its valid part with a hash of the whole.
///
/// Two texts never have the same value, as long as their hashes differ: a text that looks like a shortened one is
/// shortened, too.
pub(crate) fn label_value(text: &str) -> String {
    if is_label_value(text) && !looks_shortened(text) {
        return text.to_owned();
    }
    let kept: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(LONGEST - DIGITS - 1)
        .collect();
    let kept = kept.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let hash = digits(Sha256::digest(text), DIGITS);
    if kept.is_empty() { format!("x.{hash}") } else { format!("{kept}.{hash}") }
}

/// The first digits of a hash, in hexadecimal.
pub(crate) fn digits(hash: impl AsRef<[u8]>, count: usize) -> String {
    const DIGIT: &[u8; 16] = b"0123456789abcdef";
    let nibbles = hash.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.take(count).map(|nibble| char::from(DIGIT[usize::from(nibble)])).collect()
}

pub(crate) fn is_label_value(text: &str) -> bool {
    text.len() <= LONGEST && is_word(text)
}

/// The same of any length.
pub(crate) fn is_word(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.chars().all(allowed) && edge(text.chars().next()) && edge(text.chars().next_back())
}

fn looks_shortened(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    text.rsplit_once('.').is_some_and(|(_, hash)| hash.len() == DIGITS && hash.chars().all(is_digit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_can_be_a_value_stays_and_all_else_is_shortened_with_a_hash() {
        assert_eq!(label_value("web-pages"), "web-pages");
        assert_eq!(label_value("a::Html"), "a--Html.34df594c2f17eaaf");
        assert_eq!(label_value("").len(), 18);
        assert_eq!(label_value(&"a".repeat(63)), "a".repeat(63));
        let long = label_value(&"a".repeat(64));
        assert!(long.len() == 63 && long.starts_with("aaaa"), "{long}");
        let shortened = label_value("a::Html");
        assert_ne!(label_value(&shortened), shortened, "a text could take the place of another one");
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn any_text_becomes_a_value_and_no_two_texts_the_same(one in ".{0,80}", other in ".{0,80}") {
            let (first, second) = (label_value(&one), label_value(&other));
            prop_assert!(is_label_value(&first), "{}", first);
            prop_assert_eq!(first == second, one == other);
        }
    }
}
