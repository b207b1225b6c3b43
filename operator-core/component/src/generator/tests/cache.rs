//! Rendered once for each digest, within a bound.

use std::sync::{Arc, atomic::AtomicUsize};

use super::*;

/// Counts its calls, and looks up the Secrets that the parameters name.
struct Looking(Arc<AtomicUsize>);

impl Generator<ConfigMap> for Looking {
    async fn generate(&self, cx: &RenderContext<'_, ConfigMap>) -> Result<Objects, BoxError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut found = Vec::new();
        for name in cx.parameters()["secrets"].as_array().into_iter().flatten() {
            let secret = cx.lookup(&key("Secret", name.as_str().unwrap_or_default())).await?;
            found.push(secret.map_or(Value::Null, |secret| secret["data"]["a"].clone()));
        }
        let mut map = cx.primary().clone();
        map.data = Some([("found".to_owned(), json!(found).to_string())].into());
        Ok(vec![map].into())
    }
}

/// A cluster with one Secret.
fn with(value: &str, metadata: &str) -> Counted {
    Counted::of(&format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: a, namespace: shop{metadata}}}, data: {{a: {value}}}}}"
    ))
}

#[tokio::test]
async fn it_is_rendered_again_only_if_something_has_changed() {
    let (calls, cache, primary) = (Arc::new(AtomicUsize::new(0)), RenderCache::new(), primary());
    let generator = Looking(calls.clone());
    let parameters = json!({ "secrets": ["a", "b"] });
    let cx = RenderContext::of(&primary).with_digest("1").with_parameters(parameters.clone());
    let first = with("x", "");
    let same = with("x", "");
    let other = with("y", "");
    let steps: [(&str, RenderContext<'_, ConfigMap>, &Counted, usize, &str); 9] = [
        ("the first time", cx.clone(), &first, 1, r#"["x",null]"#),
        ("the same", cx.clone(), &same, 1, r#"["x",null]"#),
        ("another object", cx.clone(), &other, 2, r#"["y",null]"#),
        ("the same", cx.clone(), &other, 2, r#"["y",null]"#),
        ("another digest", cx.clone().with_digest("2"), &other, 3, r#"["y",null]"#),
        ("another revision", cx.clone().with_digest("2").with_revision(1), &other, 4, r#"["y",null]"#),
        ("another name", cx.clone().with_name("db"), &other, 5, r#"["y",null]"#),
        ("another namespace", cx.clone().with_namespace("b"), &other, 6, r#"["y",null]"#),
        ("other parameters", cx.clone().with_parameters(json!({})), &other, 7, "[]"),
    ];
    for (what, cx, cluster, expected, found) in steps {
        let cx = cx.with_lookup(cluster);
        let objects = cache.generate("uid", "node", &generator, &cx).await.expect("objects");
        assert_eq!(calls.load(Ordering::Relaxed), expected, "{what}");
        assert_eq!(json_of(&objects)[0]["data"]["found"], found, "{what}");
    }
    assert_eq!((first.reads(), same.reads()), (2, 2), "each object is read once");
}

#[tokio::test]
async fn primaries_and_nodes_are_apart_and_a_gone_primary_is_forgotten() {
    let (calls, cache, primary) = (Arc::new(AtomicUsize::new(0)), RenderCache::new(), primary());
    let generator = Looking(calls.clone());
    let cx = RenderContext::of(&primary);
    let all = [("a", "x"), ("a", "y"), ("b", "x")];
    for (uid, node) in all.into_iter().chain(all) {
        cache.generate(uid, node, &generator, &cx).await.expect("objects");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    cache.forget("a");
    for (uid, node) in all {
        cache.generate(uid, node, &generator, &cx).await.expect("objects");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 5);
}

#[tokio::test]
async fn an_object_is_compared_by_its_resource_version_if_it_has_one() {
    let (calls, cache, primary) = (Arc::new(AtomicUsize::new(0)), RenderCache::new(), primary());
    let generator = Looking(calls.clone());
    let cx = RenderContext::of(&primary).with_parameters(json!({ "secrets": ["a"] }));
    for (cluster, expected) in [
        (with("x", ", uid: u, resourceVersion: '1'"), 1),
        (with("x", ", uid: u, resourceVersion: '1', labels: {a: b}"), 1),
        (with("x", ", uid: u, resourceVersion: '2'"), 2),
        (with("x", ", uid: v, resourceVersion: '2'"), 3),
    ] {
        cache.generate("uid", "node", &generator, &cx.clone().with_lookup(&cluster)).await.expect("objects");
        assert_eq!(calls.load(Ordering::Relaxed), expected);
    }
}

#[tokio::test]
async fn an_error_is_not_kept_and_a_failing_check_is_an_error() {
    let (calls, cache, primary) = (Arc::new(AtomicUsize::new(0)), RenderCache::new(), primary());
    let generator = Looking(calls.clone());
    let cx = RenderContext::of(&primary).with_parameters(json!({ "secrets": ["a"] }));
    let sound = with("x", "");
    let busy = Counted { fails: true, ..with("x", "") };
    for (cluster, is_sound, expected) in
        [(&busy, false, 1), (&sound, true, 2), (&busy, false, 2), (&sound, true, 2)]
    {
        let result = cache.generate("uid", "node", &generator, &cx.clone().with_lookup(cluster)).await;
        assert_eq!((result.is_ok(), calls.load(Ordering::Relaxed)), (is_sound, expected));
    }
}
