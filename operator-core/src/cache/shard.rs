//! The part of all objects that one of several operators follows, by a hash of their uids or namespaces. Pure.
//!
//! ```text
//! shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)
//!            field                 from                  up to, without it
//! ```
//!
//! The hash is the 64-bit FNV-1a of the field's text. The server applies it (Kubernetes 1.36, feature gate
//! `ShardedListAndWatch`); its answer is checked, because a server that doesn't know the parameter ignores it.

use std::fmt;

/// The feature gate of the API server.
pub(crate) const GATE: &str = "ShardedListAndWatch";

/// A selector of a part of all objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    text: String,
    field: Field,
    ranges: Vec<Range>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Uid,
    Namespace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    from: u128,
    to: u128,
}

impl Shard {
    /// Reads a selector. The error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split("||").map(|part| range(part.trim()));
        let parts: Vec<(Field, Range)> = parts.collect::<Result<_, _>>()?;
        let field = parts.first().map_or(Field::Uid, |(field, _)| *field);
        if parts.iter().any(|(other, _)| *other != field) {
            return Err("all its ranges have to be of the same field".to_owned());
        }
        let ranges = parts.into_iter().map(|(_, range)| range).collect();
        Ok(Self { text: text.trim().to_owned(), field, ranges })
    }

    /// A selector that no server understands.
    pub(crate) fn unreadable() -> Self {
        Self { text: "none".to_owned(), field: Field::Uid, ranges: Vec::new() }
    }

    /// The selector as it is sent.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether an object belongs to the part.
    pub(crate) fn includes(&self, uid: &str, namespace: Option<&str>) -> bool {
        let value = match self.field {
            Field::Uid => uid,
            Field::Namespace => namespace.unwrap_or_default(),
        };
        let hash = u128::from(fnv_1a(value));
        self.ranges.iter().any(|range| range.from <= hash && hash < range.to)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn range(part: &str) -> Result<(Field, Range), String> {
    let arguments = part.strip_prefix("shardRange(").and_then(|rest| rest.strip_suffix(')'));
    let arguments = arguments.ok_or_else(|| format!("`{part}` isn't a `shardRange(field, '0x…', '0x…')`"))?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let [field, from, to] = arguments[..] else {
        return Err(format!("`shardRange` takes a field and two numbers, not {} arguments", arguments.len()));
    };
    let field = match field {
        "object.metadata.uid" => Field::Uid,
        "object.metadata.namespace" => Field::Namespace,
        other => {
            return Err(format!(
                "`{other}` can't be the field: it is `object.metadata.uid` or `object.metadata.namespace`"
            ));
        }
    };
    let (from, to) = (number(from)?, number(to)?);
    if from >= to {
        return Err(format!("its range from {from:#018x} to {to:#018x} is empty"));
    }
    Ok((field, Range { from, to }))
}

fn number(literal: &str) -> Result<u128, String> {
    const END: &str = "10000000000000000";
    let inner = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let digits = inner.and_then(|inner| inner.strip_prefix("0x"));
    let is_hex = |digits: &&str| {
        (digits.len() == 16 || *digits == END)
            && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    };
    let digits = digits.filter(is_hex);
    let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| format!("{literal} isn't a number of 16 digits, such as '0x8000000000000000'"))
}

/// The 64-bit FNV-1a hash of a text.
fn fnv_1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOWER: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    const UPPER: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

    #[test]
    fn the_hash_is_the_known_one() {
        // From the definition of FNV.
        assert_eq!(fnv_1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn each_object_belongs_to_one_half_and_to_both_together() {
        let (lower, upper) = (Shard::parse(LOWER).unwrap(), Shard::parse(UPPER).unwrap());
        let both = Shard::parse(&format!("{LOWER} || {UPPER}")).unwrap();
        // As random as those of a server.
        let first = |number: u32| number.wrapping_mul(2_654_435_761);
        let uids: Vec<String> =
            (0..200).map(|number| format!("{:08x}-0000-4000-8000-{number:012}", first(number))).collect();
        let below = uids.iter().filter(|uid| lower.includes(uid, None)).count();
        assert!((60..140).contains(&below), "{below}");
        assert!(uids.iter().all(|uid| lower.includes(uid, None) != upper.includes(uid, None)));
        assert!(uids.iter().all(|uid| both.includes(uid, None)));
    }

    #[test]
    fn a_namespace_is_followed_as_a_whole() {
        let text = LOWER.replace("uid", "namespace");
        let shard = Shard::parse(&text).unwrap();
        assert_eq!(shard.includes("a", Some("shop")), shard.includes("b", Some("shop")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("", "isn't a `shardRange"),
            ("a in (b)", "isn't a `shardRange"),
            ("shardRange(object.metadata.uid)", "not 1 arguments"),
            (
                "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
                "can't be the field",
            ),
            (
                "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
                "'0x0' isn't a number of 16 digits",
            ),
            ("shardRange(object.metadata.uid, '0x00000000000000AA', '0x8000000000000000')", "isn't a number"),
            ("shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')", "is empty"),
            (&format!("{LOWER} || {}", UPPER.replace("uid", "namespace")), "same field"),
        ] {
            let error = Shard::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
