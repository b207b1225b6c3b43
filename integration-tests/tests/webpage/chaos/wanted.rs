//! The desired state of a page's children: written down a second time, so the operator isn't measured by itself.

use integration_tests::prelude::*;
use sha2::{Digest, Sha256};
use webpage::WebPage;

use super::kinds::Child;

/// Each field that the operator applies to a child of the page, with its value. None where there must be no such child.
pub(super) fn wanted(child: Child, page: &str, of: &WebPage) -> Option<Value> {
    let labels = json!({ "app.kubernetes.io/name": "webpage", "app.kubernetes.io/instance": page });
    let mut wanted = match child {
        Child::ConfigMap => json!({ "data": { "index.html": of.spec.html } }),
        Child::Deployment => deployment(page, &of.spec.html, &labels),
        Child::Service => json!({ "spec": {
            "selector": labels,
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }],
        } }),
        Child::Ingress if !of.spec.exposed => return None,
        Child::Ingress => {
            let backend = json!({ "service": { "name": page, "port": { "name": "http" } } });
            let path = json!({ "path": "/", "pathType": "Prefix", "backend": backend });
            json!({ "spec": { "rules": [{ "http": { "paths": [path] } }] } })
        }
    };
    wanted["metadata"] = json!({
        "labels": labels,
        "ownerReferences": [{ "kind": "WebPage", "name": page, "uid": of.metadata.uid }],
    });
    Some(wanted)
}

fn deployment(page: &str, html: &str, labels: &Value) -> Value {
    let hash: String = Sha256::digest(html).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    json!({ "spec": {
        "replicas": 1,
        "selector": { "matchLabels": labels },
        "template": {
            "metadata": { "labels": labels, "annotations": { "sample.operator-core.io/html-hash": hash } },
            "spec": {
                "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
                "containers": [{
                    "name": "nginx",
                    "image": "nginxinc/nginx-unprivileged:1.29",
                    "ports": [{ "name": "http", "containerPort": 8080, "protocol": "TCP" }],
                    "securityContext": {
                        "allowPrivilegeEscalation": false,
                        "capabilities": { "drop": ["ALL"] },
                    },
                    "volumeMounts": [{ "name": "html", "mountPath": "/usr/share/nginx/html" }],
                }],
                "volumes": [{ "name": "html", "configMap": { "name": format!("{page}-html") } }],
            },
        },
    } })
}

/// The places where `found` has another value than `wanted`, or none. Fields that aren't wanted are ignored, except for items of lists.
pub(super) fn difference(wanted: &Value, found: &Value, path: &str) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(field, value)| {
            let path = format!("{path}.{field}");
            match found.get(field) {
                Some(found) => difference(value, found, &path),
                None => Some(format!("{path} is missing")),
            }
        }),
        // Others may add some; they are told apart by their names.
        (Value::Array(wanted), Value::Array(found)) if path.ends_with(".containers") => {
            wanted.iter().find_map(|wanted| {
                let path = format!("{path}[{}]", wanted["name"]);
                match found.iter().find(|found| found["name"] == wanted["name"]) {
                    Some(found) => difference(wanted, found, &path),
                    None => Some(format!("{path} is missing")),
                }
            })
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut pairs = wanted.iter().zip(found).enumerate();
            pairs.find_map(|(index, (wanted, found))| difference(wanted, found, &format!("{path}[{index}]")))
        }
        _ if wanted == found => None,
        _ => Some(format!("{path} is {found} and not {wanted}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_differs_is_told_with_its_place() {
        let wanted = json!({ "spec": { "ports": [{ "port": 80, "targetPort": "http" }] } });
        let of = |found: &Value| difference(&wanted, found, "service");
        let good = json!({ "spec": { "ports": [{ "port": 80, "targetPort": "http", "nodePort": 1 }] } });
        assert_eq!(of(&good), None);
        let other = json!({ "spec": { "ports": [{ "port": 80, "targetPort": 8080 }] } });
        assert_eq!(of(&other).as_deref(), Some("service.spec.ports[0].targetPort is 8080 and not \"http\""));
        let none = json!({ "spec": {} });
        assert_eq!(of(&none).as_deref(), Some("service.spec.ports is missing"));
        let twice = json!({ "spec": { "ports": [{ "port": 80, "targetPort": "http" }, { "port": 81 }] } });
        assert!(of(&twice).is_some());
    }
}
