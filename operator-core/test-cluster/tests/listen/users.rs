//! Who is who, and what they may do: both servers are asked the same, in the same words, and answer the same.

use http::{Method, Request};
use kube::{Client, Config, client::Body};
use serde_json::{Value, json};
use test_cluster::{InProcessServer, Listening};

use crate::harness::{Tested, planes};

/// What is asked: who asks, method, path, further headers, body.
type Question = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)], Value);

/// One of the servers, with a configuration for each of those who ask.
struct Side {
    admin: Config,
    robot: String,
    foreign: Config,
}

impl Side {
    /// A service account has the same name on both servers, and a token.
    async fn new(admin: Config, robot: String) -> Result<Self, Box<dyn std::error::Error>> {
        let mut foreign = Listening::config(&InProcessServer::new().listen().await?);
        foreign.cluster_url = admin.cluster_url.clone();
        foreign.root_cert = admin.root_cert.clone();
        Ok(Self { admin, robot, foreign })
    }

    fn config(&self, who: &str) -> Config {
        let mut config = self.admin.clone();
        let token = |config: &mut Config, token: &str| {
            config.auth_info = Default::default();
            config.auth_info.token = Some(token.to_owned().into());
        };
        match who {
            "admin" => {}
            "nobody" => config.auth_info = Default::default(),
            "robot" => token(&mut config, &self.robot),
            "unknown token" => token(&mut config, "abc"),
            "unknown certificate" => config = self.foreign.clone(),
            who => config.auth_info.impersonate = Some(who.to_owned()),
        }
        config
    }

    async fn answer(&self, question: &Question) -> Result<String, Box<dyn std::error::Error>> {
        let (who, method, path, headers, body) = question;
        let client = Client::try_from(self.config(who))?;
        let mut request = Request::builder().method(Method::from_bytes(method.as_bytes())?).uri(*path);
        for (name, value) in *headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = request.header("content-type", "application/json").body(Body::from(body))?;
        let answer = client.send(request).await?;
        let code = answer.status().as_u16();
        let text = String::from_utf8(answer.into_body().collect_bytes().await?.to_vec())?;
        Ok(format!("{code} {}", masked(&text)))
    }
}

/// Without what differs by nature.
fn masked(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if value["kind"] == "SelfSubjectReview" {
        value["metadata"]["creationTimestamp"] = "now".into();
        let user = &mut value["status"]["userInfo"];
        if let Some(uid) = user.get_mut("uid").filter(|uid| *uid != "7") {
            *uid = "an account's".into();
        }
        if let Some(id) = user["extra"].get_mut("authentication.kubernetes.io/credential-id") {
            *id = id[0].as_str().and_then(|id| id.split('=').next()).into();
        }
    }
    if let Some(reason) = value["status"]["reason"].as_str().and_then(|reason| reason.split(" of ").next()) {
        // Which of several bindings is found first is chance.
        value["status"]["reason"] =
            if reason.contains("system:") { "a binding".into() } else { reason.into() };
    }
    if matches!(value["kind"].as_str(), Some("Status" | "SelfSubjectReview")) || value["spec"] != Value::Null
    {
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.remove("managedFields");
            metadata.retain(|name, value| name != "creationTimestamp" || !value.is_null());
        }
        return value.to_string();
    }
    // What is served is compared elsewhere.
    "something".to_owned()
}

const WHOAMI: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

fn me() -> Value {
    json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" })
}

fn questions() -> Vec<Question> {
    const MAY_I: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let may_i = |attributes: Value| json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": attributes });
    let path = |path: &str| may_i(json!({ "nonResourceAttributes": { "verb": "get", "path": path } }));
    let list = || {
        may_i(json!({ "resourceAttributes": { "verb": "list", "resource": "pods", "namespace": "default" } }))
    };
    let mut questions = Vec::new();
    for who in ["nobody", "unknown token", "unknown certificate", "robot", "bob", "admin"] {
        for path in [
            "/version",
            "/readyz",
            "/livez",
            "/healthz",
            "/api",
            "/apis/apps/v1",
            "/nothing",
            MAPS,
            "/api/v1/nodes/x",
        ] {
            questions.push((who, "GET", path, &[][..], Value::Null));
        }
        questions.push((who, "POST", WHOAMI, &[], me()));
        questions.push((who, "POST", MAY_I, &[], list()));
        questions.push((who, "POST", MAY_I, &[], path("/version")));
        questions.push((who, "POST", MAY_I, &[], path("/metrics")));
        questions.push((who, "GET", WHOAMI, &[], Value::Null));
    }
    // The real server tries the way first that has succeeded last for the same sender. So what depends on the order of ways
    // comes before the first question that only the oldest way allows.
    for (who, headers) in [
        ("admin", &[("Impersonate-User", "system:node:n")][..]),
        ("admin", &[("Impersonate-User", "bob"), ("Impersonate-Group", "g"), ("Impersonate-Group", "h")]),
        (
            "admin",
            &[
                ("Impersonate-User", "bob"),
                ("Impersonate-Uid", "7"),
                ("Impersonate-Extra-A", "x"),
                ("Impersonate-Extra-A", "y"),
            ],
        ),
        ("admin", &[("Impersonate-User", "bob"), ("Impersonate-Group", "system:masters")]),
        ("admin", &[("Impersonate-User", "bob"), ("Impersonate-Group", "system:unauthenticated")]),
        ("admin", &[("Impersonate-User", "system:anonymous")]),
        ("admin", &[("Impersonate-User", "system:serviceaccount:shop:till")]),
        ("admin", &[("Impersonate-User", "system:serviceaccount:shop:till"), ("Impersonate-Group", "g")]),
        ("admin", &[("Impersonate-Group", "g")]),
        ("admin", &[("Impersonate-Uid", "7")]),
        ("admin", &[("Impersonate-Extra-A", "x"), ("Impersonate-Extra-A", "y")]),
        ("robot", &[("Impersonate-User", "bob")]),
        ("robot", &[("Impersonate-User", "alice"), ("Impersonate-Group", "g")]),
        ("robot", &[("Impersonate-User", "alice"), ("Impersonate-Uid", "7")]),
        ("robot", &[("Impersonate-User", "alice"), ("Impersonate-Extra-A", "x")]),
        ("robot", &[("Impersonate-User", "system:serviceaccount:shop:till")]),
        ("robot", &[("Impersonate-User", "system:node:n")]),
        ("robot", &[("Impersonate-User", "carol"), ("Impersonate-Group", "g")]),
        ("robot", &[("Impersonate-User", "carol")]),
        ("robot", &[("Impersonate-User", "alice")]),
        ("nobody", &[("Impersonate-User", "alice")]),
    ] {
        questions.push((who, "POST", WHOAMI, headers, me()));
    }
    for path in ["/version", MAPS] {
        questions.push(("nobody", "GET", path, &[("Impersonate-User", "bob")], Value::Null));
    }
    questions
}

/// What both servers need first: an account whose token is known, which may impersonate one person.
const PREPARATION: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: alices }
rules:
- { apiGroups: [""], resources: [users], resourceNames: [alice], verbs: [impersonate] }
- { apiGroups: [authentication.k8s.io], resources: [users], resourceNames: [carol], verbs: ["impersonate:user-info"] }
- { apiGroups: [authentication.k8s.io], resources: [selfsubjectreviews], verbs: ["impersonate-on:user-info:create"] }
- { nonResourceURLs: [/nothing, /metrics*], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: alices }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: alices }
subjects: [{ kind: ServiceAccount, namespace: default, name: robot }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: robot, namespace: default }
"#;

async fn prepare(config: &Config) -> Tested {
    let client = Client::try_from(config.clone())?;
    for document in PREPARATION.split("---") {
        let object: Value = serde_saphyr::from_str(document)?;
        let path = match object["kind"].as_str().unwrap_or_default() {
            "ClusterRole" => "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            "ClusterRoleBinding" => "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            _ => "/api/v1/namespaces/default/serviceaccounts",
        };
        let request = Request::post(path).header("content-type", "application/json");
        client.request::<Value>(request.body(object.to_string().into_bytes())?).await?;
    }
    Ok(())
}

/// A token of the account.
async fn token(config: &Config) -> Result<String, Box<dyn std::error::Error>> {
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let ask = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
    let request = Request::post(path).header("content-type", "application/json");
    let client = Client::try_from(config.clone())?;
    let token: Value = client.request(request.body(ask.to_string().into_bytes())?).await?;
    Ok(token["status"]["token"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn users_are_told_apart_as_on_the_real_server() -> Tested {
    let plane = planes::plain().await;
    prepare(&plane.config()).await?;
    let real = Side::new(plane.config(), token(&plane.config()).await?).await?;

    let listening = InProcessServer::new().listen().await?;
    prepare(&listening.config()).await?;
    let ours = Side::new(listening.config(), token(&listening.config()).await?).await?;

    let mut differences = Vec::new();
    for question in questions() {
        let (expected, found) = (real.answer(&question).await?, ours.answer(&question).await?);
        if expected != found {
            let (who, method, path, headers, body) = &question;
            differences
                .push(format!("{who} {method} {path} {headers:?} {body}\n  real {expected}\n  ours {found}"));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    Ok(())
}

#[tokio::test]
async fn a_token_of_ones_own_counts_as_the_user_it_was_made_for() -> Tested {
    let listening = InProcessServer::new().listen().await?;
    let ours = Side::new(listening.config(), listening.token_of("bob", &["g"])).await?;
    let answer = ours.answer(&("robot", "POST", WHOAMI, &[], me())).await?;
    assert!(answer.contains(r#""groups":["g","system:authenticated"],"username":"bob""#), "{answer}");
    Ok(())
}
