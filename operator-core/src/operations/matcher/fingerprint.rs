//! Distinguishes desired states without keeping them.

use std::{
    hash::{DefaultHasher, Hasher},
    io,
    num::NonZeroU64,
};

use zeroize::Zeroizing;

/// The amount of text that is hashed at once: hashing each of the many small pieces that JSON is written in is
/// expensive.
const AT_ONCE: usize = 512;

const INSTEAD_OF_ZERO: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// A hash of 63 bits, the same in each run of a process: two desired states of one object have the same one once in
/// 10^19. `None` if the state can't be written as JSON, which the matcher reports. The last bit is 0, and free for the
/// caller.
///
/// `by` distinguishes nodes that may want the same, and `write` writes the state as JSON.
pub(crate) fn fingerprint(
    by: [&str; 2],
    write: impl FnOnce(&mut dyn io::Write) -> serde_json::Result<()>,
) -> Option<NonZeroU64> {
    let mut hashed = DefaultHasher::new();
    for part in by {
        hashed.write_usize(part.len());
        hashed.write(part.as_bytes());
    }
    let mut text = Hashed { hashed, waiting: Zeroizing::new([0; AT_ONCE]), length: 0 };
    write(&mut text).ok()?;
    // Zero means that there is none.
    Some(NonZeroU64::new(text.finish() & !1).unwrap_or(INSTEAD_OF_ZERO))
}

/// Hashes what is written to it, and keeps no more of it than one piece, because it may be a secret.
struct Hashed {
    hashed: DefaultHasher,
    waiting: Zeroizing<[u8; AT_ONCE]>,
    length: usize,
}

impl Hashed {
    fn hash_waiting(&mut self) {
        self.hashed.write(&self.waiting[..self.length]);
        self.length = 0;
    }

    fn finish(mut self) -> u64 {
        self.hash_waiting();
        self.hashed.finish()
    }
}

impl io::Write for Hashed {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.write_all(text)?;
        Ok(text.len())
    }

    /// JSON is written by this one alone.
    fn write_all(&mut self, text: &[u8]) -> io::Result<()> {
        if text.len() > AT_ONCE - self.length {
            self.hash_waiting();
        }
        match self.waiting.get_mut(self.length..self.length + text.len()) {
            Some(free) => {
                free.copy_from_slice(text);
                self.length += text.len();
            }
            None => self.hashed.write(text),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AT_ONCE, fingerprint};

    #[test]
    fn node_and_state_tell_fingerprints_apart() {
        let of = |node: &str, value: &str| {
            fingerprint([node, ""], |to| serde_json::to_writer(to, &json!({ "data": { "value": value } })))
        };
        assert!(of("web", "a").is_some());
        assert_eq!(of("web", "a"), of("web", "a"));
        assert_ne!(of("web", "a"), of("web", "b"));
        assert_ne!(of("web", "a"), of("html", "a"));
        assert!((0..100).all(|number| of(&number.to_string(), "a").unwrap().get().is_multiple_of(2)));
    }

    #[test]
    fn every_byte_counts_however_long_the_state_is() {
        let of = |value: &str| {
            let state = json!({ "data": { "key": value, "next": "word" } });
            fingerprint(["web", ""], |to| serde_json::to_writer(to, &state))
        };
        for length in [1, AT_ONCE / 2, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE] {
            let text = "a".repeat(length);
            assert_eq!(of(&text), of(&text), "{length} bytes");
            for changed in [0, length / 2, length - 1] {
                let mut other = text.clone();
                other.replace_range(changed..=changed, "b");
                assert_ne!(of(&text), of(&other), "byte {changed} of {length}");
            }
        }
    }

    #[test]
    fn what_is_no_json_has_none() {
        let by_pair: std::collections::BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into();
        assert_eq!(fingerprint(["web", ""], |to| serde_json::to_writer(to, &by_pair)), None);
    }
}
