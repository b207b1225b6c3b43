//! Quantities as numbers that can be added and compared. Pure.
//!
//! # Assumptions
//! - A quantity is in the form that the server stores.

pub(super) use crate::in_process::values::amount as nanos;

/// The sum of two quantities, in the form of the first unless that is nothing.
pub(super) fn sum(one: &str, two: &str) -> String {
    let total = nanos(one) + nanos(two);
    let like = if nanos(one) == 0 { two } else { one };
    show(total, like.ends_with('i'))
}

/// What one quantity is more than another, in the form of the first.
pub(super) fn minus(one: &str, two: &str) -> String {
    show(nanos(one) - nanos(two), one.ends_with('i'))
}

/// A quantity in whole numbers, rounded up.
pub(super) fn whole(amount: &str) -> String {
    const ONE: i128 = 1_000_000_000;
    match nanos(amount).rem_euclid(ONE) {
        0 => amount.to_owned(),
        part => show(nanos(amount) - part + ONE, amount.ends_with('i')),
    }
}

fn show(nanos: i128, binary: bool) -> String {
    if nanos % 1_000_000_000 != 0 {
        return if nanos % 1_000_000 == 0 {
            format!("{}m", nanos / 1_000_000)
        } else if nanos % 1_000 == 0 {
            format!("{}u", nanos / 1_000)
        } else {
            format!("{nanos}n")
        };
    }
    let (mut number, mut at) = (nanos / 1_000_000_000, 0);
    let (base, suffixes) = if binary {
        (1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
    } else {
        (1000, ["", "k", "M", "G", "T", "P", "E"])
    };
    while number != 0 && number % base == 0 && at + 1 < suffixes.len() {
        number /= base;
        at += 1;
    }
    format!("{number}{}", suffixes[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_added_in_their_own_form() {
        for (one, two, expected) in [
            ("0", "100Mi", "100Mi"),
            ("1Gi", "1Gi", "2Gi"),
            ("500m", "500m", "1"),
            ("500m", "600m", "1100m"),
            ("1", "1", "2"),
            ("999", "1", "1k"),
            ("1.5Gi", "512Mi", "2Gi"),
            ("1e3", "0", "1k"),
        ] {
            assert_eq!(sum(one, two), expected, "{one} + {two}");
        }
        assert!(nanos("1Gi") > nanos("1G") && nanos("0.5") == nanos("500m"));
    }
}
