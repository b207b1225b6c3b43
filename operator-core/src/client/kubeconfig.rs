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

/// The configuration of the environment: that of the current kubeconfig, or of the pod.
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

/// Whether the configuration that the environment suggests names a namespace: a pod's always does. The error is the
/// kubeconfig's context that names none.
pub(crate) fn names_namespace() -> Result<(), String> {
    Kubeconfig::read().map_or(Ok(()), |kubeconfig| context_names_namespace(&kubeconfig))
}

fn context_names_namespace(kubeconfig: &Kubeconfig) -> Result<(), String> {
    let Some(current) = &kubeconfig.current_context else { return Ok(()) };
    let context = kubeconfig.contexts.iter().find(|known| known.name == *current);
    match context.and_then(|context| context.context.as_ref()) {
        Some(context) if context.namespace.as_deref().is_none_or(str::is_empty) => Err(current.clone()),
        Some(_) | None => Ok(()),
    }
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
    fn only_a_context_that_names_its_namespace_does() {
        let of = |current: &str| {
            let context = |name: &str, namespace: serde_json::Value| json!({ "name": name, "context": { "cluster": "c", "user": "u", "namespace": namespace } });
            let kubeconfig: Kubeconfig = serde_json::from_value(json!({
                "current-context": current,
                "contexts": [context("named", json!("shop")), context("bare", json!(null)), context("empty", json!(""))],
            }))
            .expect("a kubeconfig");
            context_names_namespace(&kubeconfig)
        };
        assert_eq!(of("named"), Ok(()));
        assert_eq!((of("bare"), of("empty")), (Err("bare".to_owned()), Err("empty".to_owned())));
        assert_eq!(of("missing"), Ok(()), "another error tells that");
    }

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
