//! A change that was made to one state of an object, applied to another state.

use serde_json::{Map, Value};

/// The state that should be on the server if `from` was to become `to`, and `live` exists now: what the change doesn't
/// touch stays as it is in `live`, what it does touch is as in `to`. `None` if both have changed the same list: its
/// items can't be distinguished, so it is not clear what was meant.
pub(in crate::operations) fn carry_over(from: &Value, to: &Value, live: &Value) -> Option<Value> {
    carry(Some(from), Some(to), Some(live)).map(Option::unwrap_or_default)
}

/// The same for values that may be missing.
fn carry(from: Option<&Value>, to: Option<&Value>, live: Option<&Value>) -> Option<Option<Value>> {
    if from == to {
        return Some(live.cloned());
    }
    if from == live || live == to {
        return Some(to.cloned());
    }
    if [from, to, live].into_iter().flatten().any(Value::is_array) {
        return None;
    }
    let (Some(Value::Object(to)), Some(Value::Object(live))) = (to, live) else { return Some(to.cloned()) };
    let none = Map::new();
    let from = from.and_then(Value::as_object).unwrap_or(&none);
    let mut carried = Map::new();
    for name in live.keys().chain(to.keys().filter(|name| !live.contains_key(*name))) {
        if let Some(value) = carry(from.get(name), to.get(name), live.get(name))? {
            carried.insert(name.clone(), value);
        }
    }
    Some(Some(Value::Object(carried)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::resource::arbitrary_tests::any_json;

    use super::*;

    #[test]
    fn a_change_is_carried_over_to_what_others_have_changed_elsewhere() {
        let from = json!({ "status": { "ours": 1, "theirs": 1, "list": ["a"] } });
        let to = json!({ "status": { "ours": 2, "theirs": 1, "list": ["a", "b"], "new": true } });
        let live = json!({ "status": { "ours": 1, "theirs": 7, "list": ["a"], "more": 1 } });
        let expected =
            json!({ "status": { "ours": 2, "theirs": 7, "list": ["a", "b"], "new": true, "more": 1 } });
        assert_eq!(carry_over(&from, &to, &live), Some(expected));
    }

    #[test]
    fn a_list_that_both_have_changed_is_nobody_s() {
        let (from, to) = (json!({ "list": ["a", "b"] }), json!({ "list": ["a", "B"] }));
        assert_eq!(carry_over(&from, &to, &json!({ "list": ["x", "a", "b"] })), None);
        assert_eq!(carry_over(&from, &to, &json!({})), None);
        assert_eq!(carry_over(&from, &json!({}), &json!({ "list": ["x", "a", "b"] })), None);
        assert_eq!(carry_over(&from, &to, &to), Some(to.clone()), "both the same");
    }

    #[test]
    fn of_a_value_that_both_have_changed_ours_counts() {
        let of = |value: u32| json!({ "value": value });
        assert_eq!(carry_over(&of(1), &of(2), &of(3)), Some(of(2)));
        assert_eq!(carry_over(&of(1), &json!({}), &of(3)), Some(json!({})));
        assert_eq!(carry_over(&json!({}), &of(2), &of(3)), Some(of(2)));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn upon_the_same_state_it_is_the_change_itself(from in any_json(), to in any_json()) {
            prop_assert_eq!(carry_over(&from, &to, &from), Some(to));
        }

        #[test]
        fn no_change_leaves_any_state_alone(from in any_json(), live in any_json()) {
            prop_assert_eq!(carry_over(&from, &from, &live), Some(live));
        }

        #[test]
        fn what_was_carried_over_is_not_carried_over_again(from in any_json(), to in any_json(), live in any_json()) {
            if let Some(carried) = carry_over(&from, &to, &live) {
                prop_assert_eq!(carry_over(&from, &to, &carried), Some(carried));
            }
        }
    }
}
