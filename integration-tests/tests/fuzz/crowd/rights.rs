//! The rights of users other than the administrator, and the messages of refusals.

use integration_tests::prelude::*;

use super::{Ask, Both, SOON, Sort, tell_all};
use crate::prepare_in_process;

const SORT: Sort = Sort { name: "rights", story, stories: 40, answers: 25 };

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const VERBS: &[&str] =
    &["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"];
const RESOURCES: &[&str] = &[
    "configmaps",
    "secrets",
    "samples",
    "samples/status",
    "*",
    "*/status",
    "namespaces",
    "deployments/status",
    "nodes",
];
const GROUPS: &[&str] = &["", "fuzz.example.com", "apps", "*"];

fn some(random: &mut Random, of: &[&str]) -> Value {
    let first = random.pick(of);
    if random.chance(50) { json!([first]) } else { json!([first, random.pick(of)]) }
}

fn rules(random: &mut Random) -> Value {
    let rule = |random: &mut Random| {
        let mut rule = json!({
            "apiGroups": some(random, GROUPS), "resources": some(random, RESOURCES), "verbs": some(random, VERBS),
        });
        if random.chance(30) {
            rule["resourceNames"] = some(random, &["a", "b", "<s>-a"]);
        }
        rule
    };
    (0..=random.below(2)).map(|_| rule(random)).collect()
}

fn role(random: &mut Random, number: usize) -> Ask {
    let (kind, path) = if random.chance(50) {
        ("Role", format!("{RBAC}/namespaces/<s>-a/roles"))
    } else {
        ("ClusterRole", format!("{RBAC}/clusterroles"))
    };
    let name = format!("<s>-{kind}-{number}").to_lowercase();
    Ask::post(path, json!({"metadata": {"name": name}, "rules": rules(random)}))
}

fn binding(random: &mut Random, number: usize) -> Ask {
    let subject = match random.below(6) {
        0 | 1 => json!({"kind": "User", "name": "<s>-u", "apiGroup": "rbac.authorization.k8s.io"}),
        2 => json!({"kind": "Group", "name": "<s>-g", "apiGroup": "rbac.authorization.k8s.io"}),
        3 => json!({"kind": "ServiceAccount", "name": "robot", "namespace": "<s>-a"}),
        4 => json!({"kind": "ServiceAccount", "name": "robot", "namespace": "<s>-b"}),
        _ => {
            json!({"kind": "Group", "name": "system:serviceaccounts:<s>-a", "apiGroup": "rbac.authorization.k8s.io"})
        }
    };
    let local = random.chance(60);
    let kind = if local && random.chance(60) { "Role" } else { "ClusterRole" };
    // Some of the roles are never there.
    let role = format!("<s>-{kind}-{}", random.below(5)).to_lowercase();
    let path = if local {
        format!("{RBAC}/namespaces/<s>-a/rolebindings")
    } else {
        format!("{RBAC}/clusterrolebindings")
    };
    let role_ref = json!({"kind": kind, "name": role, "apiGroup": "rbac.authorization.k8s.io"});
    Ask::post(
        path,
        json!({"metadata": {"name": format!("<s>-{number}")}, "roleRef": role_ref, "subjects": [subject]}),
    )
}

/// Waits until the real server's authorizer knows what was written until now.
fn barrier(number: usize) -> Vec<Ask> {
    let user = format!("<s>-barrier-{number}");
    let name = format!("<s>-barrier-{number}");
    let rules = |resource: &str| json!([{"apiGroups": [""], "resources": [resource], "verbs": ["get"]}]);
    let subjects = json!([{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]);
    let reference = |kind: &str| json!({"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"});
    let mut asks = Vec::new();
    for (path, kind, resource) in [
        (format!("{RBAC}/namespaces/<s>-a/role"), "Role", "configmaps"),
        (format!("{RBAC}/clusterrole"), "ClusterRole", "secrets"),
    ] {
        asks.push(Ask::post(
            format!("{path}s"),
            json!({"metadata": {"name": name}, "rules": rules(resource)}),
        ));
        let body = json!({"metadata": {"name": name}, "roleRef": reference(kind), "subjects": subjects});
        asks.push(Ask::post(format!("{path}bindings"), body));
        asks.push(review(&user, &[], "get", "", resource, "a").patiently());
    }
    asks.into_iter().map(Ask::needed).collect()
}

fn review(user: &str, groups: &[&str], verb: &str, group: &str, resource: &str, namespace: &str) -> Ask {
    let attributes =
        json!({"verb": verb, "group": group, "resource": resource, "namespace": format!("<s>-{namespace}")});
    Ask::post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        json!({"spec": {"resourceAttributes": attributes}}),
    )
    .by(user, groups)
}

/// Something that somebody does.
fn act(random: &mut Random) -> Ask {
    let (user, groups): (&str, &[&str]) = match random.below(6) {
        0 | 1 => ("<s>-u", &[]),
        2 => ("<s>-u", &["<s>-g"]),
        3 => ("<s>-other", &["<s>-g", "<s>-h"]),
        4 => {
            ("system:serviceaccount:<s>-a:robot", &["system:serviceaccounts", "system:serviceaccounts:<s>-a"])
        }
        _ => ("system:serviceaccount:<s>-b:robot", &[]),
    };
    let namespace = random.pick(&["a", "a", "b"]);
    let (base, plural, kind) = random.pick(&[
        ("/api/v1", "configmaps", "ConfigMap"),
        ("/api/v1", "configmaps", "ConfigMap"),
        ("/api/v1", "secrets", "Secret"),
        ("/apis/fuzz.example.com/v1", "samples", "Sample"),
    ]);
    let all = format!("{base}/namespaces/<s>-{namespace}/{plural}");
    let name = random.pick(&["a", "b", "c"]);
    let one = format!("{all}/{name}");
    let api_version = base.trim_start_matches("/apis/").trim_start_matches("/api/");
    let body = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    let ask = match random.below(18) {
        0 | 1 => Ask::get(one),
        2 | 3 => Ask::get(all),
        4 => Ask::get(format!("{base}/{plural}")).query("labelSelector", "story=<s>"),
        5 | 6 => Ask::post(all, body),
        7 => Ask::put(one, body),
        8 => Ask::apply(one, body),
        9 => Ask::merge(one, json!({"metadata": {"labels": {"a": random.pick(&["1", "2"])}}})),
        10 => Ask::delete(one, Value::Null),
        11 => Ask::delete(all, Value::Null),
        12 => Ask::merge(
            format!("{base}/namespaces/<s>-{namespace}/samples/{name}/status"),
            json!({"status": {"phase": "x"}}),
        ),
        13 => Ask::get(format!("/api/v1/namespaces/<s>-{namespace}")),
        14 => Ask::delete(format!("/api/v1/namespaces/<s>-{namespace}"), Value::Null).query("dryRun", "All"),
        15 => Ask::get(random.pick(&["/api/v1/nodes", "/api/v1/namespaces", "/apis/apps/v1/deployments"]))
            .query("labelSelector", "story=<s>"),
        16 => Ask::get(format!("{base}/namespaces/<s>-{namespace}/{plural}"))
            .query("fieldSelector", "metadata.name=a"),
        _ => {
            let groups_of = random.pick(GROUPS);
            return review(user, groups, random.pick(VERBS), groups_of, random.pick(RESOURCES), namespace);
        }
    };
    ask.by(user, groups)
}

fn story(random: &mut Random) -> Vec<Ask> {
    let namespace = |letter: &str| {
        Ask::post("/api/v1/namespaces", json!({"metadata": {"name": format!("<s>-{letter}")}})).needed()
    };
    let mut asks = vec![namespace("a"), namespace("b")];
    for (number, name) in [(0, "a"), (1, "b")] {
        let body = json!({"metadata": {"name": name, "labels": {"story": "<s>"}}});
        asks.push(Ask::post("/api/v1/namespaces/<s>-a/configmaps", body.clone()));
        asks.push(Ask::post(format!("/api/v1/namespaces/<s>-{}/secrets", ["a", "b"][number]), body));
    }
    for number in 0..4 {
        asks.push(role(random, number));
    }
    for number in 0..5 {
        asks.push(binding(random, number));
    }
    asks.extend(barrier(0));
    asks.extend((0..14).map(|_| act(random)));
    // Some of it is taken back, or changed.
    for number in 0..2 {
        let number = if random.chance(50) { number } else { number + 2 };
        asks.push(match random.below(4) {
            0 => Ask::delete(format!("{RBAC}/clusterrolebindings/<s>-{number}"), Value::Null),
            1 => Ask::delete(format!("{RBAC}/namespaces/<s>-a/rolebindings/<s>-{number}"), Value::Null),
            2 => Ask::merge(
                format!("{RBAC}/clusterroles/<s>-clusterrole-{number}"),
                json!({"rules": rules(random)}),
            ),
            _ => Ask::merge(
                format!("{RBAC}/namespaces/<s>-a/roles/<s>-role-{number}"),
                json!({"rules": rules(random)}),
            ),
        });
    }
    asks.extend(barrier(1));
    asks.extend((0..10).map(|_| act(random)));
    asks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rights() -> anyhow::Result<()> {
    let (real, _cluster) = crate::prepare_real().await?;
    let both = Both { real, model: prepare_in_process().await?, patience: SOON, collected: Vec::new() };
    tell_all(&both, &SORT).await
}
