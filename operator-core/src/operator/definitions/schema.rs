//! A structural schema, held against the one of a type: which of the type's fields does a server drop, and which values
//! of them does it refuse?

use serde_json::{Map, Value};

/// A field of the type that isn't kept as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Where: `.spec.pages[].title`, `.spec.labels.*`.
    pub(super) at: String,
    pub(super) effect: Effect,
}

/// What the server does with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It drops the field.
    Pruned,
    /// It refuses the object, for this reason.
    Refused(String),
}

/// All differences, in the order of the fields.
pub(super) fn differences(own: &Value, live: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", own, live, &mut found);
    found
}

fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or_default()
}

fn text<'s>(schema: &'s Value, name: &str) -> Option<&'s str> {
    schema.get(name)?.as_str().filter(|text| !text.is_empty())
}

fn keeps_unknown(schema: &Value) -> bool {
    flag(schema, "x-kubernetes-preserve-unknown-fields")
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn compare(at: &str, own: &Value, live: &Value, found: &mut Vec<Difference>) {
    let here = if at.is_empty() { "." } else { at };
    let mut refused = |why: String| {
        found.push(Difference { at: here.to_owned(), effect: Effect::Refused(why) });
    };
    if let Some(why) = other_type(own, live) {
        // Nothing below it can be compared.
        refused(why);
        return;
    }
    if let Some(why) = other_values(own, live) {
        refused(why);
    }
    for why in narrower(own, live) {
        refused(why);
    }
    for name in left_out(own, live) {
        let why = "it is required there, and the type may leave it out".to_owned();
        found.push(Difference { at: format!("{at}.{name}"), effect: Effect::Refused(why) });
    }
    fields(at, own, live, found);
    if let (Some(own), Some(live)) = (own.get("items"), live.get("items")) {
        compare(&format!("{at}[]"), own, live, found);
    }
}

fn fields(at: &str, own: &Value, live: &Value, found: &mut Vec<Difference>) {
    let others = live.get("additionalProperties").filter(|others| **others != Value::Bool(false));
    let pruned = |at: String| Difference { at, effect: Effect::Pruned };
    for (name, own) in properties(own).into_iter().flatten() {
        let at = format!("{at}.{name}");
        match properties(live).and_then(|known| known.get(name)).or(others) {
            Some(Value::Bool(_)) => {}
            Some(live) => compare(&at, own, live, found),
            None if keeps_unknown(live) => {}
            None => found.push(pruned(at)),
        }
    }
    let of_any_name = match own.get("additionalProperties") {
        Some(Value::Bool(false)) | None => keeps_unknown(own).then_some(&Value::Null),
        Some(schema) => Some(schema),
    };
    let Some(own) = of_any_name else { return };
    match others {
        Some(live) if live.is_object() && own.is_object() => compare(&format!("{at}.*"), own, live, found),
        Some(_) => {}
        None if keeps_unknown(live) => {}
        None => found.push(pruned(format!("{at}.*"))),
    }
}

/// Why no value of the type would do.
fn other_type(own: &Value, live: &Value) -> Option<String> {
    let is_either = |schema| flag(schema, "x-kubernetes-int-or-string");
    match (text(own, "type"), text(live, "type")) {
        (_, None) if is_either(live) => match text(own, "type") {
            Some("integer" | "string") | None => None,
            Some(own) => Some(format!("it is an integer or a string there, and in the type of type `{own}`")),
        },
        (None, Some(live)) if is_either(own) => {
            Some(format!("it is of type `{live}` there, and in the type an integer or a string"))
        }
        (Some("integer"), Some("number")) => None,
        (Some(own), Some(live)) if own != live => {
            Some(format!("it is of type `{live}` there, and in the type of type `{own}`"))
        }
        _ => None,
    }
}

/// Why some of the type's words would not do.
fn other_values(own: &Value, live: &Value) -> Option<String> {
    let allowed = live.get("enum")?.as_array()?;
    let listed = |values: &[&Value]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match own.get("enum").and_then(Value::as_array) {
        // A missing value is a matter of `nullable`.
        Some(own) => {
            let others: Vec<&Value> =
                own.iter().filter(|value| !value.is_null() && !allowed.contains(value)).collect();
            (!others.is_empty()).then(|| format!("it can't be {} there", listed(&others)))
        }
        None => {
            let allowed: Vec<&Value> = allowed.iter().collect();
            Some(format!("it can only be {} there, and anything in the type", listed(&allowed)))
        }
    }
}

/// The bounds that are narrower there than in the type.
fn narrower(own: &Value, live: &Value) -> Vec<String> {
    const UPPER: &[&str] = &["maximum", "maxLength", "maxItems", "maxProperties"];
    const LOWER: &[&str] = &["minimum", "minLength", "minItems", "minProperties"];
    let number = |schema: &Value, name: &str| schema.get(name).and_then(Value::as_f64);
    let bound = |name: &str, is_narrower: fn(f64, f64) -> bool| {
        let there = number(live, name)?;
        match number(own, name) {
            Some(own) if !is_narrower(there, own) => None,
            Some(own) => Some(format!("its `{name}` is {there} there, and {own} in the type")),
            None => Some(format!("its `{name}` is {there} there, and the type has none")),
        }
    };
    let upper = UPPER.iter().filter_map(|name| bound(name, |there, own| there < own));
    let lower = LOWER.iter().filter_map(|name| bound(name, |there, own| there > own));
    let mut narrower: Vec<String> = upper.chain(lower).collect();
    if let Some(pattern) = text(live, "pattern").filter(|pattern| text(own, "pattern") != Some(pattern)) {
        narrower.push(format!("it has to match `{pattern}` there, and the type says nothing of that"));
    }
    narrower
}

/// The fields that have to be there, and may be missing in the type.
fn left_out<'s>(own: &'s Value, live: &'s Value) -> impl Iterator<Item = &'s str> {
    let required = |schema: &'s Value| schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let has_default = move |name: &str| {
        properties(live).and_then(|known| known.get(name)).is_some_and(|known| known.get("default").is_some())
    };
    required(live)
        .filter(move |name| !required(own).any(|own| own == *name))
        .filter_map(Value::as_str)
        .filter(move |name| !has_default(name))
}
