//! The kubeconfig of the environment, read as kubectl reads it: missing files in the list of `KUBECONFIG`, base64 in several lines and
//! empty fields don't matter.

use std::{env, ffi::OsStr, io};

use kube::config::{Kubeconfig, KubeconfigError};
use serde_json::Value;

/// The kubeconfig of the environment. Files that don't exist are left out, as long as one does.
pub(super) fn read_kubeconfig() -> Result<Kubeconfig, KubeconfigError> {
    read_list(env::var_os("KUBECONFIG").as_deref())
}

fn read_list(list: Option<&OsStr>) -> Result<Kubeconfig, KubeconfigError> {
    let files = list.iter().flat_map(|list| env::split_paths(list).collect::<Vec<_>>());
    let (mut merged, mut missing) = (None, None);
    for file in files.filter(|file| !file.as_os_str().is_empty()) {
        match Kubeconfig::read_from(&file) {
            Ok(mut next) => {
                // An empty context is none, and leaves the choice to the next file.
                next.current_context.take_if(|name| name.is_empty());
                merged = Some(match merged {
                    Some(merged) => Kubeconfig::merge(merged, next)?,
                    None => next,
                });
            }
            Err(KubeconfigError::ReadConfig(error, file)) if error.kind() == io::ErrorKind::NotFound => {
                missing = Some(KubeconfigError::ReadConfig(error, file));
            }
            Err(error) => return Err(error),
        }
    }
    match (merged, missing) {
        (Some(merged), _) => Ok(tidied(merged)),
        (None, Some(missing)) => Err(missing),
        (None, None) => Kubeconfig::read().map(tidied),
    }
}

/// The same without white space in base64, and without empty fields, which count as missing.
fn tidied(kubeconfig: Kubeconfig) -> Kubeconfig {
    let Ok(mut all) = serde_json::to_value(&kubeconfig) else { return kubeconfig };
    for (list, item) in [("clusters", "cluster"), ("users", "user")] {
        let items = all.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for fields in items.filter_map(|named| named.get_mut(item)?.as_object_mut()) {
            for (_, value) in fields.iter_mut().filter(|(name, _)| name.ends_with("-data")) {
                if let Value::String(text) = value {
                    text.retain(|c| !c.is_whitespace());
                }
            }
            fields.retain(|_, value| value != "");
        }
    }
    serde_json::from_value(all).unwrap_or(kubeconfig)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use kube::config::KubeConfigOptions;
    use serde_json::json;

    use super::*;
    use crate::client::from_kubeconfig;

    #[test]
    fn a_missing_file_of_the_list_is_left_out_as_long_as_there_is_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let missing = folder.path().join("missing");
        let first =
            file("first", "current-context: \"\"\nclusters: [{name: a, cluster: {server: 'https://a'}}]\n");
        let second =
            file("second", "current-context: b\nclusters: [{name: a, cluster: {server: 'https://b'}}]\n");
        let broken = file("broken", "clusters: {");
        let read = |files: &[&PathBuf]| {
            let list = env::join_paths(files).expect("a list");
            read_list(Some(&list)).map(|read| {
                let server = read.clusters.first().and_then(|named| named.cluster.clone()?.server);
                (read.current_context, server)
            })
        };
        let merged = (Some("b".to_owned()), Some("https://a".to_owned()));
        assert_eq!(read(&[&missing, &first, &missing, &second]).expect("two files"), merged);
        assert!(matches!(read(&[&missing]), Err(KubeconfigError::ReadConfig(..))));
        assert!(matches!(read(&[&missing, &broken]), Err(KubeconfigError::Parse(_))));
    }

    #[tokio::test]
    async fn base64_in_lines_and_empty_fields_are_read_as_kubectl_does() {
        let kubeconfig = |cluster: Value, user: Value| {
            let all = json!({
                "current-context": "c",
                "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
                "clusters": [{ "name": "c", "cluster": cluster }],
                "users": [{ "name": "u", "user": user }],
            });
            serde_json::from_value::<Kubeconfig>(all).expect("a kubeconfig")
        };
        let cluster = json!({ "server": "https://a", "certificate-authority": "/ca.pem", "certificate-authority-data": "", "proxy-url": "" });
        let user = json!({ "client-key-data": "YQ\n==\n", "client-certificate-data": "Y\r\nQ==", "client-key": "", "token": "" });
        let read = tidied(kubeconfig(cluster, user));
        let found = read.clusters[0].cluster.clone().expect("a cluster");
        assert_eq!(found.certificate_authority.as_deref(), Some("/ca.pem"));
        assert_eq!((found.certificate_authority_data, found.proxy_url), (None, None));
        let user = serde_json::to_value(read.auth_infos[0].auth_info.as_ref()).expect("a user");
        assert_eq!(user["client-key-data"], "YQ==");
        assert_eq!(user["client-certificate-data"], "YQ==");
        assert!(user.get("token").is_none() && user.get("client-key").is_none(), "{user}");
        let pem = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";
        let base64 = serde_json::to_value(k8s_openapi::ByteString(pem.as_bytes().to_vec())).expect("base64");
        let lines = base64.as_str().unwrap_or_default().chars().flat_map(|c| [c, '\n']).collect::<String>();
        let cluster = json!({ "server": "https://a", "certificate-authority-data": lines });
        let read = tidied(kubeconfig(cluster, json!({})));
        let config = from_kubeconfig(read, &KubeConfigOptions::default()).await;
        assert_eq!(config.expect("a configuration").root_cert, Some(vec![b"a".to_vec()]));
    }
}
