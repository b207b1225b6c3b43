//! A cluster's configuration from a kubeconfig, with the file of its certificate authorities, if it names one.

use std::path::PathBuf;

use kube::{
    Config,
    config::{InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError},
};

/// The configuration that a kubeconfig describes.
///
/// As with [`Config::from_custom_kubeconfig`]; but if it names a file of certificate authorities, that file is read
/// again about once a minute, as the one in a pod is: connections made after that trust the file's new contents.
///
/// # Errors
/// If the kubeconfig is incomplete, or one of its files can't be read.
pub async fn from_kubeconfig(
    kubeconfig: Kubeconfig,
    options: &KubeConfigOptions,
) -> Result<Config, KubeconfigError> {
    let trusted = authorities(&kubeconfig, options);
    let mut config = Config::from_custom_kubeconfig(kubeconfig, options).await?;
    config.root_cert_file = trusted;
    Ok(config)
}

/// The configuration that the environment suggests: that of the current kubeconfig, or of the pod around.
pub(crate) async fn infer() -> Result<Config, InferConfigError> {
    let mut config = Config::infer().await?;
    // A pod's names its file itself.
    if config.root_cert_file.is_none()
        && let Ok(kubeconfig) = Kubeconfig::read()
    {
        config.root_cert_file = authorities(&kubeconfig, &KubeConfigOptions::default());
    }
    Ok(config)
}

/// The file of certificate authorities, unless they are in the kubeconfig itself.
fn authorities(kubeconfig: &Kubeconfig, options: &KubeConfigOptions) -> Option<PathBuf> {
    let context = options.context.as_ref().or(kubeconfig.current_context.as_ref())?;
    let context = kubeconfig.contexts.iter().find(|known| known.name == *context)?.context.as_ref()?;
    let cluster = options.cluster.as_ref().unwrap_or(&context.cluster);
    let cluster = kubeconfig.clusters.iter().find(|known| known.name == *cluster)?.cluster.as_ref()?;
    if cluster.certificate_authority_data.is_some() {
        return None;
    }
    cluster.certificate_authority.as_ref().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_authorities_are_those_of_the_context_s_cluster_and_what_stands_inline_counts_more() {
        let cluster = |name: &str, cluster| json!({ "name": name, "cluster": cluster });
        let context = |name: &str| json!({ "name": name, "context": { "cluster": name, "user": "u" } });
        let kubeconfig: Kubeconfig = serde_json::from_value(json!({
            "current-context": "file",
            "contexts": [context("file"), context("inline"), context("none"), context("missing")],
            "clusters": [
                cluster("file", json!({ "server": "https://a", "certificate-authority": "/ca.pem" })),
                cluster("inline", json!({
                    "server": "https://b", "certificate-authority": "/b.pem", "certificate-authority-data": "Yg==",
                })),
                cluster("none", json!({ "server": "https://c" })),
            ],
        }))
        .expect("a kubeconfig");
        let of = |context: Option<&str>, cluster: Option<&str>| {
            let (context, cluster) = (context.map(str::to_owned), cluster.map(str::to_owned));
            authorities(&kubeconfig, &KubeConfigOptions { context, cluster, ..KubeConfigOptions::default() })
        };
        assert_eq!(of(None, None), Some("/ca.pem".into()));
        for context in ["inline", "none", "missing", "unknown"] {
            assert_eq!(of(Some(context), None), None, "{context}");
        }
        assert_eq!(of(Some("none"), Some("file")), Some("/ca.pem".into()));
    }
}
