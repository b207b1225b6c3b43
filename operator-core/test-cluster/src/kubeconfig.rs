//! Self-contained kubeconfigs: no other file is needed.

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use crate::{certs::Identity, error::Error};

/// The text of a kubeconfig for one user of the API server at `127.0.0.1:port`. `name` is the cluster's and the context's.
pub(crate) fn kubeconfig(
    name: &str,
    port: u16,
    ca: &str,
    user: &str,
    identity: &Identity,
) -> Result<String, Error> {
    let value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": name, "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "certificate-authority-data": base64(ca),
        }}],
        "users": [{ "name": user, "user": {
            "client-certificate-data": base64(&identity.certificate),
            "client-key-data": base64(&identity.key),
        }}],
        "contexts": [{ "name": name, "context": { "cluster": name, "user": user } }],
        "current-context": name,
    });
    serde_saphyr::to_string(&value)
        .map_err(|error| Error::Yaml { what: "the kubeconfig".to_owned(), message: error.to_string() })
}

/// Kubernetes writes bytes as base64, and so does its type for them.
fn base64(text: &str) -> Value {
    json!(ByteString(text.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kube_reads_what_is_written() {
        let identity = Identity { certificate: "certificate".to_owned(), key: "key".to_owned() };
        let ca = crate::certs::Authority::new().unwrap().certificate();
        let text = kubeconfig("test", 6443, &ca, "admin", &identity).unwrap();
        let read = kube::config::Kubeconfig::from_yaml(&text).unwrap();
        let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.unwrap();
        assert_eq!(config.cluster_url, "https://127.0.0.1:6443/");
        assert_eq!(config.auth_info.client_certificate_data.as_deref(), Some("Y2VydGlmaWNhdGU="));
        assert_eq!(config.root_cert.map(|certificates| certificates.len()), Some(1));
    }
}
