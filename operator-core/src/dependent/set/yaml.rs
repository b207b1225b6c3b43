//! Objects from YAML: documents and lists, each object with its place. Pure.
//!
//! `0644` is octal and `<<` merges, as for `kubectl`; `yes` is text. What would silently mean something else is refused: keys
//! that are there twice, unknown tags, numbers that JSON doesn't have.
//!
//! # Guarantees
//! - Whatever the text is, aliases don't make more of it than the parser's limits allow.
//! - An error has the number of the document, from 1, and the line, and no part of the text: it may be a Secret's.

use std::fmt;

use kube::core::DynamicObject;
use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Spanned};

/// Where an object begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of its document, from 1.
    pub(crate) document: usize,
    /// The line in the text, from 1: for an item of a list, that of the list.
    pub(crate) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, line {}", self.document, self.line)
    }
}

/// Why a text isn't a set of objects.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {what}")]
pub(super) struct YamlError {
    place: Place,
    what: String,
}

/// The objects in a text, in its order.
///
/// # Errors
/// The first mistake.
pub(super) fn objects(text: &str) -> Result<Vec<(DynamicObject, Place)>, YamlError> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        legacy_octal_numbers: true,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    };
    let documents: Vec<Spanned<Value>> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| {
            let line = error.location().map_or(1, |location| line_of(location.line()));
            YamlError { place: place(text, line), what: message_of(&error) }
        })?;
    let mut objects = Vec::new();
    for Spanned { value, referenced, .. } in documents {
        add(value, place(text, line_of(referenced.line())), &mut objects)?;
    }
    Ok(objects)
}

/// The parser's message without any part of the text.
fn message_of(error: &serde_saphyr::Error) -> String {
    match error.without_snippet() {
        // It would name the key, not in quotes.
        serde_saphyr::Error::DuplicateMappingKey { .. } => "a duplicate key in a mapping".to_owned(),
        other => without_quotations(&other.to_string()),
    }
}

/// The parser's message without what it quotes from the text. A single character is one of YAML itself.
fn without_quotations(message: &str) -> String {
    let mut message = message.to_owned();
    for (open, close) in [('`', '`'), ('"', '"'), ('\'', '\''), ('[', ']')] {
        // What is quoted may have quotes, too: it ends at the last one.
        if let (Some(first), Some(last)) = (message.find(open), message.rfind(close))
            && last > first + 2
        {
            message.replace_range(first + 1..last, "…");
        }
    }
    message
}

fn line_of(line: u64) -> usize {
    usize::try_from(line).unwrap_or(1).max(1)
}

/// The place of a line: documents are counted by what separates them.
fn place(text: &str, line: usize) -> Place {
    let is_separator = |line: &&str| *line == "---" || line.starts_with("--- ");
    let is_content = |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '%']);
    let before = || text.lines().take(line);
    let is_first_open = before().find(is_content).is_some_and(|first| !is_separator(&first));
    let document = before().filter(is_separator).count() + usize::from(is_first_open);
    Place { document: document.max(1), line }
}

/// Adds the object, or those of a list.
fn add(value: Value, place: Place, to: &mut Vec<(DynamicObject, Place)>) -> Result<(), YamlError> {
    let wrong = |what: &str| YamlError { place, what: what.to_owned() };
    let mut fields = match value {
        Value::Null => return Ok(()),
        Value::Object(fields) => fields,
        _ => return Err(wrong("not a mapping, so it isn't an object")),
    };
    for name in ["apiVersion", "kind"] {
        if fields.get(name).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(wrong(&format!("there is no text in `{name}`")));
        }
    }
    // A kind may have such a name without being a list.
    if fields["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) && fields.contains_key("items") {
        return match fields.remove("items") {
            Some(Value::Array(items)) => items.into_iter().try_for_each(|item| add(item, place, to)),
            Some(Value::Null) | None => Ok(()),
            Some(_) => Err(wrong("the `items` of a list aren't a list")),
        };
    }
    let object = serde_json::from_value(Value::Object(fields));
    let object = object
        .map_err(|_| wrong("its `metadata` can't be read; numbers and booleans need quotes as text"))?;
    to.push((object, place));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::resource::arbitrary_tests::any_json;

    fn read(text: &str) -> Vec<(Value, Place)> {
        let read = objects(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        read.into_iter().map(|(object, place)| (json!(object), place)).collect()
    }

    fn refused(text: &str) -> String {
        objects(text).map(|_| ()).expect_err(text).to_string()
    }

    /// What an object has in `spec` if this is written there.
    fn spec(text: &str) -> Value {
        read(&format!("apiVersion: v1\nkind: A\nspec: {text}\n"))[0].0["spec"].take()
    }

    fn why(text: &str) -> String {
        refused(&format!("apiVersion: v1\nkind: A\nspec: {text}\n"))
    }

    const BLOCK: &str = "\
# a comment before the first document
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  args:
  - --x
  - |
    two
    lines
  text: >-
    one
    line
---
# an empty one
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
...
";

    #[test]
    fn documents_in_block_style_are_read_and_empty_ones_count_only_as_numbers() {
        let objects = read(BLOCK);
        let spec = json!({ "replicas": 2, "args": ["--x", "two\nlines\n"], "text": "one line" });
        let metadata = json!({ "name": "web", "labels": { "app": "web" } });
        let web =
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec });
        assert_eq!(objects[0], (web, Place { document: 1, line: 3 }));
        assert_eq!(objects[1].1, Place { document: 3, line: 21 });
        assert_eq!(objects.len(), 2);
        assert_eq!((read(""), read("# nothing\n"), read("---\n---\n")), (vec![], vec![], vec![]));
    }

    #[test]
    fn what_the_parser_quotes_is_left_out() {
        for (message, expected) in [
            ("unsupported tag `!a` at line 3", "unsupported tag `…` at line 3"),
            ("invalid value: string \"a\" b\", expected", "invalid value: string \"…\", expected"),
            ("unclosed bracket '['", "unclosed bracket '['"),
            ("The string value [a] b] must be quoted", "The string value […] must be quoted"),
            ("it isn't", "it isn't"),
        ] {
            assert_eq!(without_quotations(message), expected);
        }
        let tag = why("!hidden b");
        assert!(tag.contains("unsupported tag") && !tag.contains("hidden"), "{tag}");
        let key = why("{hidden: 1, hidden: 2}");
        assert!(key.contains("duplicate key") && !key.contains("hidden"), "{key}");
    }

    #[test]
    fn lists_are_flattened() {
        let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n- apiVersion: v1\n  kind: BList\n  items:\n  - {apiVersion: v1, kind: B}\n- {apiVersion: v1, kind: CList, items: }\n";
        let found: Vec<_> = read(list).into_iter().map(|(object, _)| object["kind"].clone()).collect();
        assert_eq!(found, [json!("A"), json!("B")]);
        let plain = read("{apiVersion: v1, kind: A, items: [{}]}");
        assert_eq!(plain[0].0["items"], json!([{}]), "only a list is one");
        let without = read("{apiVersion: v1, kind: AllowList, spec: {}}");
        assert_eq!(without[0].0["kind"], "AllowList", "a kind may have such a name");
        assert_eq!(
            refused(&list.replace("kind: A\n", "name: A\n")),
            "document 1, line 1: there is no text in `kind`"
        );
    }

    #[test]
    fn scalars_are_those_of_kubectl() {
        for text in ["yes", "on", "1.2.3", "2026-01-31", "0x", "e5"] {
            assert_eq!(spec(text), json!(text), "{text}");
        }
        for (text, value) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("true", json!(true)),
            ("-12", json!(-12)),
            ("0o644", json!(420)),
            ("0644", json!(420)),
            ("0x1F", json!(31)),
            ("-1.5e-3", json!(-0.0015)),
            ("'0644'", json!("0644")),
            ("\"true\"", json!("true")),
        ] {
            assert_eq!(spec(text), value, "{text}");
        }
        assert_eq!(spec("{ a: &a { b: 1 }, c: { <<: *a, d: 2 } }")["c"], json!({ "b": 1, "d": 2 }));
    }

    #[test]
    fn a_mistake_has_its_document_and_line_and_no_value() {
        let second = |text: &str| refused(&format!("{{apiVersion: v1, kind: A}}\n---\n{text}"));
        for (text, line) in [
            ("- a", 3),
            ("text", 3),
            ("kind: A", 3),
            ("apiVersion: v1\nkind: 1", 3),
            ("apiVersion: v1\nkind: ''", 3),
            ("apiVersion: v1\nkind: A\nmetadata: [a]", 3),
            ("apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels: {hidden: 1}", 3),
            ("a: 1\nb:\n  c: hidden\n  c: 2", 6),
            ("a: *nothing", 3),
            ("a: !mine hidden", 3),
            ("a: [hidden\n", 3),
        ] {
            let error = second(text);
            assert!(error.starts_with(&format!("document 2, line {line}: ")), "{text}: {error}");
            assert!(!error.contains("hidden"), "a value may be a Secret's: {error}");
        }
        assert!(second("a: 1\nb:\n  c: 1\n  c: 2").contains("duplicate"), "{}", second("a: 1\na: 2"));
        assert!(why(".inf").starts_with("document 1, line 3: "), "{}", why(".inf"));
    }

    #[test]
    fn aliases_and_nesting_have_their_limits() {
        let mut bomb = "\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb += &format!("  a{level}: &a{level} [{aliases}]\n");
        }
        assert!(why(&bomb).starts_with("document 1, line "), "{}", why(&bomb));
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(why(&nested).starts_with("document 1, line "), "{}", why(&nested));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn json_is_yaml(contents in prop::collection::vec(any_json(), 0..4)) {
            let objects: Vec<_> = contents
                .into_iter()
                .map(|content| json!({ "apiVersion": "v1", "kind": "A", "metadata": {}, "content": content }))
                .collect();
            let text: Vec<_> = objects.iter().map(|object| escaped(&object.to_string())).collect();
            let read: Vec<_> = read(&text.join("\n---\n")).into_iter().map(|(object, _)| object).collect();
            prop_assert_eq!(read, objects);
        }

        #[test]
        fn no_text_is_too_much(text in "[-a-z:{}\\[\\],&*!'\"|> \n]{0,80}") {
            drop(objects(&text));
        }
    }

    /// JSON whose characters are all printable: YAML demands that.
    fn escaped(json: &str) -> String {
        let mut text = String::new();
        for c in json.chars() {
            match c {
                ' '..='~' => text.push(c),
                c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text += &format!("\\u{unit:04x}")),
            }
        }
        text
    }
}
