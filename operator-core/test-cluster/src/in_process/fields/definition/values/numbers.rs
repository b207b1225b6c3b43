//! Limits of numbers.

use serde_json::{Number, Value};

use super::{
    super::flag,
    outcome::{Outcome, Problem},
};

/// Whether a number with a point counts as an integer: nearly one is enough, and what a float can't count is none.
pub(super) fn is_whole(number: f64) -> bool {
    const MOST: f64 = 9_007_199_254_740_991.0;
    let size = number.abs();
    let difference = size - size.trunc();
    size <= MOST && (difference == 0.0 || size >= 1.0 && difference / (size + size.trunc()) < 1e-9)
}

/// Checks a number's range and limits. Limits of integers are integers: what follows the point doesn't count.
pub(super) fn check(schema: &Value, number: &Number, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let value = Value::Number(number.clone());
    let range = Range::of(schema);
    if let Some(problem) = range.problem(number, "Checked", path) {
        outcome.add(problem);
    }
    let limit = |word: &str| schema.get(word).and_then(Value::as_number);
    let float = number.as_f64().unwrap_or_default();
    let whole = number.as_i64();
    let mut fail = |said: String| outcome.add(Problem::of_value(path, &value, &said));
    if let Some(factor) = limit("multipleOf") {
        if let Some(problem) = range.problem(factor, "MultipleOf", path) {
            outcome.add(problem);
            let factor = factor.as_f64().unwrap_or_default();
            if !is_multiple(float, factor) {
                outcome.add(Problem::of_value(path, &value, &format!("should be a multiple of {factor}")));
            }
        } else {
            let factor = factor.as_f64().unwrap_or_default();
            let (positive, multiple, shown) = match whole {
                Some(whole) => {
                    let factor = truncated(factor);
                    (factor > 0, factor > 0 && whole % factor == 0, factor.to_string())
                }
                None => (factor > 0.0, is_multiple(float, factor), show(factor)),
            };
            if !positive {
                let said = format!("factor MultipleOf declared for {path} must be positive: {shown}");
                outcome.add(Problem::factor(path, &shown, &said));
            } else if !multiple {
                fail(format!("should be a multiple of {shown}"));
            }
        }
    }
    let mut fail = |said: String| outcome.add(Problem::of_value(path, &value, &said));
    let below = flag(schema, "exclusiveMinimum");
    if let Some(least) = limit("minimum").and_then(Number::as_f64) {
        let (wrong, shown) = match whole {
            Some(whole) => {
                let least = truncated(least);
                (whole < least || below && whole == least, least.to_string())
            }
            None => (float < least || below && float <= least, show(least)),
        };
        if wrong {
            let than = if below { "greater than" } else { "greater than or equal to" };
            fail(format!("should be {than} {shown}"));
        }
    }
    let above = flag(schema, "exclusiveMaximum");
    if let Some(most) = limit("maximum").and_then(Number::as_f64) {
        let (wrong, shown) = match whole {
            Some(whole) => {
                let most = truncated(most);
                (whole > most || above && whole == most, most.to_string())
            }
            None => (float > most || above && float >= most, show(most)),
        };
        if wrong {
            let than = if above { "less than" } else { "less than or equal to" };
            fail(format!("should be {than} {shown}"));
        }
    }
    outcome.matches += 1;
    outcome
}

impl Problem {
    /// A factor that is none.
    fn factor(path: &str, shown: &str, said: &str) -> Self {
        let message = format!("Invalid value: {shown}: {said}");
        Self::as_said(path, said, "FieldValueInvalid", message)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "as the real server does it")]
fn truncated(number: f64) -> i64 {
    number as i64
}

fn is_multiple(number: f64, factor: f64) -> bool {
    let times = if factor < 1.0 { 1.0 / factor * number } else { number / factor };
    (times - times.round()).abs() <= 1e-9 * times.abs().max(1e-9)
}

/// A number as Go shows it.
pub(in crate::in_process) fn show(number: f64) -> String {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    if exponent.parse().is_ok_and(|exponent| (-4..6).contains(&exponent)) {
        return number.to_string();
    }
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// The range of a type with its format.
struct Range<'s> {
    of: &'s str,
    format: &'s str,
}

impl<'s> Range<'s> {
    fn of(schema: &'s Value) -> Self {
        let text = |word: &str| schema.get(word).and_then(Value::as_str).unwrap_or_default();
        let of = if flag(schema, "x-kubernetes-int-or-string") { "" } else { text("type") };
        let format = match (of, text("format")) {
            ("integer", format @ ("int32" | "int64")) | ("number", format @ ("float" | "double")) => format,
            _ => "",
        };
        let of = if matches!(of, "integer" | "number") { of } else { "" };
        Self { of, format }
    }

    fn problem(&self, number: &Number, what: &str, path: &str) -> Option<Problem> {
        let fits = match (self.of, self.format) {
            ("integer", "int32") => {
                number.as_i64().or_else(|| whole(number)).is_some_and(|n| i32::try_from(n).is_ok())
            }
            ("integer", _) => number.as_i64().or_else(|| whole(number)).is_some(),
            (_, "float") => number.as_f64().is_some_and(|number| number.abs() <= f64::from(f32::MAX)),
            _ => true,
        };
        if fits {
            return None;
        }
        let of = self.of;
        Some(Problem::general(match self.format {
            "" => format!("{what} value must be of type {of} (default format) in {path}"),
            format => format!("{what} value must be of type {of} with format {format} in {path}"),
        }))
    }
}

/// A float that is written as an integer.
fn whole(number: &Number) -> Option<i64> {
    let number = number.as_f64()?;
    (number.fract() == 0.0 && number.abs() < 9.2e18).then(|| truncated(number))
}
