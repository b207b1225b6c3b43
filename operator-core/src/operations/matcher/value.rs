//! Equality of JSON values as an apply sees it.

use serde_json::{Number, Value};

/// Removes every `null` field of every object inside `value`, including those inside lists.
///
/// To be called on what is sent: a `null` in an applied object is recorded as an owned field, while
/// [`matches_owned_fields`](super::matches_owned_fields) treats it as absent. Items of lists stay, because they are
/// positions.
pub(crate) fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A field that exists and is not `null`.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// Whether the API server may drop a value from the object it stores: `null`, an empty container, or an object with
/// nothing else in it.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether applying a value may leave no owned field behind. That holds for an empty list, but not for an empty
/// object: the API server records it.
pub(super) fn leaves_no_trace(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => {
            let mut wanted = fields.values().filter(|field| !field.is_null()).peekable();
            wanted.peek().is_some() && wanted.all(leaves_no_trace)
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether an actual value, owned as a whole, is as desired.
///
/// Fields of `desired` may be missing in `actual` if the server drops them; conversely, a field that is only in
/// `actual` is one that is no longer wanted.
pub(super) fn same(desired: &Value, actual: &Value) -> bool {
    match (desired, actual) {
        (Value::Object(desired), Value::Object(actual)) => {
            let mut shared = 0;
            for (name, wanted) in desired.iter().filter(|(_, wanted)| !wanted.is_null()) {
                match present(actual.get(name)) {
                    Some(found) if same(wanted, found) => shared += 1,
                    None if is_nothing(wanted) => {}
                    _ => return false,
                }
            }
            actual.values().filter(|found| !found.is_null()).count() == shared
        }
        (Value::Array(desired), Value::Array(actual)) => {
            desired.len() == actual.len()
                && desired.iter().zip(actual).all(|(desired, actual)| same(desired, actual))
        }
        (Value::Number(desired), Value::Number(actual)) => same_number(desired, actual),
        _ => desired == actual,
    }
}

/// Whether two numbers are equal, however they are written. Integers are compared as integers, because not every
/// integer has its own floating point number.
pub(super) fn same_number(one: &Number, other: &Number) -> bool {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

/// The number as an integer if it is one.
pub(super) fn integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i64() {
        return Some(i128::from(integer));
    }
    if let Some(integer) = number.as_u64() {
        return Some(i128::from(integer));
    }
    // Beyond 2^64 no integer is written without an exponent in an API object, so there floats compare as floats.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= LIMIT).map(|float| float as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_go_from_objects_and_stay_in_lists() {
        let mut value = json!({"a": null, "b": {"c": null}, "d": [null, {"e": null, "f": 1}]});
        strip_nulls(&mut value);
        assert_eq!(value, json!({"b": {}, "d": [null, {"f": 1}]}));
    }

    #[test]
    fn numbers_are_equal_by_value() {
        for (one, other, equal) in [
            (json!(1), json!(1.0), true),
            (json!(0), json!(-0.0), true),
            (json!(0.5), json!(0.5), true),
            (json!(1), json!(1.5), false),
            (json!(-1), json!(u64::MAX), false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992.0), false),
            (json!(1e300), json!(1e300), true),
        ] {
            assert_eq!(same(&one, &other), equal, "{one} {other}");
            assert_eq!(same(&other, &one), equal, "{other} {one}");
        }
    }

    #[test]
    fn what_is_only_in_the_actual_value_is_a_difference() {
        assert!(same(&json!({"a": 1, "b": {}, "c": null}), &json!({"a": 1})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": {}})));
        assert!(!same(&json!({"a": null}), &json!({"a": 1})));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
    }
}
