//! Quantities (`1500m`, `1Gi`) as Go reads and writes them.
//!
//! ```text
//!  1000m ─▶ 1      0.5 ─▶ 500m      1024Mi ─▶ 1Gi      1500M ─▶ 1500M      16Ei ─▶ 9223372036854775807
//!  +1 ─▶ +1        5. ─▶ 5.         1E3 ─▶ 1E3         a short text whose number is as it should be stays as it is
//! ```
//!
//! The suffix keeps its family (decimal, binary, exponent); within it the number becomes whole, and as short as
//! possible. Binary quantities end at the largest integer of 64 bits.

use std::borrow::Cow;

/// The families of suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Decimal,
    Binary,
    Exponent,
}

/// So many digits are read without large numbers.
const SHORT: i64 = 18;
const WRONG_FORM: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";
const WRONG_NUMBER: &str = "unable to parse numeric part of quantity";
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i64); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// A number with its family, and the text that it is written as if that isn't made of the number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quantity<'t> {
    is_negative: bool,
    number: Decimal,
    family: Family,
    text: Option<&'t str>,
    /// Whether it is read without large numbers.
    is_short: bool,
}

/// Digits, the first of which isn't zero, and the power of ten that they are multiplied by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Decimal {
    digits: Vec<u8>,
    power: i64,
}

/// The form that the API server writes; the error is its message.
pub(super) fn normal(text: &str) -> Result<String, String> {
    Quantity::parse(text.trim()).map(|quantity| quantity.written().into_owned())
}

/// The same, in thousandths: smaller fractions are rounded up.
pub(super) fn in_thousandths(text: &str) -> Result<String, String> {
    let mut quantity = Quantity::parse(text)?;
    if quantity.number.power < -3 {
        quantity.text = None;
        quantity.number.round_up(-3);
    }
    Ok(quantity.written().into_owned())
}

/// The value in billionths; the error is the API server's message. What is beyond 128 bits is the largest number.
pub(in crate::in_process) fn nanos(text: &str) -> Result<i128, String> {
    Quantity::parse(text).map(|quantity| quantity.nanos())
}

/// The number of a quantity, which is the same for all forms of it.
pub(super) fn exact(text: &str) -> Result<String, String> {
    Quantity::parse(text).map(|quantity| {
        let mut number = quantity.number;
        number.shorten();
        match number.digits.is_empty() {
            true => "0".to_owned(),
            false => {
                format!("{}{}e{}", if quantity.is_negative { "-" } else { "" }, number.shown(), number.power)
            }
        }
    })
}

/// Whether a quantity has a part of one, as Go counts that: what is too large for 64 bits is cut off, or nothing.
pub(in crate::in_process) fn has_fraction(text: &str) -> bool {
    Quantity::parse(text).is_ok_and(|quantity| quantity.thousandths() % 1000 != 0)
}

/// An amount in billionths, written in the family of another quantity.
pub(in crate::in_process) fn written(like: &str, nanos: i128) -> String {
    let family = Quantity::parse(like).map_or(Family::Decimal, |quantity| quantity.family);
    let number = Decimal::of(&nanos.unsigned_abs().to_string(), -9);
    Quantity { is_negative: nanos < 0, number, family, text: None, is_short: false }.written().into_owned()
}

impl<'t> Quantity<'t> {
    fn parse(text: &'t str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(WRONG_FORM.to_owned());
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (digits, rest) = leading_digits(unsigned.trim_start_matches('0'));
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), leading_digits);
        let letters = suffix.trim_start_matches(|letter: char| "eEinumkKMGTP".contains(letter));
        let power = letters.strip_prefix(['+', '-']).unwrap_or(letters);
        if !power.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(WRONG_FORM.to_owned());
        }
        let (family, power) = family(suffix).ok_or_else(|| WRONG_SUFFIX.to_owned())?;
        let whole = if digits.is_empty() { "0" } else { digits };
        let mut number = Decimal::of(&format!("{whole}{fraction}"), 0);
        let is_negative = text.starts_with('-');
        let mut quantity =
            Self { is_negative, number: Decimal::default(), family, text: None, is_short: false };
        let count = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let places = count(fraction);
        if family == Family::Binary {
            // Three bits are about a digit.
            let precision = 15 - count(whole) - power * 3 / 10 - 1;
            let is_short = fraction.is_empty() && precision >= 0;
            let odd =
                |digits: &[u8]| digits.iter().fold(0, |sum, digit| (sum * 10 + u64::from(*digit)) & 7) != 0;
            if is_short && odd(&number.digits) {
                quantity.text = Some(text);
            }
            quantity.is_short = is_short;
            number.double(power);
            number.power = -places;
            if !is_short {
                number.round_up(-9);
                number.limit();
                if number.is_less_than_one() {
                    quantity.family = Family::Decimal;
                }
            }
        } else {
            number.power = power - places;
            let is_short = count(whole) + places <= SHORT && number.power >= -9;
            let shown = format!("{whole}{fraction}");
            if is_short && number.power % 3 == 0 && !shown.ends_with("000") && !shown.starts_with('0') {
                quantity.text = Some(text);
            }
            if !is_short {
                number.round_up(-9);
            }
            quantity.is_short = is_short;
        }
        let shown = &unsigned[..unsigned.len() - suffix.len()];
        if !quantity.is_short && !shown.contains(|sign: char| sign.is_ascii_digit()) {
            return Err(WRONG_NUMBER.to_owned());
        }
        if text == "0" {
            quantity.text = Some(text);
        }
        quantity.number = number;
        Ok(quantity)
    }

    fn written(&self) -> Cow<'t, str> {
        if let Some(text) = self.text {
            return Cow::Borrowed(text);
        }
        let mut number = self.number.clone();
        number.shorten();
        if number.digits.is_empty() {
            return Cow::Borrowed("0");
        }
        let sign = if self.is_negative { "-" } else { "" };
        if let (Family::Binary, Some(whole)) = (self.family, number.whole().filter(|whole| *whole >= 1024)) {
            let (mut whole, mut power) = (whole, 0);
            while whole.is_multiple_of(1024) && power + 1 < BINARY.len() {
                whole /= 1024;
                power += 1;
            }
            return Cow::Owned(format!("{sign}{whole}{}", BINARY[power]));
        }
        while number.power.rem_euclid(3) != 0 {
            number.digits.push(0);
            number.power -= 1;
        }
        let digits = number.shown();
        let suffix = match (self.family, number.power) {
            (_, 0) => String::new(),
            (Family::Exponent, power) => format!("e{power}"),
            // What is beyond the suffixes has none, and so is another number: it is written like this.
            (_, power) => DECIMAL
                .iter()
                .find(|(_, known)| *known == power)
                .map_or_else(String::new, |(name, _)| (*name).to_owned()),
        };
        Cow::Owned(format!("{sign}{digits}{suffix}"))
    }

    /// Rounded away from zero.
    fn thousandths(&self) -> i64 {
        let mut number = self.number.clone();
        number.round_up(-3);
        let zeros = number.power + 3;
        let exact = || {
            let digits = number.shown().parse::<i64>().ok()?;
            digits.checked_mul(10_i64.checked_pow(u32::try_from(zeros).ok()?)?)
        };
        let thousandths = if number.digits.is_empty() {
            0
        } else if self.is_short {
            exact().unwrap_or_default()
        } else {
            let digit = |sum: i64, digit: &u8| sum.wrapping_mul(10).wrapping_add(i64::from(*digit));
            let digits = number.digits.iter().fold(0, digit);
            digits.wrapping_mul(10_i64.wrapping_pow(u32::try_from(zeros).unwrap_or_default()))
        };
        if self.is_negative { thousandths.wrapping_neg() } else { thousandths }
    }

    fn nanos(&self) -> i128 {
        let mut number = self.number.clone();
        number.shorten();
        let power = u32::try_from(number.power + 9).ok();
        let factor = power.and_then(|power| 10_i128.checked_pow(power));
        let digits = number.shown().parse::<i128>().ok();
        let nanos = match (number.digits.is_empty(), digits, factor) {
            (true, ..) => 0,
            (_, Some(digits), Some(factor)) => digits.checked_mul(factor).unwrap_or(i128::MAX),
            // Nothing is smaller than a billionth.
            _ => i128::MAX,
        };
        if self.is_negative { -nanos } else { nanos }
    }
}

/// The digits that a text begins with, and the rest.
fn leading_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The family of a suffix, and its power: of two, or of ten.
fn family(suffix: &str) -> Option<(Family, i64)> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((Family::Decimal, *power));
    }
    if let Some(power) = BINARY.iter().skip(1).position(|name| *name == suffix) {
        return Some((Family::Binary, i64::try_from(power + 1).ok()? * 10));
    }
    let power: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Go has 32 bits for it.
    #[expect(clippy::cast_possible_truncation, reason = "as Go does it")]
    let power = power as i32;
    Some((Family::Exponent, i64::from(power)))
}

impl Decimal {
    fn of(digits: &str, power: i64) -> Self {
        Self { digits: digits.trim_start_matches('0').bytes().map(|digit| digit - b'0').collect(), power }
    }

    fn shown(&self) -> String {
        self.digits.iter().map(|digit| char::from(b'0' + digit)).collect()
    }

    /// Takes zeros at the end into the power.
    fn shorten(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.power += 1;
        }
    }

    /// The number if it is whole, and has at most 64 bits.
    fn whole(&self) -> Option<u64> {
        let zeros = usize::try_from(self.power).ok().filter(|zeros| *zeros < 20)?;
        format!("{}{}", self.shown(), "0".repeat(zeros)).parse().ok()
    }

    /// Doubles the number so many times.
    fn double(&mut self, times: i64) {
        for _ in 0..times {
            let mut carry = 0;
            for digit in self.digits.iter_mut().rev() {
                let doubled = *digit * 2 + carry;
                (*digit, carry) = (doubled % 10, doubled / 10);
            }
            if carry > 0 {
                self.digits.insert(0, carry);
            }
        }
    }

    /// Rounds to a multiple of a power of ten: away from zero.
    fn round_up(&mut self, power: i64) {
        let Some(extra) = usize::try_from(power - self.power).ok().filter(|extra| *extra > 0) else { return };
        let kept = self.digits.len().saturating_sub(extra);
        let is_more = self.digits[kept..].iter().any(|digit| *digit != 0);
        self.digits.truncate(kept);
        self.power = power;
        if !is_more {
            return;
        }
        for digit in self.digits.iter_mut().rev() {
            *digit += 1;
            if *digit < 10 {
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    /// The largest number of binary quantities.
    fn limit(&mut self) {
        let most = Self::of("9223372036854775807", 0);
        let integer = |number: &Self| i64::try_from(number.digits.len()).unwrap_or(i64::MAX) + number.power;
        let is_more = match integer(self).cmp(&integer(&most)) {
            std::cmp::Ordering::Equal => self.digits > most.digits,
            order => order.is_gt(),
        };
        if is_more {
            *self = most;
        }
    }

    fn is_less_than_one(&self) -> bool {
        !self.digits.is_empty() && i64::try_from(self.digits.len()).unwrap_or(i64::MAX) + self.power <= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_one_form_or_stays_as_it_is() {
        let cases = [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("1536Mi", "1536Mi"),
            ("1e3", "1e3"),
            ("1E3", "1E3"),
            ("1500M", "1500M"),
            ("2000M", "2G"),
            ("0", "0"),
            ("0Gi", "0"),
            ("0.5Gi", "512Mi"),
            ("1Ki", "1Ki"),
            ("512", "512"),
            ("-1500m", "-1500m"),
            ("+1", "+1"),
            (".5", "500m"),
            ("5.", "5."),
            ("007", "007"),
            ("1e30", "1e30"),
            ("1e31", "10e30"),
            ("1000E", "1"),
            ("16Ei", "9223372036854775807"),
            ("1.5Ki", "1536"),
            ("0.0001Ki", "102400u"),
            ("0.1n", "1n"),
            ("12345678901234567890", "12345678901234567890"),
            (" 1 ", "1"),
            (".", "0"),
            ("-", "0"),
        ];
        for (given, written) in cases {
            assert_eq!(normal(given).as_deref(), Ok(written), "{given}");
        }
        for wrong in ["", " ", "x", "1.2.3", "1 Gi", "1x"] {
            assert_eq!(normal(wrong), Err(WRONG_FORM.to_owned()), "{wrong}");
        }
        for wrong in ["1ki", "1e", "1KiB", "1i", "1e1.5"] {
            assert!(normal(wrong).is_err(), "{wrong}");
        }
        assert_eq!(normal("1ki"), Err(WRONG_SUFFIX.to_owned()));
        for wrong in ["Ei", ".Ei", "+Pi", "-.Ei", "e-10", ".e-10"] {
            assert_eq!(normal(wrong), Err(WRONG_NUMBER.to_owned()), "{wrong}");
        }
        for nothing in ["Ki", ".Mi", "n", "e30", "0Ei"] {
            assert_eq!(normal(nothing).as_deref(), Ok("0"), "{nothing}");
        }
        assert_eq!(in_thousandths("1500u").as_deref(), Ok("2m"));
        for (given, has) in [
            ("1.5", true),
            ("1e30", false),
            ("12345678901234567890", true),
            ("1u", true),
            ("5Gi", false),
            ("1234567890123456789e99", false),
        ] {
            assert_eq!(has_fraction(given), has, "{given}");
        }
        assert_eq!(written("1Gi", 2_147_483_648_000_000_000), "2Gi");
        assert_eq!((nanos("1500m"), nanos("1e40")), (Ok(1_500_000_000), Ok(i128::MAX)));
        for (one, two, same) in
            [("1000m", "1", true), ("0Gi", "-0", true), ("1.50e99", "15e98", true), ("1e99", "1e98", false)]
        {
            assert_eq!(exact(one) == exact(two), same, "{one} {two}");
        }
    }
}
