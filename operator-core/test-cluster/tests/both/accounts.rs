//! The admission plugin `ServiceAccount`, on both servers.

use serde_json::{Value, json};
use test_cluster::{ControlPlane, Controllers, InProcessServer};

use super::Both;

const PODS: &str = "/api/v1/namespaces/accounts/pods";
const PLACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn pod(name: &str, spec: &Value, annotations: &Value) -> Value {
    let mut pod = json!({
        "metadata": { "name": name, "annotations": annotations },
        "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    pod
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the real server has the machine's clock")]
async fn pods_get_an_account_and_its_token() {
    let plane = ControlPlane::builder().service_accounts(true).start().await.expect("a control plane");
    let ours = InProcessServer::with_controllers(jiff::Timestamp::now, Controllers::Off).service_accounts();
    let mut both = Both::of(plane.client().expect("a client"), ours.client());
    both.ask("POST", "/api/v1/namespaces", &json!({ "metadata": { "name": "accounts" } })).await;
    let none = json!({});
    // Nobody has made it yet. The real server waits for `default` only.
    both.ask("POST", PODS, &pod("early", &json!({ "serviceAccountName": "later" }), &none)).await;
    for account in [
        json!({ "metadata": { "name": "default" } }),
        json!({ "metadata": { "name": "quiet" }, "automountServiceAccountToken": false }),
        json!({ "metadata": { "name": "pulls" }, "imagePullSecrets": [{ "name": "p" }, { "name": "q" }] }),
        json!({
            "metadata": { "name": "strict", "annotations": { "kubernetes.io/enforce-mountable-secrets": "true" } },
            "secrets": [{ "name": "own" }],
            "imagePullSecrets": [{ "name": "p" }],
        }),
    ] {
        both.ask("POST", "/api/v1/namespaces/accounts/serviceaccounts", &account).await;
    }

    let of = |account: &str, more: Value| {
        let mut spec = more;
        spec["serviceAccountName"] = account.into();
        spec
    };
    let secret = |name: &str| json!([{ "name": "s", "secret": { "secretName": name } }]);
    let variable = |name: &str| {
        let from = json!({ "secretKeyRef": { "name": name, "key": "k" } });
        json!([{ "name": "c", "image": "i", "env": [{ "name": "E", "valueFrom": from }] }])
    };
    let all = json!([{ "name": "c", "image": "i", "envFrom": [{ "secretRef": { "name": "other" } }] }]);
    let mounted = json!([
        { "name": "a", "image": "i", "volumeMounts": [{ "name": "own", "mountPath": PLACE }] },
        { "name": "b", "image": "i", "volumeMounts": [{ "name": "own", "mountPath": "/own" }] },
    ]);
    let own = json!([{ "name": "own", "emptyDir": {} }]);
    let token = json!([{ "name": "kube-api-access-mine", "emptyDir": {} }]);
    let projected =
        json!([{ "name": "t", "projected": { "sources": [{ "serviceAccountToken": { "path": "t" } }] } }]);
    let init = json!([{ "name": "i", "image": "i" }]);
    let mirror = json!({ "kubernetes.io/config.mirror": "x" });
    for (number, (spec, annotations)) in [
        (none.clone(), &none),
        (of("none", json!({})), &none),
        (of("quiet", json!({})), &none),
        (of("quiet", json!({ "automountServiceAccountToken": true, "initContainers": init })), &none),
        (json!({ "automountServiceAccountToken": false }), &none),
        (json!({ "containers": mounted, "volumes": own }), &none),
        (json!({ "volumes": token }), &none),
        (of("pulls", json!({})), &none),
        (of("pulls", json!({ "imagePullSecrets": [{ "name": "r" }] })), &none),
        (of("strict", json!({})), &none),
        (of("strict", json!({ "volumes": secret("own"), "containers": variable("own") })), &none),
        (of("strict", json!({ "volumes": secret("other") })), &none),
        (of("strict", json!({ "containers": variable("other") })), &none),
        (of("strict", json!({ "containers": all, "initContainers": variable("own") })), &none),
        (of("strict", json!({ "initContainers": all })), &none),
        (of("strict", json!({ "imagePullSecrets": [{ "name": "p" }, { "name": "r" }] })), &none),
        (none.clone(), &mirror),
        (of("default", json!({})), &mirror),
        (json!({ "volumes": secret("own") }), &mirror),
        (json!({ "containers": all }), &mirror),
        (json!({ "imagePullSecrets": [{ "name": "r" }] }), &mirror),
        (json!({ "volumes": projected }), &mirror),
    ]
    .into_iter()
    .enumerate()
    {
        both.ask_with("POST", PODS, &pod(&format!("p{number}"), &spec, annotations), with_one_suffix).await;
    }
    both.end();
    plane.stop().await;
}

/// The names of token volumes end with five random letters.
fn with_one_suffix(mut answer: String) -> String {
    const VOLUME: &str = "\"kube-api-access-";
    let mut from = 0;
    while let Some(at) = answer[from..].find(VOLUME) {
        from += at + VOLUME.len();
        if answer.as_bytes().get(from + 5) == Some(&b'"') {
            answer.replace_range(from..from + 5, "xxxxx");
        }
    }
    answer
}
