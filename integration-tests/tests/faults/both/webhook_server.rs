//! An admission webhook inside a test: a server with TLS, called by the API server.

use std::{convert::Infallible, net::Ipv4Addr};

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use integration_tests::prelude::*;
use k8s_openapi::ByteString;
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{self, ServerConfig, pki_types::PrivateKeyDer},
};

/// The webhook's answer about an object.
pub(super) enum Verdict {
    Allowed,
    Denied(&'static str),
    /// Allowed with these operations of a JSON patch.
    Changed(Value),
}

type Judge = dyn Fn(&Value) -> Verdict + Send + Sync;

/// A running webhook; it ends when it is dropped.
pub(super) struct Webhook {
    url: String,
    ca: ByteString,
    calls: Arc<AtomicUsize>,
    listening: JoinHandle<()>,
}

impl Webhook {
    /// Starts a webhook that judges each object by `judge`, with a certificate that is valid, or has expired.
    pub(super) async fn start(
        expired: bool,
        judge: impl Fn(&Value) -> Verdict + Send + Sync + 'static,
    ) -> Result<Self> {
        // A server without one stores the configuration, and calls nobody.
        cluster().await?.control_plane()?;
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let mut server = CertificateParams::default();
        server.subject_alt_names.push(SanType::IpAddress(Ipv4Addr::LOCALHOST.into()));
        if expired {
            server.not_after = rcgen::date_time_ymd(2001, 1, 1);
        }
        let key = KeyPair::generate()?;
        let certificate = server.signed_by(&key, &authority)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key)?;

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("https://{}/judge", listener.local_addr()?);
        let calls = Arc::<AtomicUsize>::default();
        let (acceptor, counted) = (TlsAcceptor::from(Arc::new(config)), Arc::clone(&calls));
        let judge: Arc<Judge> = Arc::new(judge);
        let listening = tokio::spawn(async move {
            // The API server keeps its connections: they end with the webhook.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(acceptor.clone(), stream, Arc::clone(&counted), Arc::clone(&judge)));
            }
        });
        Ok(Self { url, ca: ByteString(authority.pem().into_bytes()), calls, listening })
    }

    /// The number of its requests.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The configuration for the API server: `kind` is that of the configuration, and only config maps of the namespace are
    /// asked about.
    pub(super) fn configuration(&self, kind: &str, name: &str, namespace: &str) -> Value {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": { "name": name },
            "webhooks": [{
                "name": format!("{name}.faults.operator-core.io"),
                "clientConfig": { "url": self.url, "caBundle": self.ca },
                "rules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                    "operations": ["CREATE", "UPDATE"],
                }],
                "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
                "failurePolicy": "Fail",
                "timeoutSeconds": 5,
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }],
        })
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, calls: Arc<AtomicUsize>, judge: Arc<Judge>) {
    // A client that doesn't trust the certificate goes away.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let answer = service_fn(move |request: http::Request<Incoming>| {
        calls.fetch_add(1, Ordering::SeqCst);
        let judge = Arc::clone(&judge);
        async move {
            let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let review: Value = serde_json::from_slice(&body).unwrap_or_default();
            let answer = reviewed(&review, &*judge).to_string();
            let response = Response::builder().header("content-type", "application/json");
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(answer))).expect("a valid response"))
        }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

fn reviewed(review: &Value, judge: &Judge) -> Value {
    let request = &review["request"];
    let mut response = json!({ "uid": request["uid"], "allowed": true });
    match judge(&request["object"]) {
        Verdict::Allowed => {}
        Verdict::Denied(message) => {
            response["allowed"] = json!(false);
            response["status"] = json!({ "message": message });
        }
        Verdict::Changed(patch) => {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(ByteString(patch.to_string().into_bytes()));
        }
    }
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response })
}
