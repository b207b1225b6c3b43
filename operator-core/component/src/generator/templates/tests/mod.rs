mod errors;
mod filters;
mod rounds;

use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::{BoxError, Objects};
use serde_json::{Value, json};

use super::*;
use crate::generator::{
    Error, LookupKey,
    tests::{Counted, any_json, is_permanent, json_of, key, primary},
};

static ADDON: Templates = crate::templates!("tests-data/templates");

/// Templates that are written in a test. They live as long as the process.
fn templates(files: &[(&'static str, &str)]) -> Templates {
    let files: Vec<(&'static str, &'static str)> =
        files.iter().map(|(name, text)| (*name, &*text.to_string().leak())).collect();
    Templates::embedded(files.leak())
}

/// What one template makes of these parameters.
async fn rendered(text: &str, parameters: Value) -> Result<Vec<Value>, BoxError> {
    let (primary, none) = (primary(), Objects::new());
    let cx = RenderContext::of(&primary)
        .with_parameters(parameters)
        .with_revision(7)
        .with_digest("abc")
        .with_lookup(&none);
    Ok(json_of(&templates(&[("a.yaml", text)]).generate(&cx).await?))
}

#[tokio::test]
async fn a_directory_of_templates_makes_objects() {
    let primary = primary();
    let cluster = Counted::of("");
    let parameters = json!({ "image": "nginx:1.31", "ports": [80, 8080], "text": "a: #b\n  c" });
    let cx = RenderContext::of(&primary)
        .with_parameters(parameters.clone())
        .with_revision(7)
        .with_digest("0123")
        .with_lookup(&cluster);
    let objects = json_of(&ADDON.generate(&cx).await.expect("objects"));
    let labels = json!({ "app.kubernetes.io/name": "web", "app.kubernetes.io/revision": "7" });
    let kinds: Vec<_> = objects.iter().map(|object| object["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["ConfigMap", "Secret", "Deployment"], "in the order of the paths");
    assert_eq!(objects[0]["metadata"], json!({ "name": "web", "namespace": "shop", "labels": labels }));
    assert_eq!(objects[0]["data"]["digest"], "0123", "it stays text");
    let settings = objects[0]["data"]["settings.yaml"].as_str().expect("text");
    let settings: Value = serde_saphyr::from_str(settings).expect("it is YAML");
    assert_eq!(settings, parameters);
    assert_eq!(objects[2]["spec"]["replicas"], 1);
    let container = &objects[2]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "nginx:1.31");
    assert_eq!(container["ports"], json!([{ "containerPort": 80 }, { "containerPort": 8080 }]));
    assert_eq!(objects[2]["metadata"]["labels"], labels);
    assert_eq!(cluster.reads(), 1);

    let made = objects[1]["data"]["password"].clone();
    let cluster = Counted::of(
        "{apiVersion: v1, kind: Secret, metadata: {name: web-admin, namespace: shop}, data: {password: b2xk}}",
    );
    let objects = json_of(&ADDON.generate(&cx.with_lookup(&cluster)).await.expect("objects"));
    assert_eq!(objects[1]["data"]["password"], "b2xk", "what exists is used again");
    assert_ne!(made, "b2xk");
}

#[test]
fn templates_show_their_files_and_have_an_identity() {
    assert_eq!(format!("{ADDON:?}"), r#"["_parts.yaml", "config.yaml", "secret.yaml", "web.yaml"]"#);
    let of = |text| Generator::<ConfigMap>::identity(&templates(&[("a.yaml", text)]));
    assert_eq!(of("a"), of("a"));
    assert_ne!(of("a"), of("b"));
}
