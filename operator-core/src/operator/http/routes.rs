//! The paths and their answers.

use std::sync::{Arc, Weak};

use axum::{
    Router,
    extract::State,
    response::IntoResponse,
    routing::{MethodRouter, get},
};
use http::{StatusCode, header::CONTENT_TYPE};

use super::{
    Running,
    probes::{OperatorReadiness, undecodable},
};
use crate::metrics::PrometheusMetrics;

/// Prometheus' text format; newer versions of Prometheus refuse an answer without it.
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn router(running: Weak<Running>, metrics: Arc<PrometheusMetrics>) -> Router {
    let metrics: MethodRouter<Weak<Running>> = get(async move |State(running): State<Weak<Running>>| {
        if let Some(running) = running.upgrade() {
            running.tell_of_now();
        }
        ([(CONTENT_TYPE, PROMETHEUS_TEXT)], metrics.render())
    });
    Router::new()
        .route("/metrics", metrics)
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .with_state(running)
}

async fn healthz(State(running): State<Weak<Running>>) -> impl IntoResponse {
    // The listener lives a moment longer than the operator, which isn't a reason to restart its container.
    let ended = running.upgrade().map(|running| running.ended_tasks()).unwrap_or_default();
    match ended.is_empty() {
        true => (StatusCode::OK, "ok".to_owned()),
        false => (StatusCode::INTERNAL_SERVER_ERROR, ended.join("\n") + "\n"),
    }
}

async fn readyz(State(running): State<Weak<Running>>) -> impl IntoResponse {
    let running = running.upgrade();
    let readiness = running.as_ref().map_or(OperatorReadiness::NotRunning, |running| running.readiness());
    let status = match readiness {
        OperatorReadiness::Ready | OperatorReadiness::Standby { .. } => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let objects = running.map(|running| running.undecodable_objects()).unwrap_or_default();
    let mut answer = readiness.to_string();
    for line in undecodable(&objects) {
        if !answer.ends_with('\n') {
            answer.push('\n');
        }
        answer += &line;
    }
    (status, answer)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use axum::{body::Body, response::Response};
    use http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;
    use crate::{
        client::Clients,
        environment::Environment,
        event_source::Discovery,
        metrics::{MetricsObserver, Recorders},
        observe::{Observation, Observer, Observers},
        resource::ObjectKey,
    };

    fn running() -> Arc<Running> {
        let environment = Environment::real();
        let nowhere = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
        let clients = Clients::new(&nowhere, &[], None, &environment).unwrap();
        Arc::new(Running {
            controllers: Vec::new(),
            places: None,
            discovery: Discovery::new(clients.clone(), environment.clone(), Observers::default()),
            clients,
            environment,
            stopping: AtomicBool::new(false),
            http: None,
            leader: None,
            observers: Observers::default(),
            telling: None,
        })
    }

    async fn ask(router: &Router, method: &str, path: &str) -> (u16, String, Response<()>) {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let (head, body) = router.clone().oneshot(request).await.unwrap().into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        (head.status.as_u16(), body, Response::from_parts(head, ()))
    }

    async fn get(router: &Router, path: &str) -> (u16, String) {
        let (status, body, _) = ask(router, "GET", path).await;
        (status, body)
    }

    fn answer(status: u16, body: &str) -> (u16, String) {
        (status, body.to_owned())
    }

    #[tokio::test]
    async fn an_operator_is_ready_between_its_start_and_its_stop() {
        let running = running();
        let router = router(Arc::downgrade(&running), Arc::default());
        assert_eq!(get(&router, "/readyz").await, answer(200, "ok"));
        assert_eq!(get(&router, "/healthz").await, answer(200, "ok"));
        running.stopping.store(true, Ordering::Relaxed);
        assert_eq!(get(&router, "/readyz").await, answer(503, "the operator is stopping\n"));
        assert_eq!(get(&router, "/healthz").await, answer(200, "ok"));
        drop(running);
        assert_eq!(get(&router, "/readyz").await, answer(503, "the operator is not running\n"));
        assert_eq!(get(&router, "/healthz").await, answer(200, "ok"));
    }

    #[tokio::test]
    async fn metrics_are_served_as_prometheus_expects_them() {
        let metrics = Arc::new(PrometheusMetrics::default());
        let observer =
            MetricsObserver::new(Recorders { given: None, served: Some(metrics.recorder.clone()) });
        let key = ObjectKey::namespaced("shop", "one");
        observer.observe(&Observation::PrimaryAdded { controller: "web", key: &key });
        let router = router(Weak::new(), metrics);
        let (status, body, head) = ask(&router, "GET", "/metrics").await;
        assert_eq!(status, 200);
        assert!(body.contains(r#"custom_resources{controller_name="web"} 1"#), "{body}");
        assert_eq!(head.headers()[CONTENT_TYPE], PROMETHEUS_TEXT);
    }

    #[tokio::test]
    async fn other_paths_and_methods_are_refused() {
        let router = router(Weak::new(), Arc::default());
        assert_eq!(get(&router, "/").await.0, 404);
        assert_eq!(ask(&router, "POST", "/readyz").await.0, 405);
        let (status, body, _) = ask(&router, "HEAD", "/readyz").await;
        assert_eq!((status, body.as_str()), (503, ""));
    }
}
