//! Shard selectors: the part of all objects whose uid, or namespace, has a hash in some range. Kubernetes 1.36 has them
//! behind the feature gate `ShardedListAndWatch`; this server always does.

use serde_json::Value;

use crate::in_process::failure::Failure;

/// A part of all objects, as a request says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::in_process) struct Shard {
    field: &'static str,
    /// From the first, up to the second without it.
    ranges: Vec<(u128, u128)>,
}

const UID: &str = "object.metadata.uid";
const NAMESPACE: &str = "object.metadata.namespace";

impl Shard {
    /// Reads the parameter. What the real server refuses, in the words of its parser, is not answered here.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let parts: Option<Vec<_>> = text.split("||").map(|part| range(part.trim())).collect();
        let parts = parts.filter(|parts| parts.iter().all(|(field, _)| *field == parts[0].0));
        let parts =
            parts.ok_or_else(|| Failure::not_modelled(format_args!("the shard selector `{text}`")))?;
        Ok(Self { field: parts[0].0, ranges: parts.into_iter().map(|(_, range)| range).collect() })
    }

    pub(super) fn includes(&self, object: &Value) -> bool {
        let name = if self.field == UID { "uid" } else { "namespace" };
        let hash = u128::from(hash(object["metadata"][name].as_str().unwrap_or_default()));
        self.ranges.iter().any(|(from, to)| *from <= hash && hash < *to)
    }

    /// The selector as the server repeats it.
    pub(in crate::in_process) fn text(&self) -> String {
        let number = |number: u128| format!("'0x{number:016x}'");
        let range = |(from, to): &(u128, u128)| {
            format!("shardRange({}, {}, {})", self.field, number(*from), number(*to))
        };
        self.ranges.iter().map(range).collect::<Vec<_>>().join(" || ")
    }
}

fn range(part: &str) -> Option<(&'static str, (u128, u128))> {
    let arguments = part.strip_prefix("shardRange(")?.strip_suffix(')')?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let [field, from, to] = arguments[..] else { return None };
    let field = [UID, NAMESPACE].into_iter().find(|known| *known == field)?;
    let (from, to) = (number(from)?, number(to)?);
    (from < to).then_some((field, (from, to)))
}

fn number(literal: &str) -> Option<u128> {
    let digits = literal.strip_prefix('\'')?.strip_suffix('\'')?.strip_prefix("0x")?;
    let has_length = digits.len() == 16 || digits == "10000000000000000";
    let is_hex = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    (has_length && is_hex).then(|| u128::from_str_radix(digits, 16).ok())?
}

/// The 64-bit FNV-1a hash.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_object_is_in_one_half() {
        let half = |from: &str, to: &str| format!("shardRange({UID}, '{from}', '{to}')");
        let lower = half("0x0000000000000000", "0x8000000000000000");
        let upper = half("0x8000000000000000", "0x10000000000000000");
        let (one, two) = (Shard::parse(&lower).unwrap(), Shard::parse(&upper).unwrap());
        assert_eq!((one.text(), two.text()), (lower, upper));
        for number in 0..50 {
            let object = json!({ "metadata": { "uid": format!("uid-{number}") } });
            assert_ne!(one.includes(&object), two.includes(&object));
        }
        assert!(Shard::parse("shardRange(object.metadata.name, '0x0', '0x1')").is_err());
    }
}
