//! Finds items of lists by their keys or values without comparing each with each.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::value::integer;

/// A number that is the same for all scalars that are equal. Absent values, lists and objects share one number: equal
/// digests make candidates, which have to be compared.
pub(super) fn digest(value: Option<&Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Some(Value::String(text)) => return digest_of_text(text),
        Some(Value::Bool(value)) => value.hash(&mut hasher),
        Some(Value::Number(number)) => match integer(number) {
            Some(integer) => integer.hash(&mut hasher),
            None => number.as_f64().map(f64::to_bits).hash(&mut hasher),
        },
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => {}
    }
    hasher.finish()
}

/// The digest of a string.
pub(super) fn digest_of_text(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The positions of a list, sorted by digest.
#[derive(Debug)]
pub(super) struct Index(Vec<(u64, usize)>);

impl Index {
    /// An index over one digest for each item.
    pub(super) fn new(digests: impl Iterator<Item = u64>) -> Self {
        let mut sorted: Vec<_> = digests.enumerate().map(|(position, digest)| (digest, position)).collect();
        sorted.sort_unstable();
        Self(sorted)
    }

    /// The positions of the items with this digest, in order.
    pub(super) fn candidates(&self, digest: u64) -> impl Iterator<Item = usize> {
        let start = self.0.partition_point(|(other, _)| *other < digest);
        self.0[start..].iter().take_while(move |(other, _)| *other == digest).map(|(_, position)| *position)
    }
}

/// How often a list has what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Not at all.
    Never,
    /// At this position and nowhere else.
    Once(usize),
    /// At several positions.
    Often,
}

/// Looks among candidates for the one that it is.
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
