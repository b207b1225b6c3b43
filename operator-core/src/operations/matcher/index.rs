//! Finds items of lists by their keys or values without comparing each with each.

use serde_json::Value;

use super::value::integer;

/// A number that is the same for all scalars that are equal. Absent values, lists and objects share one number: equal
/// digests only make candidates, which have to be compared.
pub(super) fn digest(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::String(text)) => digest_of_text(text),
        Some(Value::Bool(value)) => mix(1, u64::from(*value)),
        Some(Value::Number(number)) => match integer(number) {
            // Cut to 64 bits: what collides is told apart by comparing.
            Some(integer) => mix(2, integer as u64),
            None => mix(3, number.as_f64().map_or(0, f64::to_bits)),
        },
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => 0,
    }
}

/// The digest of a string. Names of items are short and there are many, so it is a much cheaper function than the
/// standard library's; an adversary's collisions cost time in lists that the adversary has to write first.
pub(super) fn digest_of_text(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let digest =
        words.iter().fold(mix(4, text.len() as u64), |digest, word| mix(digest, u64::from_le_bytes(*word)));
    mix(digest, rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

/// One round of the hash that rustc uses for its own tables.
const fn mix(digest: u64, word: u64) -> u64 {
    (digest.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The positions of a list by digest: a table with open addressing, at most half full, so that it is made in one
/// allocation and without sorting.
#[derive(Debug)]
pub(super) struct Index(Vec<Slot>);

/// A digest and the position of its item; `None` in an empty slot.
type Slot = Option<(u64, usize)>;

impl Index {
    /// An index over one digest for each item.
    pub(super) fn new(digests: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut index = Self(vec![None; (digests.len() * 2).next_power_of_two().max(2)]);
        for (position, digest) in digests.enumerate() {
            let mut at = index.start(digest);
            while index.0[at].is_some() {
                at = index.after(at);
            }
            index.0[at] = Some((digest, position));
        }
        index
    }

    /// The positions of the items with this digest, in order.
    pub(super) fn candidates(&self, digest: u64) -> impl Iterator<Item = usize> {
        let mut at = self.start(digest);
        std::iter::from_fn(move || {
            let slot = self.0[at];
            at = self.after(at);
            slot
        })
        .filter(move |(other, _)| *other == digest)
        .map(|(_, position)| position)
    }

    /// Where the search for a digest starts: the upper bits of a product are its best ones.
    fn start(&self, digest: u64) -> usize {
        (digest >> 32) as usize & (self.0.len() - 1)
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.0.len() - 1)
    }
}

/// How often a list contains what was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Not at all.
    Never,
    /// At this position and nowhere else.
    Once(usize),
    /// At several positions.
    Often,
}

/// Searches candidates for the matching one.
pub(super) fn find(candidates: impl Iterator<Item = usize>, is_it: impl Fn(usize) -> bool) -> Found {
    let mut hits = candidates.filter(|position| is_it(*position));
    match (hits.next(), hits.next()) {
        (None, _) => Found::Never,
        (Some(position), None) => Found::Once(position),
        (Some(_), Some(_)) => Found::Often,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_scalars_are_candidates_of_each_other() {
        let items = [json!("a"), json!(1), json!("b"), json!(1.0), json!(0.5), json!(true), json!({})];
        let index = Index::new(items.iter().map(|item| digest(Some(item))));
        for (value, positions) in [
            (json!("a"), vec![0]),
            (json!(1), vec![1, 3]),
            (json!(0.5), vec![4]),
            (json!(true), vec![5]),
            (json!([]), vec![6]),
            (json!("c"), vec![]),
        ] {
            assert_eq!(index.candidates(digest(Some(&value))).collect::<Vec<_>>(), positions, "{value}");
        }
    }
}
