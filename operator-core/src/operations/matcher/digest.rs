//! Distinguishes desired states without keeping them: what was applied last, as the object itself says, and what was
//! compared last, as the cache remembers. For all that compare: nodes, reconcilers that apply objects themselves, and the
//! status of a primary.

use std::{
    hash::{DefaultHasher, Hasher},
    io,
    num::NonZeroU64,
    sync::{Arc, OnceLock},
};

use serde_json::Value;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{
    fields::{Match, Part, Scope, matches_applied},
    generic::GenericMatcher,
};
use crate::{
    cache::{TextObject, Verdict},
    resource::{Object, digits},
};

/// What is desired, and how it is distinguished from other desired states.
pub(crate) enum Desired<'w> {
    /// By this fingerprint; without one nothing is remembered.
    Known(Option<NonZeroU64>),
    /// This object is desired by this node, or field manager. Its fingerprint is computed only if there is something to
    /// compare with it, or to remember: most writes need none.
    Object([&'w str; 2], &'w dyn Object),
}

/// A known state and what is desired.
pub(crate) struct Seen<'w> {
    pub(in crate::operations) kept: Arc<TextObject>,
    pub(in crate::operations) part: Part,
    pub(in crate::operations) manager: &'w str,
    pub(in crate::operations) desired: Desired<'w>,
    /// The fingerprint of what is desired, once it was needed.
    pub(in crate::operations) taken: OnceLock<Option<NonZeroU64>>,
    /// Whether the type shows strings as they are in the text, which holds for the cluster's own kinds. A user's type may
    /// change them when it is read, and then a different string may mean the same.
    pub(in crate::operations) keeps_words: bool,
}

impl Seen<'_> {
    /// Whether the state is known to match what is desired.
    pub(crate) fn has_matched(&self) -> bool {
        self.verdict().get().is_some_and(|matched| self.fingerprint() == Some(matched))
    }

    /// Whether applying `body`, of the object itself, would change nothing, as far as the text of the state shows.
    /// `None` if the user's type may read that text in another way.
    pub(in crate::operations) fn is_met_by_text(&self, body: &Value) -> Option<bool> {
        let applied = self.kept.applied_by(self.manager);
        let is_met = matches_applied(body, Some(self.kept.text()), applied).is_equal();
        (is_met || self.keeps_words).then_some(is_met)
    }

    /// Whether our manager, which has applied `body`, still owns exactly its fields.
    pub(in crate::operations) fn is_still_owned(&self, body: &Value) -> Match {
        matches_applied(body, None, self.kept.applied_by(self.manager))
    }

    /// Remembers that the state matches. `lasts` if this holds for the next states, too, as long as our managers own the
    /// same.
    pub(crate) fn note(&self, lasts: bool) {
        if let Some(desired) = self.fingerprint() {
            self.verdict().note(desired, lasts);
        }
    }

    /// The same if a write has led to this state: then there was nothing to write.
    pub(in crate::operations) fn note_if_unchanged(&self, written: &dyn Object) {
        if self.kept.is_state_of(written) {
            self.note(false);
        }
    }

    fn fingerprint(&self) -> Option<NonZeroU64> {
        match self.desired {
            Desired::Known(fingerprint) => fingerprint,
            Desired::Object(by, object) => *self.taken.get_or_init(|| fingerprint(by, |to| object.write(to))),
        }
    }

    fn verdict(&self) -> &Verdict {
        match self.part {
            Part::Object => self.kept.verdict(),
            Part::Status => self.kept.verdict_of_status(),
        }
    }
}

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

/// The number of digits of a digest.
const DIGITS: usize = 32;

/// The digest of the body of an apply, in each version of the library the same: without what the server decides, and
/// without the annotation `mark`, which contains the digest. With `hides_values` it says nothing about the values of a
/// Secret: somebody who sees the digest could guess them.
pub(crate) fn digest(body: &Value, mark: &str, hides_values: bool) -> String {
    let mut hash = Sha256::new();
    fields(&mut hash, body, &|name| name != "status", &mut |hash, name, value| match name {
        "metadata" => {
            let counts = |name: &str| !Scope::Metadata.ignores(name);
            fields(hash, value, &counts, &mut |hash, name, value| match name {
                "annotations" => {
                    fields(hash, value, &|name| name != mark, &mut |hash, _, value| add(hash, value))
                }
                _ => add(hash, value),
            });
        }
        "data" | "stringData" if hides_values => fields(hash, value, &|_| true, &mut |_, _, _| ()),
        _ => add(hash, value),
    });
    digits(hash.finalize(), DIGITS)
}

/// Whether an object has the values of which its digest says nothing.
pub(crate) fn same_values(body: &Value, actual: &Value) -> Match {
    let mut values = body.clone();
    if let Some(fields) = values.as_object_mut() {
        fields.retain(|name, _| matches!(&**name, "apiVersion" | "kind" | "data" | "stringData"));
    }
    GenericMatcher::new().matches(&values, actual)
}

/// Adds a value: each part with its kind and length, so that no two values run together.
fn add(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(_) => fields(hash, value, &|_| true, &mut |hash, _, value| add(hash, value)),
        Value::Array(items) => {
            part(hash, b'[', items.len(), "");
            items.iter().for_each(|item| add(hash, item));
        }
        Value::String(text) => part(hash, b'"', text.len(), text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let text = value.to_string();
            part(hash, b'#', text.len(), &text);
        }
    }
}

/// Adds the fields that count, in the order of their names, whatever the order of maps in this build.
fn fields(
    hash: &mut Sha256,
    value: &Value,
    counts: &dyn Fn(&str) -> bool,
    add_field: &mut dyn FnMut(&mut Sha256, &str, &Value),
) {
    let Some(fields) = value.as_object() else { return add(hash, value) };
    let mut fields: Vec<_> = fields.iter().filter(|(name, _)| counts(name)).collect();
    fields.sort_by_key(|(name, _)| *name);
    part(hash, b'{', fields.len(), "");
    for (name, value) in fields {
        part(hash, b'"', name.len(), name);
        add_field(hash, name, value);
    }
}

fn part(hash: &mut Sha256, kind: u8, length: usize, text: &str) {
    hash.update([kind]);
    hash.update((length as u64).to_be_bytes());
    hash.update(text);
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
