//! What templates can call.

use proptest::{prelude::*, test_runner::Config};

use super::*;

/// The field `x` of an object whose template has this.
async fn field(text: &str, parameters: Value) -> Result<Value, String> {
    let text = format!("apiVersion: v1\nkind: A\nx: {text}\n");
    rendered(&text, parameters)
        .await
        .map(|mut objects| objects[0]["x"].take())
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn values_have_the_text_that_yaml_reads() {
    let parameters = json!({ "yes": true, "no": false, "int": -3, "float": 1.5, "large": u64::MAX, "text": "a b", "list": [1], "map": {}, "null": null });
    for (text, value) in [
        ("{{ name }}.{{ namespace }}", json!("web.shop")),
        ("{{ revision }}", json!(7)),
        ("{{ digest }}", json!("abc")),
        ("{{ parameters.yes }}", json!(true)),
        ("{{ parameters.no }}", json!(false)),
        ("{{ parameters.int }}", json!(-3)),
        ("{{ parameters.float }}", json!(1.5)),
        ("{{ parameters.large }}", json!(u64::MAX)),
        ("{{ parameters.text }}", json!("a b")),
        ("{{ parameters.absent | default(3) }}", json!(3)),
        ("{{ parameters.null | to_yaml }}", json!(null)),
        ("\n- {{ parameters.int | to_yaml }}", json!([-3])),
        ("\n  {{ parameters.list | to_yaml }}", json!([1])),
        ("{{ parameters.map | to_yaml }}", json!({})),
    ] {
        assert_eq!(field(text, parameters.clone()).await, Ok(value), "{text}");
    }
    for (text, what) in [
        ("{{ parameters.null }}", "none has no text; use `default`, `required` or `to_yaml`"),
        ("{{ parameters.list }}", "a sequence has no text; use `to_yaml`"),
        ("{{ parameters }}", "a map has no text; use `to_yaml`"),
        ("{{ '/w==' | b64decode }}", "these bytes aren't text in UTF-8; use `b64`"),
    ] {
        assert_eq!(field(text, parameters.clone()).await, Err(format!("a.yaml, line 3: {what}")));
    }
}

#[tokio::test]
async fn filters_make_of_values_what_they_say() {
    let sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for (text, value) in [
        ("{{ 'abc' | b64 }}", json!("YWJj")),
        ("{{ '' | b64 | to_yaml }}", json!("")),
        ("{{ 3 | b64 }}", json!("Mw==")),
        ("{{ true | b64 }}", json!("dHJ1ZQ==")),
        ("{{ 'YWJj' | b64decode }}", json!("abc")),
        ("{{ '/w==' | b64decode | b64 }}", json!("/w==")),
        ("{{ digest | sha256 }}", json!(sha)),
        ("{{ 'YWJj' | b64decode | sha256 }}", json!(sha)),
        ("{{ 'a' | required('b') }}", json!("a")),
        ("{{ 0 | required('b') }}", json!(0)),
        ("{{ false | required('b') }}", json!(false)),
        ("\n  {{ {'a': {'b': 1}, 'c': [2]} | to_yaml(2) }}", json!({ "a": { "b": 1 }, "c": [2] })),
        ("\n  {{ {'a': {'b': 1}} | to_yaml | indent(2) }}", json!({ "a": { "b": 1 } })),
        ("\n  {{ {'a': {'b': 1}} | to_yaml(indent=2) }}", json!({ "a": { "b": 1 } })),
    ] {
        assert_eq!(field(text, json!({})).await, Ok(value), "{text}");
    }
    for (text, what) in [
        ("{{ 'ä' | b64decode }}", "the value isn't base64"),
        ("{{ parameters | b64 }}", "`b64` takes text, and this is of kind map"),
        ("{{ none | sha256 }}", "`sha256` takes text, and this is of kind none"),
        ("{{ parameters.a | b64 }}", "`b64` takes text, and this is of kind undefined"),
        ("{{ parameters.a | to_yaml }}", "`to_yaml` of an undefined value"),
        ("{{ parameters.a | required('we need it') }}", "we need it"),
        ("{{ none | required('we need it') }}", "we need it"),
        ("{{ '' | required('we need it') }}", "we need it"),
        ("{{ [] | required('we need it') }}", "we need it"),
        ("{{ {} | required('we need it') }}", "we need it"),
    ] {
        assert_eq!(field(text, json!({})).await, Err(format!("a.yaml, line 3: {what}")), "{text}");
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(future)
}

proptest! {
    #![proptest_config(Config { cases: 1000, ..crate::properties::daily() })]

    /// The reader is independent of the writer.
    #[test]
    fn what_to_yaml_writes_is_read_as_the_same(value in any_json(), indent in 1_usize..5) {
        let spaces = " ".repeat(indent);
        let text = format!("\n{spaces}{{{{ parameters.v | to_yaml({indent}) }}}}");
        let read = block_on(field(&text, json!({ "v": value.clone() })));
        prop_assert_eq!(read, Ok(value));
    }

    #[test]
    fn a_text_has_its_place_behind_a_key(text in any::<String>(), other in "[ -~\n\t]{0,20}\u{feff}?") {
        for text in [text, other] {
            let read = block_on(field("\n  y: {{ parameters.v | to_yaml }}", json!({ "v": text.clone() })));
            prop_assert_eq!(read, Ok(json!({ "y": text })));
        }
    }
}
