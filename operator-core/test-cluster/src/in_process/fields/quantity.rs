//! Quantities (`1500m`, `1Gi`) in their canonical form.
//!
//! ```text
//!  1000m ─▶ 1      0.5 ─▶ 500m      1024Mi ─▶ 1Gi      1e3 ─▶ 1e3      1500M ─▶ 1500M
//! ```
//!
//! The suffix keeps its family (decimal, binary, exponent); within it the number becomes whole, and as short as
//! possible.
//!
//! # Assumptions
//! - A value fits into 38 digits, counted in billionths. A quantity that does not is refused.

/// The families of suffixes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Decimal,
    Binary,
    Exponent,
}

const NANOS: i128 = 1_000_000_000;
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// The form that the API server writes; the error is its message.
pub(super) fn normal(text: &str) -> Result<String, String> {
    parse(text).map(|(family, nanos)| write(family, nanos))
}

/// The same, in thousandths: smaller fractions are rounded up.
pub(super) fn in_thousandths(text: &str) -> Result<String, String> {
    const MILLI: i128 = 1_000_000;
    let (family, nanos) = parse(text)?;
    let rest = nanos % MILLI;
    Ok(write(family, if rest == 0 { nanos } else { nanos - rest + rest.signum() * MILLI }))
}

/// The value in billionths; the error is the API server's message.
pub(in crate::in_process) fn nanos(text: &str) -> Result<i128, String> {
    parse(text).map(|(_, nanos)| nanos)
}

/// An amount in billionths, written in the family of another quantity.
pub(in crate::in_process) fn written(like: &str, nanos: i128) -> String {
    write(parse(like).map_or(Family::Decimal, |(family, _)| family), nanos)
}

fn parse(text: &str) -> Result<(Family, i128), String> {
    const FORM: &str =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    let error = || FORM.to_owned();
    let end = text
        .char_indices()
        .find(|(index, letter)| {
            !(letter.is_ascii_digit() || *letter == '.' || *index == 0 && matches!(letter, '+' | '-'))
        })
        .map_or(text.len(), |(index, _)| index);
    let (number, suffix) = text.split_at(end);
    read(number, suffix).ok_or_else(error)
}

fn read(number: &str, suffix: &str) -> Option<(Family, i128)> {
    let negative = number.starts_with('-');
    let number = number.trim_start_matches(['+', '-']);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let (family, factor) = if let Some(power) = BINARY.iter().skip(1).position(|name| *name == suffix) {
        (Family::Binary, Scale::Binary(u32::try_from(power + 1).ok()?))
    } else if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        (Family::Decimal, Scale::Decimal(*power))
    } else {
        (Family::Exponent, Scale::Decimal(suffix.strip_prefix(['e', 'E'])?.parse().ok()?))
    };
    let nanos = match factor {
        Scale::Binary(power) => {
            let product = digits.checked_mul(NANOS)?.checked_mul(1024_i128.checked_pow(power)?)?;
            round_up(product, places)?
        }
        Scale::Decimal(power) => {
            let power = power + 9 - places;
            if power >= 0 {
                digits.checked_mul(10_i128.checked_pow(power.unsigned_abs())?)?
            } else {
                round_up(digits, -power)?
            }
        }
    };
    Some((family, if negative { -nanos } else { nanos }))
}

enum Scale {
    Binary(u32),
    Decimal(i32),
}

/// Fractions smaller than a billionth are rounded away from zero.
fn round_up(digits: i128, places: i32) -> Option<i128> {
    let Some(divisor) = 10_i128.checked_pow(places.unsigned_abs()) else {
        return Some(i128::from(digits > 0));
    };
    Some(digits / divisor + i128::from(digits % divisor > 0))
}

fn write(family: Family, nanos: i128) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    if family == Family::Binary && nanos % NANOS == 0 && (nanos / NANOS).abs() >= 1024 {
        let (mut number, mut power) = (nanos / NANOS, 0);
        while number % 1024 == 0 && power + 1 < BINARY.len() {
            number /= 1024;
            power += 1;
        }
        return format!("{number}{}", BINARY[power]);
    }
    let (mut number, mut power) = (nanos, -9);
    while number % 1000 == 0 && power < 18 {
        number /= 1000;
        power += 3;
    }
    if family == Family::Exponent {
        return if power == 0 { number.to_string() } else { format!("{number}e{power}") };
    }
    let suffix = DECIMAL.iter().find(|(_, known)| *known == power).map_or("", |(name, _)| name);
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_one_form() {
        let cases = [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("1536Mi", "1536Mi"),
            ("1e3", "1e3"),
            ("1500M", "1500M"),
            ("2000M", "2G"),
            ("0", "0"),
            ("0Gi", "0"),
            ("0.5Gi", "512Mi"),
            ("1Ki", "1Ki"),
            ("512", "512"),
            ("-1500m", "-1500m"),
            ("+1", "1"),
            (".5", "500m"),
        ];
        for (given, written) in cases {
            assert_eq!(normal(given).as_deref(), Ok(written), "{given}");
        }
        for wrong in ["", "x", "1x", "1.2.3", "Gi", "--1"] {
            assert!(normal(wrong).is_err(), "{wrong}");
        }
    }
}
