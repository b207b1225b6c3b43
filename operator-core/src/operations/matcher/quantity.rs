//! Quantities: `1Gi`, `0.5`, `500m`, `1e3`.

use serde_json::Value;

/// How much a suffix multiplies by: a power of ten, and one of two.
const SUFFIXES: [(&str, i64, u32); 16] = [
    ("", 0, 0),
    ("n", -9, 0),
    ("u", -6, 0),
    ("m", -3, 0),
    ("k", 3, 0),
    ("M", 6, 0),
    ("G", 9, 0),
    ("T", 12, 0),
    ("P", 15, 0),
    ("E", 18, 0),
    ("Ki", 0, 10),
    ("Mi", 0, 20),
    ("Gi", 0, 30),
    ("Ti", 0, 40),
    ("Pi", 0, 50),
    ("Ei", 0, 60),
];

/// A quantity as `mantissa × 10^exponent` with no zero at the mantissa's end, so that equal ones are the same value.
///
/// There are crates for quantities, but they bring a version of `k8s-openapi` and arithmetic; here they are only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    mantissa: i128,
    exponent: i64,
}

impl Quantity {
    /// Parses what the API server accepts. `None` for anything else, and for numbers of more than 38 digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let (ten, two) = scale(suffix)?;
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        let exponent = ten.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        mantissa = mantissa.checked_mul(1 << two)?;
        Some(Self { mantissa: if negative { -mantissa } else { mantissa }, exponent }.normal())
    }

    fn normal(mut self) -> Self {
        if self.mantissa == 0 {
            return Self { mantissa: 0, exponent: 0 };
        }
        while self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        self
    }
}

fn scale(suffix: &str) -> Option<(i64, u32)> {
    if let Some((_, ten, two)) = SUFFIXES.iter().find(|(name, ..)| *name == suffix) {
        return Some((*ten, *two));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    // Longer ones are no amounts of anything, and are left to the plain comparison.
    if exponent.len() > 4 { None } else { exponent.parse().ok().map(|exponent: i64| (exponent, 0)) }
}

/// Whether two values are one quantity, written as text or as a number.
pub(super) fn same_quantity(one: &Value, other: &Value) -> bool {
    let quantity = |value: &Value| match value {
        Value::String(text) => Quantity::parse(text),
        Value::Number(number) => Quantity::parse(&number.to_string()),
        _ => None,
    };
    quantity(one).is_some_and(|one| quantity(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::resource::arbitrary_tests::any_json;

    use super::*;

    #[test]
    fn all_suffixes_have_their_value() {
        for (text, plain) in [
            ("1000000000n", "1"),
            ("1000000u", "1"),
            ("1000m", "1"),
            ("1k", "1000"),
            ("1M", "1000000"),
            ("1G", "1000000000"),
            ("1T", "1000000000000"),
            ("1P", "1000000000000000"),
            ("1E", "1000000000000000000"),
            ("1Ki", "1024"),
            ("1Mi", "1048576"),
            ("1Gi", "1073741824"),
            ("1Ti", "1099511627776"),
            ("1Pi", "1125899906842624"),
            ("1Ei", "1152921504606846976"),
            ("12e6", "12M"),
            ("12E6", "12M"),
            ("1e-3", "1m"),
            ("1e+3", "1k"),
            ("0.5Gi", "512Mi"),
            ("1.50", "1500m"),
            (".5", "500m"),
            ("5.", "5"),
            ("+2", "2"),
            ("-1000m", "-1"),
            ("0", "0Ki"),
            ("-0", "0"),
            ("007", "7"),
        ] {
            let (one, other) = (Quantity::parse(text), Quantity::parse(plain));
            assert!(one.is_some(), "{text}");
            assert_eq!(one, other, "{text} {plain}");
        }
    }

    #[test]
    fn different_amounts_are_different() {
        for (one, other) in
            [("1", "2"), ("1k", "1Ki"), ("1m", "1M"), ("1", "-1"), ("1E", "1e1"), ("100", "1000")]
        {
            assert_ne!(Quantity::parse(one), Quantity::parse(other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        let long = "9".repeat(60);
        for text in
            ["", "-", ".", "Ki", "1ki", "1 Gi", "1.2.3", "1e", "e3", "1e3k", "0x1", "1e99999", "ü", &long]
        {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }

    #[test]
    fn text_and_numbers_are_compared() {
        assert!(same_quantity(&json!("2"), &json!(2)));
        assert!(same_quantity(&json!(0.25), &json!("250m")));
        assert!(!same_quantity(&json!("x"), &json!("x")), "what is no quantity is judged elsewhere");
        assert!(!same_quantity(&json!(true), &json!(1)));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn any_text_is_a_quantity_or_none(text in "[+-]?[0-9.]{0,45}([numkMGTPEi]{0,2}|[eE][+-]?[0-9]{0,6})|.{0,9}") {
            let value = Value::from(text.clone());
            let parsed = Quantity::parse(&text);
            prop_assert_eq!(same_quantity(&value, &value), parsed.is_some());
        }

        #[test]
        fn an_amount_is_the_same_in_thousandths(amount in -1_000_000_000_000_i64..1_000_000_000_000) {
            let thousandths = |amount: i128| json!(format!("{amount}m"));
            let in_thousandths = i128::from(amount) * 1_000;
            prop_assert!(same_quantity(&json!(amount), &thousandths(in_thousandths)));
            prop_assert!(!same_quantity(&json!(amount), &thousandths(in_thousandths + 1)));
        }

        #[test]
        fn binary_amounts_are_multiples_of_1024(amount in 0_i64..1_000_000, power in 1_usize..7) {
            let suffix = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power - 1];
            let plain = i128::from(amount) * 1024_i128.pow(u32::try_from(power).unwrap());
            prop_assert_eq!(Quantity::parse(&format!("{amount}{suffix}")), Quantity::parse(&plain.to_string()));
        }

        #[test]
        fn any_two_values_can_be_compared(one in any_json(), other in any_json()) {
            prop_assert_eq!(same_quantity(&one, &other), same_quantity(&other, &one));
        }
    }
}
