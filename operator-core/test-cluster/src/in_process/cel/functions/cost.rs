//! What calls cost, besides their arguments, as the real server counts it. Pure.

use std::net::IpAddr;

use super::Val;

/// For a call, and for a new list.
const LIST: u64 = 11;

/// What a call costs.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are computed so by the real server"
)]
pub(in super::super) fn cost(function: &str, values: &[Val<'_>], result: Option<&Val<'_>>) -> u64 {
    let count = |at: usize| values.get(at).map_or(1, length);
    let size = |at: usize| count(at) as f64;
    let by = |size: f64, factor: f64| (size * factor).ceil() as u64;
    let made = |size: u64, factor: f64| (size as f64 * factor) as u64 + LIST;
    let compared = |list: &Val<'_>| {
        let (of, is_text) = match list {
            Val::List(list) => (list.items.len() as u64, list.items.first().is_some_and(is_text)),
            _ => (1, false),
        };
        made(of * of, if is_text { 2.0 + 0.1 } else { 2.0 })
    };
    let starts_with_text = values.first().is_some_and(is_text);
    let range = |at: usize| match values.get(at) {
        Some(Val::Cidr(_, bits)) => f64::from(bits.div_ceil(8)),
        Some(Val::Ip(IpAddr::V4(_))) => 4.0,
        Some(Val::Ip(IpAddr::V6(_))) => 16.0,
        _ => size(at),
    };
    let read = || if values.get(1).is_some_and(is_text) { by(size(1), 0.1) } else { 0 };
    match (function, values) {
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", _) => {
            values.first().map_or(0, traversal)
        }
        (
            "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "ip"
            | "quantity" | "isQuantity" | "semver" | "isSemver" | "startsWith" | "endsWith",
            _,
        ) => by(size(0), 0.1),
        ("replace" | "split" | "ip.isCanonical", _) => by(size(0), 0.2),
        ("join", _) => by(result.map_or(1, length) as f64, 0.2),
        ("find" | "findAll" | "matches", _) => by(1.0 + size(0), 0.1).saturating_mul(by(size(1), 0.25)),
        ("contains", _) => by(size(0), 0.1).saturating_mul(by(size(1), 0.1)),
        ("bytes", [Val::String(_)]) | ("string", [Val::Bytes(_)]) | ("strings.quote" | "format", _) => {
            by(size(0), 0.1)
        }
        ("_+_", _) if starts_with_text => by(size(0) + size(1), 0.1),
        ("@in", [_, Val::List(list)]) => list.items.len() as u64,
        ("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_", _) => by(size(0).min(size(1)), 0.1),
        ("containsIP", _) => by(range(0) * 2.0, 0.1) + read(),
        ("containsCIDR", _) => by(range(0) * 2.0, 0.1) + by(range(0), 0.1) + 1 + read(),
        ("validate", [Val::Format(name), _]) => {
            by(1.0 + size(1), 0.1).saturating_mul(by(f64::from(pattern_of(name)), 0.25))
        }
        ("slice" | "lists.range" | "reverse", _) => made(result.map_or(1, length), 1.0),
        ("flatten", [_, Val::Int(depth)]) => made(count(0), *depth as f64),
        ("flatten", _) => made(count(0), 1.0),
        ("sort" | "distinct", [list]) | ("@sortByAssociatedKeys", [_, list]) => compared(list),
        ("sets.contains" | "sets.intersects", _) => 1 + count(0) * count(1),
        ("sets.equivalent", _) => 1 + 2 * count(0) * count(1),
        _ => 1,
    }
}

fn is_text(value: &Val<'_>) -> bool {
    matches!(value, Val::String(_) | Val::Bytes(_))
}

/// The size of a value; one of what has none.
fn length(value: &Val<'_>) -> u64 {
    match value {
        Val::Optional(Some(value)) => length(value),
        value => u64::try_from(value.size()).unwrap_or(u64::MAX),
    }
}

/// How long the pattern of a format may be.
fn pattern_of(format: &str) -> u32 {
    match format {
        "dns1123Subdomain" | "dns1123SubdomainPrefix" | "qualifiedName" => 60,
        "labelValue" => 40,
        "uri" => 1103,
        "byte" => 84,
        "uuid" | "date" | "datetime" => 72,
        _ => 30,
    }
}

fn traversal(value: &Val<'_>) -> u64 {
    match value {
        Val::String(text) => u64::try_from(text.len() / 10).unwrap_or(u64::MAX),
        Val::Bytes(bytes) => u64::try_from(bytes.len() / 10).unwrap_or(u64::MAX),
        Val::List(list) => list.items.iter().map(traversal).sum(),
        other => other.entries().map_or(1, |entries| {
            let each =
                entries.iter().map(|(key, value)| traversal(key) + value.as_ref().map_or(1, traversal));
            each.sum()
        }),
    }
}
