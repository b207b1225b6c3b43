//! Columns whose paths are right, strange or wrong.

use integration_tests::prelude::*;

use super::{Ask, Story, definition, object, path_of};

const COLUMNS: usize = 10;

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let kind = format!("Column{seed}");
    let columns: Vec<Value> = (0..COLUMNS)
        .map(|number| {
            let of = random.pick(&["string", "string", "string", "integer", "number", "boolean", "date"]);
            json!({"name": format!("C{number}"), "type": of, "jsonPath": dotted(random)})
        })
        .collect();
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let all = path_of(&kind);
    let specs = [
        json!({
            "text": "t", "n": 3, "ratio": 0.5, "big": 1e21, "yes": true, "none": null, "when": "2001-01-01T00:00:00Z",
            "soon": "2024-01-01T00:00:00", "mid": 12_345_678.5, "small": 0.000_012, "more": 1e19, "long": 9_007_199_254_740_993_i64, "list": ["a", "b", "c"], "one": [7], "empty": [], "map": {"k": "<v>"},
            "http": [{"hosts": ["h1", "h2"], "port": 80, "on": true}, {"hosts": ["h3"], "port": 81, "name": "x"}], "a.b": "dot",
        }),
        json!({"http": "text", "list": {"a": 1}, "n": "3", "text": 5, "map": ["x"]}),
    ];
    let mut asks = Vec::new();
    for (number, spec) in specs.iter().enumerate() {
        asks.push(Ask::new("POST", all.clone(), &object(&kind, &format!("o{number}"), spec)));
        asks.push(Ask::table(format!("{all}/o{number}?includeObject=None")));
    }
    Story {
        definition: Some(definition(&kind, &schema, &json!({"additionalPrinterColumns": columns}))),
        asks,
        ..Story::default()
    }
}

/// A path that most often begins with a dot, as a definition's has to.
fn dotted(random: &mut Random) -> String {
    let path = path(random);
    if path.starts_with('.') || random.chance(1) { path } else { format!(".{path}") }
}

fn path(random: &mut Random) -> String {
    const WHOLE: [&str; 36] = [
        "...n",
        "..spec.text",
        ".a|.b",
        ".--1",
        ".spec.list[--1]",
        ".spec.list[9223372036854775807]",
        ".spec.n} {.spec[0]",
        ".spec.text '\\xc3\\xa4\\377'",
        ".spec.text 5",
        ".spec.list.*.*",
        ".spec.text.*",
        ".spec.text\\",
        ".spec.http[].hosts",
        ".spec.http[0].hosts[1]",
        ".spec.http[*].port",
        ".metadata.name",
        "$.spec.text",
        "@.spec.n",
        ".spec['text']",
        ".spec['a\\.b']",
        ".spec.a\\.b",
        "{.spec.text}",
        "'text'",
        "\"te\\nxt\"",
        ".spec.list[-1]",
        ".spec.list[0,2]",
        ".spec.list[::2]",
        ".spec.list[1:1]",
        "..port",
        ".spec.",
        "5",
        "true",
        ".spec.text} {.spec.n",
        ".spec.http[?(@.port==81)].name",
        ".spec.http[?(@.on)].port",
        ".spec.http[?(@.name==\"x\")].hosts",
    ];
    if random.chance(35) {
        return random.pick(&WHOLE).to_owned();
    }
    let (mut path, mut last) = (".spec".to_owned(), "");
    for _ in 0..=random.below(3) {
        let part = match random.below(10) {
            0..5 => {
                last = random.pick(&[
                    "text", "n", "ratio", "big", "yes", "none", "when", "soon", "list", "http", "map", "mid",
                    "small", "more", "long",
                ]);
                format!(".{last}")
            }
            5 => format!("[{}]", index(random)),
            6 => format!("[?({})]", filter(random)),
            // The fields of an object come in any order: all of them only where there is one.
            7 if !["", "http"].contains(&last) && random.chance(30) => {
                random.pick(&[".*", "['*']"]).to_owned()
            }
            7 => random.pick(&["[*]", "[]", "..", ".", " ", ",", "]", "$", "@"]).to_owned(),
            8 => format!("['{}']", random.pick(&["text", "hosts", "", "x y"])),
            _ => random
                .pick(&["|", "\\", "'", "\"x\"", "-1", "1.5", "range", "(", "{", "}", "[", "[?(", "\n"])
                .to_owned(),
        };
        path.push_str(&part);
    }
    path
}

fn index(random: &mut Random) -> String {
    let number = |random: &mut Random| {
        random.pick(&["", "0", "1", "2", "7", "-1", "-2", "x", "01", "99999999999999999999"])
    };
    let mut index = number(random).to_owned();
    for _ in 0..random.below(3) {
        index.push(':');
        index.push_str(number(random));
    }
    if random.chance(15) {
        index.push_str(",1");
    }
    index
}

fn filter(random: &mut Random) -> String {
    let left =
        random.pick(&["@.port", "@.name", "@.on", "@.hosts[0]", "@.hosts", "@", "@.x", ".port", "1", ""]);
    let operator = random.pick(&["==", "!=", "<", ">", "<=", ">=", "=", "===", "!", ""]);
    let right =
        random.pick(&["80", "81", "\"x\"", "'x'", "true", "@.port", "80.0", "x", "", "\"x", "\")\"", "null"]);
    if operator.is_empty() { left.to_owned() } else { format!("{left}{operator}{right}") }
}
