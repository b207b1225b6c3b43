//! Strange signs in the keys of lists and the values of sets, which managed fields and conflicts name.

use integration_tests::prelude::*;

use super::{Ask, Story, definition, object, path_of};

const REQUESTS: usize = 12;

const TEXTS: [&str; 16] = [
    "a<b>c&d",
    "\u{2028}",
    "x\u{2029}y",
    "\"",
    "\\",
    "/",
    "\n\t\r",
    "\u{8}\u{c}",
    "\u{1}\u{1f}",
    "\u{7f}",
    "ä€😀",
    "a b",
    "",
    "k:{\"name\":1}",
    "'",
    "\u{fffd}\u{feff}",
];

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let kind = "Sign";
    let keyed = |key: &Value| {
        json!({
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "value"],
            "items": {"type": "object", "required": ["name", "value"], "properties": {
                "name": {"type": "string"}, "value": key, "note": {"type": "string"},
            }},
        })
    };
    let set = |of: &str| json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": of}});
    let schema = json!({"type": "object", "properties": {
        "args": keyed(&json!({"type": "string"})), "numbers": keyed(&json!({"type": "integer"})),
        "set": set("string"), "ratios": set("number"),
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let path = path_of(kind);
    let asks = (0..REQUESTS).map(|_| {
        let name = format!("o{seed}-{}", random.below(2));
        let body = object(kind, &name, &spec(random));
        let manager = random.pick(&["one", "two"]);
        match random.below(4) {
            0 => Ask::new("POST", format!("{path}?fieldManager={manager}"), &body),
            1 => Ask::new(
                "MERGE",
                format!("{path}/{name}?fieldManager={manager}"),
                &json!({"spec": body["spec"]}),
            ),
            roll => Ask::raw(
                "APPLY",
                format!("{path}/{name}?fieldManager={manager}&force={}", roll == 2),
                ascii(&body),
            ),
        }
    });
    let asks = asks.collect();
    Story { definition: Some(definition(kind, &schema, &json!({}))), is_shared: true, asks }
}

/// As a body that is YAML as well, whose signs beyond ASCII are escapes.
fn ascii(body: &Value) -> String {
    let text = body.to_string();
    let mut out = String::new();
    for letter in text.chars() {
        match u32::from(letter) {
            code @ (0x7f..=0xd7ff | 0xe000..=0xffff) => out.push_str(&format!("\\u{code:04x}")),
            _ => out.push(letter),
        }
    }
    out
}

fn spec(random: &mut Random) -> Value {
    let mut spec = json!({});
    let note = |random: &mut Random| random.pick(&["x", "y"]);
    if random.chance(70) {
        let (first, second) = (random.pick(&TEXTS), random.pick(&TEXTS));
        let mut args = vec![json!({"name": first, "value": second, "note": note(random)})];
        if random.chance(40) {
            args.push(json!({"name": "plain", "value": "v", "note": note(random)}));
        }
        spec["args"] = args.into();
    }
    if random.chance(40) {
        spec["numbers"] =
            json!([{"name": random.pick(&TEXTS), "value": random.below(3), "note": note(random)}]);
    }
    if random.chance(60) {
        let mut set = vec![random.pick(&TEXTS)];
        set.extend((random.chance(40)).then_some("plain"));
        spec["set"] = json!(set);
    }
    if random.chance(40) {
        spec["ratios"] = json!([random.pick(&[0.5, 1.5, 1e21, 1e-7, -2.25, 123_456_789.125])]);
    }
    if random.chance(40) {
        spec["map"] = json!({random.pick(&TEXTS): note(random)});
    }
    spec
}
