//! The definitions of projects that everybody uses, from their own files: both servers take them, and take and refuse the
//! same objects.

use serde_json::{Value, json};
use test_cluster::read_crds;

use crate::{
    both::{Both, DEFINITIONS, JSON},
    modules::folder,
};

struct Project {
    module: &'static str,
    version: &'static str,
    files: &'static [&'static str],
    /// Group and version, plural and kind of the objects.
    of: [&'static str; 3],
    right: Value,
    wrong: Vec<Value>,
}

/// The files of a project are served, its example is taken, and wrong objects are refused with the same causes.
async fn check(project: Project) {
    let both = Both::start().await;
    let folder = folder(project.module, project.version);
    for file in project.files {
        for definition in read_crds(folder.join(file)).unwrap() {
            let body = serde_json::to_value(&definition).unwrap();
            let (real, model) = both.ask("POST", DEFINITIONS, JSON, &body).await;
            let short = |answer: &crate::both::Answer| answer.body["message"].to_string();
            assert_eq!((real.code, model.code), (201, 201), "{file}\n{}\n{}", short(&real), short(&model));
            assert_eq!(real.body["spec"], model.body["spec"], "{file}");
            both.served(&body).await;
        }
    }
    let [api_version, plural, kind] = project.of;
    let path = format!("/apis/{api_version}/namespaces/default/{plural}");
    let object = |name: &str, spec: &Value| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec});
    let right = both.same("POST", &path, JSON, &object("right", &project.right)).await;
    assert_eq!(right.code, 201, "{}", right.body);
    assert!(project.wrong.len() >= 3);
    for (at, wrong) in project.wrong.iter().enumerate() {
        let refused = both.same("POST", &path, JSON, &object(&format!("wrong-{at}"), wrong)).await;
        assert_eq!(refused.code, 422, "{wrong}: {}", refused.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cert_manager() {
    let issuer = json!({"name": "ca", "kind": "Issuer"});
    check(Project {
        module: "github.com/cert-manager/cert-manager",
        version: "v1.21.2",
        files: &[
            "deploy/crds/acme.cert-manager.io_challenges.yaml",
            "deploy/crds/acme.cert-manager.io_orders.yaml",
            "deploy/crds/cert-manager.io_certificaterequests.yaml",
            "deploy/crds/cert-manager.io_certificates.yaml",
            "deploy/crds/cert-manager.io_clusterissuers.yaml",
            "deploy/crds/cert-manager.io_issuers.yaml",
        ],
        of: ["cert-manager.io/v1", "certificates", "Certificate"],
        right: json!({"secretName": "tls", "dnsNames": ["example.com"], "issuerRef": issuer, "usages": ["server auth"],
            "privateKey": {"algorithm": "ECDSA", "size": 256}, "duration": "2160h"}),
        wrong: vec![
            json!({"dnsNames": ["example.com"]}),
            json!({"secretName": "tls", "issuerRef": issuer, "privateKey": {"algorithm": "DSA"}}),
            json!({"secretName": "tls", "issuerRef": issuer, "usages": ["flying"], "revisionHistoryLimit": 0}),
            json!({"secretName": 1, "issuerRef": {}, "dnsNames": "example.com"}),
        ],
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateway_api() {
    let of = |listeners: Value| json!({"gatewayClassName": "web", "listeners": listeners});
    check(Project {
        module: "sigs.k8s.io/gateway-api",
        version: "v1.4.1",
        files: &[
            "config/crd/standard/gateway.networking.k8s.io_backendtlspolicies.yaml",
            "config/crd/standard/gateway.networking.k8s.io_gatewayclasses.yaml",
            "config/crd/standard/gateway.networking.k8s.io_gateways.yaml",
            "config/crd/standard/gateway.networking.k8s.io_grpcroutes.yaml",
            "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
            "config/crd/standard/gateway.networking.k8s.io_referencegrants.yaml",
        ],
        of: ["gateway.networking.k8s.io/v1", "gateways", "Gateway"],
        right: of(json!([
            {"name": "web", "port": 80, "protocol": "HTTP", "hostname": "*.example.com"},
            {"name": "tls", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "cert"}]}},
        ])),
        wrong: vec![
            of(json!([{"name": "a", "port": 80, "protocol": "HTTP", "tls": {"certificateRefs": [{"name": "c"}]}}])),
            of(json!([{"name": "a", "port": 80, "protocol": "TCP", "hostname": "a.b"}])),
            of(json!([{"name": "a", "port": 80, "protocol": "HTTP"}, {"name": "b", "port": 80, "protocol": "HTTP"}])),
            of(json!([{"name": "a", "port": 443, "protocol": "HTTPS", "tls": {"mode": "Terminate"}}])),
            of(json!([{"name": "A B", "port": 0, "protocol": "H T", "hostname": "-"}])),
            of(json!([])),
            json!({"gatewayClassName": "web", "listeners": [{"name": "a", "port": 80, "protocol": "HTTP"}],
                "addresses": [{"type": "IPAddress", "value": "1.2.3.4"}, {"type": "IPAddress", "value": "1.2.3.4"}, {"type": "Hostname", "value": "-"}],
                "infrastructure": {"labels": {"a/b/c": "x"}}}),
        ],
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_operator() {
    let of = |endpoint: Value| json!({"selector": {"matchLabels": {"app": "web"}}, "endpoints": [endpoint]});
    check(Project {
        module: "github.com/prometheus-operator/prometheus-operator",
        version: "v0.85.0",
        files: &[
            "example/prometheus-operator-crd/monitoring.coreos.com_alertmanagerconfigs.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_alertmanagers.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_probes.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_prometheusagents.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_prometheuses.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_scrapeconfigs.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_thanosrulers.yaml",
        ],
        of: ["monitoring.coreos.com/v1", "servicemonitors", "ServiceMonitor"],
        right: of(json!({"port": "web", "interval": "30s", "path": "/metrics"})),
        wrong: vec![
            of(json!({"port": "web", "interval": "half a minute"})),
            of(json!({"port": "web", "scheme": "ftp", "scrapeTimeout": "1.5s"})),
            json!({"endpoints": []}),
            of(json!({"port": "web", "relabelings": [{"action": "fly", "targetLabel": 1}]})),
        ],
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn argo_cd() {
    let destination = json!({"server": "https://kubernetes.default.svc", "namespace": "web"});
    check(Project {
        module: "github.com/argoproj/argo-cd/v2",
        version: "v2.14.21",
        files: &[
            "manifests/crds/application-crd.yaml",
            "manifests/crds/applicationset-crd.yaml",
            "manifests/crds/appproject-crd.yaml",
        ],
        of: ["argoproj.io/v1alpha1", "applications", "Application"],
        right: json!({"project": "default", "destination": destination,
            "source": {"repoURL": "https://github.com/argoproj/argocd-example-apps.git", "path": "guestbook", "targetRevision": "HEAD"},
            "syncPolicy": {"automated": {"prune": true}}}),
        wrong: vec![
            json!({"destination": destination}),
            json!({"project": "default", "destination": destination, "source": {"path": "guestbook"}}),
            json!({"project": "default", "destination": destination, "ignoreDifferences": [{"group": "apps"}]}),
            json!({"project": 1, "destination": [], "revisionHistoryLimit": "many"}),
        ],
    })
    .await;
}
