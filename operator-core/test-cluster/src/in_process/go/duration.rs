//! Go's durations, and the longer units that schemas allow besides.

use regex::Regex;
use std::sync::LazyLock;

/// A duration as `time.ParseDuration` reads it, in nanoseconds.
pub(in crate::in_process) fn parse(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(digits);
        let fraction = after.strip_prefix('.').map(|after| {
            let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
            after.split_at(end)
        });
        let (fraction, after) = fraction.map_or(("", after), |(fraction, after)| (fraction, after));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|letter: char| letter == '.' || letter.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(unit)?)?;
        let mut scale = unit;
        for digit in fraction.bytes() {
            scale /= 10;
            total += i128::from(digit - b'0') * scale;
        }
        rest = next;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// A duration as schemas allow it: also with days and weeks, and with spaces.
pub(in crate::in_process) fn parse_loosely(text: &str) -> Option<i64> {
    static PARTS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)").ok());
    const UNITS: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], 86_400_000_000_000),
        (&["w", "wk", "week"], 604_800_000_000_000),
    ];
    if let Some(duration) = parse(text) {
        return Some(duration);
    }
    let (mut total, mut found) = (0_i64, false);
    for part in PARTS.as_ref()?.captures_iter(text) {
        let count: i64 = part[1].parse().ok()?;
        let unit = part[2].to_lowercase();
        for (names, length) in UNITS {
            for (at, name) in names.iter().enumerate() {
                if unit == *name || at + 1 == names.len() && unit.starts_with(name) {
                    found = true;
                    total = total.wrapping_add(count.wrapping_mul(length));
                }
            }
        }
    }
    found.then_some(total)
}

/// A duration in Go's notation.
pub(in crate::in_process) fn show(nanoseconds: i64) -> String {
    let (sign, all) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    let fraction = |value: u64, unit: u64, name: &str| {
        let rest = format!("{:0width$}", value % unit, width = unit.ilog10() as usize);
        let rest = rest.trim_end_matches('0');
        let dot = if rest.is_empty() || unit == 1 { "" } else { "." };
        format!("{sign}{}{dot}{}{name}", value / unit, if unit == 1 { "" } else { rest })
    };
    match all {
        0 => "0s".to_owned(),
        1..1_000 => fraction(all, 1, "ns"),
        1_000..1_000_000 => fraction(all, 1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(all, 1_000_000, "ms"),
        _ => {
            let seconds = all / 1_000_000_000;
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            let rest = fraction(all - (seconds / 60) * 60_000_000_000, 1_000_000_000, "s");
            let rest = rest.trim_start_matches('-');
            match (hours, minutes) {
                (0, 0) => format!("{sign}{rest}"),
                (0, minutes) => format!("{sign}{minutes}m{rest}"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{rest}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_loosely, show};

    #[test]
    fn durations_are_read_and_shown_as_go_does() {
        for (text, shown) in [
            ("1h30m", "1h30m0s"),
            ("1.5s", "1.5s"),
            ("-2ms", "-2ms"),
            ("0", "0s"),
            ("90s", "1m30s"),
            ("1us", "1µs"),
        ] {
            assert_eq!(show(parse(text).unwrap()), shown);
        }
        for wrong in ["", "1", "5d", "x", "1h x", "."] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(parse_loosely("2 days"), Some(172_800_000_000_000));
        assert_eq!(parse_loosely("soon"), None);
    }
}
