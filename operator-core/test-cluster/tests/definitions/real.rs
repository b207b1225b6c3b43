//! The definitions of projects that everybody uses, from their own files: with kubectl, both servers take them and their
//! projects' own examples, and take and refuse the same objects.

use serde_json::{Value, json};
use test_cluster::seed_of_the_day;

use super::{
    kubectl::{Session, below},
    modules::folder,
};
use crate::{
    harness::{
        both::{Both, ours},
        kubectl::kubectl,
        planes,
    },
    kubectl::run::Servers,
};

struct Project {
    module: &'static str,
    version: &'static str,
    files: &'static [&'static str],
    /// Files with objects that the project shows to its users.
    examples: &'static [&'static str],
    /// Where they are.
    namespace: &'static str,
    /// Group and version, plural and kind of the objects.
    of: [&'static str; 3],
    right: Value,
    wrong: Vec<Value>,
}

const PROJECTS: [fn() -> Project; 4] = [cert_manager, gateway_api, argo_cd, prometheus_operator];

/// One of the projects each day, but for the last, which is twice as large; all of them with `PROJECTS=all`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn projects_are_served_as_by_the_real_server() {
    let is_all = std::env::var("PROJECTS").is_ok_and(|which| which == "all");
    let one = seed_of_the_day() as usize % (PROJECTS.len() - 1);
    let today = if is_all { 0..PROJECTS.len() } else { one..one + 1 };
    let today = PROJECTS[today].iter().map(|project| check(project()));
    futures::future::join_all(today).await;
}

/// The files of a project are served, its examples are taken, and wrong objects are refused with the same causes.
async fn check(project: Project) {
    let server = ours();
    let listening = server.listen().await.unwrap();
    let real = planes::plain().await.kubeconfig().unwrap();
    let servers = Servers::new(kubectl().unwrap(), real, listening.kubeconfig()).unwrap();
    let Project {
        module,
        version,
        files,
        examples,
        namespace,
        of: [api_version, plural, kind],
        right,
        wrong,
    } = project;
    let object = |name: &str, spec: &Value| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec});
    let right = object("right", &right);
    let wrong: Vec<Value> =
        (0..).zip(&wrong).map(|(at, wrong)| object(&format!("wrong-{at}"), wrong)).collect();
    assert!(wrong.len() >= 3);

    let (example, refused) = (right.clone(), wrong.clone());
    let kubectl = move || {
        let folder = folder(module, version);
        let mut session = Session::new(servers, namespace);
        let small = below(&folder, files).iter().filter(|file| session.define(file)).count();
        assert!(small > 0, "kubectl can't apply any file of {module} by itself");
        for file in below(&folder, examples) {
            session.example(&file);
        }
        session.right(plural, &example);
        refused.iter().for_each(|object| session.wrong(object));
        session.end();
    };
    tokio::task::spawn_blocking(kubectl).await.unwrap();

    // Without kubectl: each cause by itself.
    let both = Both::with(server.client()).await;
    let path = format!("/apis/{api_version}/namespaces/{namespace}/{plural}");
    assert_eq!(both.same("GET", &format!("{path}/right"), &Value::Null).await.0, 200);
    let again = object("again", &right["spec"]);
    assert_eq!(both.same("POST", &format!("{path}?dryRun=All"), &again).await.0, 201);
    for wrong in &wrong {
        let refused = both.same("POST", &path, wrong).await;
        assert_eq!(refused.0, 422, "{wrong}: {}", refused.1);
    }
}

fn cert_manager() -> Project {
    let issuer = json!({"name": "ca", "kind": "Issuer"});
    Project {
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
        examples: &["test/fixtures/cert-manager-resources.yaml"],
        namespace: "default",
        of: ["cert-manager.io/v1", "certificates", "Certificate"],
        right: json!({"secretName": "tls", "dnsNames": ["example.com"], "issuerRef": issuer, "usages": ["server auth"],
            "privateKey": {"algorithm": "ECDSA", "size": 256}, "duration": "2160h"}),
        wrong: vec![
            json!({"dnsNames": ["example.com"]}),
            json!({"secretName": "tls", "issuerRef": issuer, "privateKey": {"algorithm": "DSA"}}),
            json!({"secretName": "tls", "issuerRef": issuer, "usages": ["flying"], "revisionHistoryLimit": 0}),
            json!({"secretName": 1, "issuerRef": {}, "dnsNames": "example.com"}),
        ],
    }
}

fn gateway_api() -> Project {
    let of = |listeners: Value| json!({"gatewayClassName": "web", "listeners": listeners});
    Project {
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
        examples: &[
            "examples/standard/basic-http.yaml",
            "examples/standard/tls-basic.yaml",
            "examples/standard/http-filter.yaml",
            "examples/standard/grpc-filter.yaml",
        ],
        namespace: "gateway",
        of: ["gateway.networking.k8s.io/v1", "gateways", "Gateway"],
        right: of(json!([
            {"name": "web", "port": 80, "protocol": "HTTP", "hostname": "*.example.com"},
            {"name": "tls", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "cert"}]}},
        ])),
        wrong: vec![
            of(
                json!([{"name": "a", "port": 80, "protocol": "HTTP", "tls": {"certificateRefs": [{"name": "c"}]}}]),
            ),
            of(json!([{"name": "a", "port": 80, "protocol": "TCP", "hostname": "a.b"}])),
            of(
                json!([{"name": "a", "port": 80, "protocol": "HTTP"}, {"name": "b", "port": 80, "protocol": "HTTP"}]),
            ),
            of(json!([{"name": "a", "port": 443, "protocol": "HTTPS", "tls": {"mode": "Terminate"}}])),
            of(json!([{"name": "A B", "port": 0, "protocol": "H T", "hostname": "-"}])),
            of(json!([])),
            json!({"gatewayClassName": "web", "listeners": [{"name": "a", "port": 80, "protocol": "HTTP"}],
                "addresses": [{"type": "IPAddress", "value": "1.2.3.4"}, {"type": "IPAddress", "value": "1.2.3.4"}, {"type": "Hostname", "value": "-"}],
                "infrastructure": {"labels": {"a/b/c": "x"}}}),
        ],
    }
}

fn prometheus_operator() -> Project {
    let of = |endpoint: Value| json!({"selector": {"matchLabels": {"app": "web"}}, "endpoints": [endpoint]});
    Project {
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
        examples: &[
            "example/user-guides/getting-started/example-app-service-monitor.yaml",
            "example/user-guides/getting-started/prometheus-service-monitor.yaml",
            "example/user-guides/alerting/prometheus-example-rules.yaml",
        ],
        namespace: "monitoring",
        of: ["monitoring.coreos.com/v1", "servicemonitors", "ServiceMonitor"],
        right: of(json!({"port": "web", "interval": "30s", "path": "/metrics"})),
        wrong: vec![
            of(json!({"port": "web", "interval": "half a minute"})),
            of(json!({"port": "web", "scheme": "ftp", "scrapeTimeout": "1.5s"})),
            json!({"endpoints": []}),
            of(json!({"port": "web", "relabelings": [{"action": "fly", "targetLabel": 1}]})),
        ],
    }
}

fn argo_cd() -> Project {
    let destination = json!({"server": "https://kubernetes.default.svc", "namespace": "web"});
    Project {
        module: "github.com/argoproj/argo-cd/v2",
        version: "v2.14.21",
        files: &[
            "manifests/crds/application-crd.yaml",
            "manifests/crds/applicationset-crd.yaml",
            "manifests/crds/appproject-crd.yaml",
        ],
        examples: &["docs/operator-manual/application.yaml", "docs/operator-manual/project.yaml"],
        namespace: "argocd",
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
    }
}
