//! Errors name the file and the line, and no values.

use std::error::Error as StdError;

use super::*;

async fn failed(files: &[(&'static str, &str)], parameters: Value) -> BoxError {
    let (primary, none) = (primary(), Objects::new());
    let cx = RenderContext::of(&primary).with_parameters(parameters).with_lookup(&none);
    templates(files).generate(&cx).await.map(|_| ()).expect_err("it can't be rendered")
}

#[tokio::test]
async fn a_mistake_is_where_the_message_says() {
    for (text, what) in [
        ("\n\n{{ nam }}", "a.yaml, line 3: undefined value: `nam` is undefined"),
        ("\n{{ parameters.a }}", "a.yaml, line 2: undefined value: `parameters.a` is undefined"),
        ("{% if parameters.a %}{% endif %}", "a.yaml, line 1: undefined value: `parameters.a` is undefined"),
        ("{{ parameters.a.b }}", "a.yaml, line 1: undefined value: `parameters.a` is undefined"),
        ("{{ name | nothing }}", "a.yaml, line 1: unknown filter: filter nothing is unknown"),
        ("{{ nothing() }}", "a.yaml, line 1: unknown function: nothing is unknown"),
        ("{% include 'absent.yaml' %}", "a.yaml, line 1: template not found"),
        (
            "\n{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            "a.yaml, line 2: the template does too much; is there a loop without an end?",
        ),
        (
            "a: 1\n---\napiVersion: v1\n",
            "a.yaml: in the rendered text, document 1, line 1: there is no text in `apiVersion`",
        ),
    ] {
        let error = failed(&[("a.yaml", text)], json!({})).await;
        assert_eq!(error.to_string(), what, "{text}");
        assert!(is_permanent(&*error), "{text}");
    }
}

#[tokio::test]
async fn a_mistake_in_a_part_is_reported_there() {
    let parts = "{% macro labels() %}\n{{ parameters.a }}\n{% endmacro %}";
    let user = "{% import '_b.yaml' as b %}\n\n{{ b.labels() }}";
    let error = failed(&[("_b.yaml", parts), ("a.yaml", user)], json!({})).await;
    assert_eq!(error.to_string(), "_b.yaml, line 2: undefined value: `parameters.a` is undefined");
    let (part, user) = ("\n\n{{ none | required('c') }}", "{% include '_b.yaml' %}");
    let error = failed(&[("_b.yaml", part), ("a.yaml", user)], json!({})).await;
    assert_eq!(error.to_string(), "_b.yaml, line 3: c");
}

/// Each of these has an error whose text could have the value.
#[tokio::test]
async fn no_message_has_a_value() {
    let secret = "hidden-7319";
    for text in [
        "{{ parameters.s + 1 }}",
        "{{ parameters.s - 1 }}",
        "{{ parameters.n // 0 }}",
        "{{ parameters.n ** 1000 }}",
        "{{ -parameters.s }}",
        "{{ parameters.s | int }}",
        "{{ parameters.s | float }}",
        "{{ parameters.s | b64decode }}",
        "{{ parameters.s | round }}",
        "{{ parameters.s | sum }}",
        "{{ parameters.s | items }}",
        "{{ parameters.s.a.b }}",
        "{{ parameters.s() }}",
        "{{ parameters.s.method() }}",
        "{{ parameters[parameters.s] }}",
        "{{ lookup(parameters.s) }}",
        "{{ parameters.absent[parameters.s] }}",
        "{% include parameters.s %}",
        "{% include [parameters.s, 'a'] %}",
        "{% import parameters.s as b %}",
        "{% extends parameters.s %}",
        "{% for a, b in [parameters.s] %}{% endfor %}",
        "{{ dict(parameters.s) }}",
        "{{ range(parameters.s) }}",
        "{{ range(parameters.n) }}",
        "{{ {'a': 1} | to_yaml(parameters.s) }}",
        "{{ {'a': 1} | to_yaml(**{parameters.s: 1}) }}",
        "{{ parameters }}",
        // What is rendered isn't a set of objects.
        "{{ parameters.s }}",
        "{{ parameters.s }}: [",
        "apiVersion: v1\nkind: A\na: {{ parameters.s }}: b",
        "apiVersion: v1\nkind: A\na: *{{ parameters.s }}",
        "apiVersion: v1\nkind: A\na: !{{ parameters.s }} b",
        "apiVersion: v1\nkind: A\n{{ parameters.s }}: 1\n{{ parameters.s }}: 1",
        "apiVersion: v1\nkind: A\na: \"{{ parameters.s }}",
        "apiVersion: v1\nkind: A\nmetadata: {{ parameters.s }}",
        "apiVersion: v1\nkind: A\nmetadata: {labels: {a: {{ parameters.n }}}}",
    ] {
        let (primary, none) = (primary(), Objects::new());
        let parameters = json!({ "s": secret, "n": 7319 });
        let cx = RenderContext::of(&primary).with_parameters(parameters).with_lookup(&none);
        let Err(error) = templates(&[("a.yaml", text)]).generate(&cx).await else {
            panic!("no error: {text}");
        };
        let chain =
            std::iter::successors(Some(&*error as &(dyn StdError + 'static)), |error| (*error).source());
        for error in chain {
            for shown in
                [error.to_string(), format!("{error:#}"), format!("{error:?}"), format!("{error:#?}")]
            {
                assert!(!shown.contains("hidden") && !shown.contains("7319"), "{text}: {shown}");
            }
        }
        assert!(error.to_string().starts_with("a.yaml"), "{text}: {error}");
    }
}

#[tokio::test]
async fn a_failed_lookup_is_retried() {
    let primary = primary();
    let busy = Counted { fails: true, ..Counted::of("") };
    let cx = RenderContext::of(&primary).with_lookup(&busy);
    let templates = templates(&[("a.yaml", "{{ lookup('v1', 'Secret', namespace, name) }}")]);
    let error = templates.generate(&cx).await.expect_err("the server is busy");
    assert_eq!(error.to_string(), "Secret shop/web (v1) can't be looked up");
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the server is busy"));
    assert!(!is_permanent(&*error));
    assert!(matches!(error.downcast_ref(), Some(Error::Lookup { .. })));

    let error = templates.generate(&RenderContext::of(&primary)).await.expect_err("there is no cluster");
    assert!(is_permanent(&*error));
}

#[tokio::test]
async fn a_primary_without_a_namespace_has_no_variable_of_it() {
    let primary = ConfigMap::default();
    let cx = RenderContext::of(&primary);
    let error = templates(&[("a.yaml", "{{ namespace }}")]).generate(&cx).await.expect_err("undefined");
    assert_eq!(error.to_string(), "a.yaml, line 1: undefined value: `namespace` is undefined");
}
