//! All that the real server serves, the one in the process serves, or refuses with 501 and its name: it never says that
//! there is no such thing.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Both, send};

const NONE: Value = Value::Null;

/// The paths of the lists of what is served, without kinds that other tests define.
async fn documents(both: &Both) -> Vec<String> {
    let groups = send(&both.real, None, "GET", "/apis", &NONE).await.1;
    let groups = groups["groups"].as_array().cloned().unwrap_or_default();
    let versions = groups.iter().flat_map(|group| group["versions"].as_array().cloned().unwrap_or_default());
    let versions = versions.map(|version| version["groupVersion"].as_str().unwrap_or_default().to_owned());
    let is_kubernetes = |version: &String| {
        let group = version.split('/').next().unwrap_or_default();
        let is_defined = group == "gateway.networking.k8s.io";
        (!group.contains('.') || group.ends_with(".k8s.io")) && !is_defined
    };
    let versions = versions.filter(is_kubernetes).map(|version| format!("/apis/{version}"));
    std::iter::once("/api/v1".to_owned()).chain(versions).collect()
}

/// A request for each verb of a resource that changes nothing: about an object that isn't there, or of an empty one.
fn requests(document: &str, resource: &Value) -> Vec<(&'static str, String, Value)> {
    let name = resource["name"].as_str().unwrap_or_default();
    let (plural, sub) = name.split_once('/').map_or((name, None), |(plural, sub)| (plural, Some(sub)));
    let is_namespaced = resource["namespaced"] == true && plural != "namespaces";
    let all = format!(
        "{document}/{}{plural}",
        if is_namespaced { "namespaces/served/" } else { Default::default() }
    );
    let one = sub.map_or_else(|| format!("{all}/none"), |sub| format!("{all}/none/{sub}"));
    let verbs = resource["verbs"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let requests = verbs.filter_map(|verb| match verb {
        "list" => Some(("GET", all.clone(), NONE)),
        "get" => Some(("GET", one.clone(), NONE)),
        "create" => Some(("POST", if sub.is_some() { one.clone() } else { all.clone() }, json!({}))),
        "patch" => Some(("MERGE", one.clone(), json!({}))),
        "delete" => Some(("DELETE", one.clone(), NONE)),
        _ => None,
    });
    requests.collect()
}

#[tokio::test]
async fn what_is_served_is_served_or_refused_by_name() {
    let both = Both::new("served").await;
    let (mut same, mut refused, mut wrong) = (0, 0, String::new());
    for document in documents(&both).await {
        let list = send(&both.real, None, "GET", &document, &NONE).await.1;
        for resource in list["resources"].as_array().into_iter().flatten() {
            for (method, path, body) in requests(&document, resource) {
                let real = send(&both.real, None, method, &path, &body).await;
                let ours = send(&both.ours, None, method, &path, &body).await;
                let message = ours.1["message"].as_str().unwrap_or_default();
                let name = resource["name"].as_str().unwrap_or_default();
                let group = document.split('/').nth(2).unwrap_or_default();
                let kind = resource["kind"].as_str().unwrap_or_default();
                let is_named = |message: &str| {
                    let plural = name.split('/').next().unwrap_or_default();
                    let names = [plural, &format!(" {kind};"), &format!("the group {group}")];
                    names.iter().any(|name| message.contains(name))
                };
                match (real.0, ours.0) {
                    (real, ours) if real == ours => same += 1,
                    (_, 501) if message.contains("does not do this: ") && is_named(message) => refused += 1,
                    _ => {
                        let _ = writeln!(
                            wrong,
                            "{method} {path}\n  real {} {}\n  ours {} {message}",
                            real.0, real.1["message"], ours.0
                        );
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(same > 200 && refused > 100, "{same} alike, {refused} refused by name");
}
