//! Forms of quantities, and of numbers where a whole one is stored.

use integration_tests::prelude::*;

use super::{Ask, NAMESPACE, Story, definition, object, path_of};

const REQUESTS: usize = 24;

/// Quantities of any form, in kinds that have them.
pub(super) fn quantities(random: &mut Random, seed: &str) -> Story {
    let claims = format!("/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims?dryRun=All");
    let quotas = format!("/api/v1/namespaces/{NAMESPACE}/resourcequotas");
    let deployments = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments");
    let deployment = |name: &str, limits: &Value| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
                {"name": "c", "image": "i", "resources": {"limits": limits}},
            ]}},
        }})
    };
    let live = format!("d{seed}");
    let mut asks = vec![Ask::new("POST", deployments.clone(), &deployment(&live, &json!({"memory": "1"})))];
    for _ in 0..REQUESTS {
        let amount = amount(random);
        asks.push(match random.below(6) {
            0 => {
                let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": amount}}});
                let body = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "p"}, "spec": spec});
                Ask::new("POST", claims.clone(), &body)
            }
            1 => {
                let body = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": amount}}});
                Ask::new("POST", format!("{quotas}?dryRun=All"), &body)
            }
            2 => {
                let limits = json!({random.pick(&["memory", "cpu"]): amount});
                Ask::new("APPLY", format!("{deployments}/{live}?fieldManager=m&force=true"), &deployment(&live, &limits))
            }
            3 => {
                let change = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/resources/limits/memory", "value": amount}]);
                Ask::new("JSON", format!("{deployments}/{live}?fieldManager=j"), &change)
            }
            _ => {
                let body = deployment("new", &json!({random.pick(&["memory", "cpu"]): amount}));
                Ask::new("POST", format!("{deployments}?dryRun=All"), &body)
            }
        });
    }
    Story { asks, ..Story::default() }
}

fn amount(random: &mut Random) -> Value {
    let numbers = [
        "1",
        "0",
        "00",
        "007",
        "+1",
        "-1",
        "5.",
        ".5",
        "0.5",
        "1.50",
        "1000",
        "1024",
        "1500",
        "123456789",
        "9223372036854775807",
        "9223372036854775808",
        "1234567890123456789",
        "0.0000000001",
        "0.001",
        "1.000000001",
        "100000",
        ".",
        "",
        "1.2.3",
        "12345678901234567890.5",
        "16",
        "8",
        "7",
        "1023",
        "1025",
    ];
    let suffixes = [
        "", "", "m", "u", "n", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E3",
        "e-3", "e+6", "e30", "e1", "e2", "E", "e", "ki", "K", "mi", "i", "Zi", "B", "e1.5", "ee3", "e99",
        " ",
    ];
    let (number, suffix) = (random.pick(&numbers), random.pick(&suffixes));
    // Thousands of the largest unit are stored as ones, but not compared as such.
    let suffix = if number.ends_with("000") && suffix == "E" { "P" } else { suffix };
    let text = format!("{number}{suffix}");
    match random.below(12) {
        0 => json!(random.pick(&[0.5, 1.5, 2.25])),
        1 => json!(random.pick(&[0, 1, 1000, 1024, -1])),
        2 => json!(format!(" {text} ")),
        _ => json!(text),
    }
}

/// Numbers with and without a point, in custom kinds and in those of Kubernetes.
pub(super) fn numbers(random: &mut Random, seed: &str) -> Story {
    let (kind, one) = ("Number", format!("one{seed}"));
    let schema = json!({"type": "object", "properties": {
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "n": {"type": "number"}, "i": {"type": "integer"}, "either": {"x-kubernetes-int-or-string": true},
        "list": {"type": "array", "items": {"type": "number"}},
    }});
    let path = path_of(kind);
    let spec = json!({"free": {"x": 1, "l": [1, 2]}, "n": 1, "i": 1, "either": 1, "list": [1, 2]});
    let config = format!("/apis/apps/v1/namespaces/{NAMESPACE}/controllerrevisions");
    let name = format!("c{seed}");
    let revision = |data: &str| {
        format!(
            "{{\"apiVersion\":\"apps/v1\",\"kind\":\"ControllerRevision\",\"metadata\":{{\"name\":\"{name}\"}},\"revision\":1,\"data\":{{\"x\":{data}}}}}"
        )
    };
    let mut asks = vec![
        Ask::new("POST", format!("{path}?fieldManager=t"), &object(kind, &one, &spec)),
        Ask::raw("POST", config.clone(), revision("1")),
    ];
    const FORMS: [&str; 18] = [
        "1",
        "1.0",
        "1.00",
        "1e0",
        "2",
        "2.0",
        "1.5",
        "10e-1",
        "100",
        "1e2",
        "-0.0",
        "9007199254740993",
        "9007199254740993.0",
        "1e15",
        "1e16",
        "9223372036854775807",
        "9223372036854775808",
        "1e21",
    ];
    for _ in 0..REQUESTS / 2 {
        let form = random.pick(&FORMS);
        let other = random.pick(&FORMS);
        let (field, value) = match random.below(6) {
            0 => ("n", form.to_owned()),
            1 => ("i", form.to_owned()),
            2 => ("either", form.to_owned()),
            3 => ("list", format!("[{form},{other}]")),
            _ => ("free", format!("{{\"x\":{form},\"l\":[{other}]}}")),
        };
        let whole = format!(
            "{{\"apiVersion\":\"{}/v1\",\"kind\":\"{kind}\",\"metadata\":{{\"name\":\"{one}\"}},\"spec\":{{\"{field}\":{value}}}}}",
            super::GROUP
        );
        asks.push(match random.below(5) {
            0 | 1 => Ask::raw(
                "MERGE",
                format!("{path}/{one}?fieldManager=m"),
                format!("{{\"spec\":{{\"{field}\":{value}}}}}"),
            ),
            2 => {
                let patch = format!("[{{\"op\":\"add\",\"path\":\"/spec/{field}\",\"value\":{value}}}]");
                Ask::raw("JSON", format!("{path}/{one}?fieldManager=j"), patch)
            }
            3 => Ask::raw("APPLY", format!("{path}/{one}?fieldManager=a&force=true"), whole),
            _ => Ask::raw("POST", format!("{config}?dryRun=All"), revision(form).replace(&name, "new")),
        });
    }
    Story { definition: Some(definition(kind, &schema, &json!({}))), is_shared: true, asks }
}
