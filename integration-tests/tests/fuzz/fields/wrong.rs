//! Values that are wrong for a type, or merely different.

use integration_tests::prelude::*;

use super::{samples, types::Type};

/// A value to be set, or the field's absence.
pub(super) type Given = Option<Value>;

/// Wrong values of a type, and a few that may be right, without the one that is there.
pub(super) fn wrong(of: &Type, field: &str, now: &Value) -> Vec<Given> {
    let long = "x".repeat(300);
    let values = match of {
        Type::Text => {
            let mut values = vec![json!(""), json!("Not Valid_!"), json!(long), json!("unknown"), json!(5)];
            values.extend(samples::wrong_texts(field).iter().map(|text| json!(text)));
            values
        }
        Type::Number => vec![
            json!(-1),
            json!(0),
            json!(70_000),
            json!(2_147_483_647),
            json!(9_999_999_999_i64),
            json!("x"),
        ],
        Type::Bool => vec![json!(now != &json!(true)), json!("x")],
        Type::Time | Type::MicroTime => vec![json!("x"), json!(5), json!("1000-01-01T00:00:00Z")],
        Type::Quantity => vec![json!("-1"), json!("x"), json!("0.0005"), json!("")],
        Type::IntOrText => {
            vec![
                json!(-1),
                json!(0),
                json!(70_000),
                json!("Not Valid_!"),
                json!("150%"),
                json!("x"),
                json!(true),
            ]
        }
        Type::Bytes => vec![json!("%"), json!(5)],
        Type::Any => vec![json!("x")],
        Type::Struct(_) => vec![json!({}), json!("x")],
        Type::List(_) => {
            let mut values = vec![json!([]), json!("x"), json!([null])];
            if let Some(first) = now.as_array().and_then(|items| items.first()) {
                values.push(json!([first, first]));
            }
            values
        }
        Type::Map(value) => {
            let fine = match &**value {
                Type::Bytes => json!("YQ=="),
                Type::Time => json!("2024-01-01T00:00:00Z"),
                Type::Quantity => json!("1"),
                _ => json!("a"),
            };
            let mut values = vec![
                json!({}),
                json!("x"),
                json!({ "": fine }),
                json!({ "Not Valid_!": fine }),
                json!({ "a/b/c": fine }),
                json!({ "cpu": fine }),
                json!({ long.as_str(): fine }),
                json!({ "a": 5 }),
            ];
            match **value {
                Type::Text => values.extend([json!({ "a": "Not Valid_!" }), json!({ "a": long })]),
                Type::Quantity => values.extend([
                    json!({ "cpu": "-1" }),
                    json!({ "memory": "0.5" }),
                    json!({ "example.com/x": "0.5" }),
                    json!({ "hugepages-2Mi": "1" }),
                    json!({ "storage": "0" }),
                ]),
                _ => {}
            }
            values
        }
    };
    let others = values.into_iter().filter(|value| value != now).map(Some);
    let absent = (!now.is_null()).then_some(None);
    others.chain(absent).collect()
}

/// Other values that may well be valid: whether they may follow the one that is there is the question.
pub(super) fn changed(of: &Type, field: &str, now: &Value) -> Vec<Given> {
    let text = now.as_str().unwrap_or_default();
    let number = now.as_i64().unwrap_or_default();
    let other = match of {
        Type::Text => match samples::other_text(field, text) {
            Some(other) => json!(other),
            None => json!(format!("{text}x")),
        },
        Type::Number => json!(number + 1),
        Type::Bool => json!(now != &json!(true)),
        Type::Time => json!("2024-02-02T00:00:00Z"),
        Type::MicroTime => json!("2024-02-02T00:00:00.000000Z"),
        Type::Quantity => json!("7"),
        Type::IntOrText => json!(7),
        Type::Bytes => json!("Yg=="),
        Type::Any => json!({"x": 1}),
        Type::Struct(_) => json!({}),
        Type::List(_) => json!([]),
        Type::Map(value) => {
            let mut map = now.as_object().cloned().unwrap_or_default();
            let fine = match &**value {
                Type::Bytes => json!("Yg=="),
                Type::Time => json!("2024-02-02T00:00:00Z"),
                Type::Quantity => json!("7"),
                _ => json!("b"),
            };
            map.insert("changed".to_owned(), fine);
            Value::Object(map)
        }
    };
    let absent = (!now.is_null()).then_some(None);
    std::iter::once(Some(other)).filter(|other| other.as_ref() != Some(now)).chain(absent).collect()
}
