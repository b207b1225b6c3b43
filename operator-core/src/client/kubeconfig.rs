//! A cluster's configuration from a kubeconfig, with the file of its certificate authorities, if it names one, and the proxy that
//! kubectl would use; and the token of a file.

use std::{env, fs, net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

use http::{HeaderValue, Request, Uri, header::AUTHORIZATION};
use hyper_util::client::proxy::matcher::Matcher;
use kube::{
    Config,
    config::{AuthInfo, Cluster, InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use parking_lot::Mutex;
use tokio::time::Instant;

/// The configuration that a kubeconfig describes.
///
/// As with [`Config::from_custom_kubeconfig`]; but if it names a file of certificate authorities, that file is read
/// again about once a minute, as the one in a pod is: connections made after that trust the file's new contents. A proxy
/// is used as by kubectl: `proxy-url` always, and the one in the environment unless the server is on this machine or
/// `NO_PROXY` names it.
///
/// # Errors
/// If the kubeconfig is incomplete, or one of its files can't be read.
pub async fn from_kubeconfig(
    kubeconfig: Kubeconfig,
    options: &KubeConfigOptions,
) -> Result<Config, KubeconfigError> {
    let cluster = cluster_of(&kubeconfig, options);
    let declared = cluster.and_then(|cluster| cluster.proxy_url.clone());
    let trusted = cluster.and_then(authorities);
    let mut config = Config::from_custom_kubeconfig(kubeconfig, options).await?;
    config.root_cert_file = trusted;
    config.proxy_url = proxy(declared, &config.cluster_url, |name| env::var(name).ok())?;
    Ok(config)
}

/// The configuration of the environment: that of the current kubeconfig, or of the pod.
pub(crate) async fn infer() -> Result<Config, InferConfigError> {
    if let Ok(kubeconfig) = Kubeconfig::read()
        && let Ok(mut config) = from_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await
    {
        config.apply_debug_overrides();
        return Ok(config);
    }
    Config::infer().await
}

/// The proxy for requests to this server: the one that the kubeconfig declares, or else that of the environment.
fn proxy(
    declared: Option<String>,
    server: &Uri,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Uri>, KubeconfigError> {
    let either = |name: &str| {
        [name.to_owned(), name.to_lowercase()]
            .iter()
            .filter_map(|name| variable(name))
            .find(|said| !said.is_empty())
    };
    let of_environment = || {
        let scheme = server.scheme_str().unwrap_or("https").to_uppercase();
        let (proxy, host) = (either(&format!("{scheme}_PROXY"))?, server.host()?.trim_matches(['[', ']']));
        let is_here = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let excepted = either("NO_PROXY").unwrap_or_default();
        if is_here || host == "localhost" || excepted.split(',').any(|entry| entry.trim() == "*") {
            return None;
        }
        // An entry may have a port, and is then about this one only.
        let port = format!(":{}", server.port_u16().unwrap_or(if scheme == "HTTP" { 80 } else { 443 }));
        let excepted =
            excepted.split(',').map(|entry| entry.trim().trim_end_matches(&port).replace("*.", "."));
        let excepted = excepted.collect::<Vec<_>>().join(",");
        Matcher::builder().all("http://proxy").no(excepted).build().intercept(server).map(|_| proxy)
    };
    let Some(proxy) = declared.filter(|proxy| !proxy.is_empty()).or_else(of_environment) else {
        return Ok(None);
    };
    let proxy = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
    proxy.replacen("socks5h:", "socks5:", 1).parse().map(Some).map_err(KubeconfigError::ParseProxyUrl)
}

/// Adds the token in a file, as a pod has it, to requests, if the credentials use one. The file is read once a minute, and white
/// space around the token doesn't matter: kube makes a header of the whole file, which fails because of a newline.
pub(super) fn authorizing<B>(who: &mut AuthInfo) -> impl Fn(Request<B>) -> Request<B> + Clone + use<B> {
    let read = |file: &str| {
        let token = fs::read_to_string(file).ok()?;
        let mut header = HeaderValue::try_from(format!("Bearer {}", token.trim())).ok()?;
        header.set_sensitive(true);
        Some(header)
    };
    let others = who.token.is_some() || who.username.is_some() || who.auth_provider.is_some();
    // kube reports a file that can't be read. The file takes precedence over a program.
    let file = who.token_file.take_if(|file| !others && read(file).is_some());
    who.exec.take_if(|_| file.is_some());
    let known = Arc::new(Mutex::new((None, Instant::now())));
    move |mut request| {
        let Some(file) = &file else { return request };
        let (token, at) = &mut *known.lock();
        if token.is_none() || at.elapsed() >= FRESH {
            // If the file is gone, the last token may still be valid.
            (*token, *at) = (read(file).or_else(|| token.take()), Instant::now());
        }
        request.headers_mut().extend(token.clone().map(|token| (AUTHORIZATION, token)));
        request
    }
}

/// How long a token that was read is used.
const FRESH: Duration = Duration::from_secs(60);

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

/// The cluster of the context.
fn cluster_of<'k>(kubeconfig: &'k Kubeconfig, options: &'k KubeConfigOptions) -> Option<&'k Cluster> {
    let context = options.context.as_ref().or(kubeconfig.current_context.as_ref())?;
    let context = kubeconfig.contexts.iter().find(|known| known.name == *context)?.context.as_ref()?;
    let cluster = options.cluster.as_ref().unwrap_or(&context.cluster);
    kubeconfig.clusters.iter().find(|known| known.name == *cluster)?.cluster.as_ref()
}

/// The file of certificate authorities, unless they are in the kubeconfig itself.
fn authorities(cluster: &Cluster) -> Option<PathBuf> {
    match cluster.certificate_authority_data {
        Some(_) => None,
        None => cluster.certificate_authority.as_ref().map(PathBuf::from),
    }
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
            let options = KubeConfigOptions { context, cluster, ..KubeConfigOptions::default() };
            cluster_of(&kubeconfig, &options).and_then(authorities)
        };
        assert_eq!(of(None, None), Some("/ca.pem".into()));
        for context in ["inline", "none", "missing", "unknown"] {
            assert_eq!(of(Some(context), None), None, "{context}");
        }
        assert_eq!(of(Some("none"), Some("file")), Some("/ca.pem".into()));
    }

    fn proxied(declared: Option<&str>, server: &str, variables: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let variable = |name: &str| variable(name).map(|(_, value)| (*value).to_owned());
        let server = server.parse().expect("an address");
        proxy(declared.map(str::to_owned), &server, variable).expect("an address").map(|uri| uri.to_string())
    }

    #[test]
    fn a_proxy_is_used_where_kubectl_uses_one() {
        const SERVER: &str = "https://10.0.0.1:6443";
        let of = |server: &str, no: &str| {
            proxied(None, server, &[("HTTPS_PROXY", "http://p:3128"), ("NO_PROXY", no)]).is_some()
        };
        let table = [
            (SERVER, "", true),
            (SERVER, "10.0.0.1", false),
            (SERVER, " 10.0.0.0/8 ,", false),
            (SERVER, "10.0.0.1:6443", false),
            (SERVER, "10.0.0.1:443", true),
            (SERVER, "10.0.0.2,p", true),
            (SERVER, "*", false),
            ("https://api.example.com", "example.com", false),
            ("https://api.example.com", ".example.com", false),
            ("https://api.example.com", "*.example.com", false),
            ("https://api.example.com", "api.example.com:443", false),
            ("https://api.example.com", "ample.com", true),
            ("https://127.0.0.1:6443", "", false),
            ("https://localhost:6443", "", false),
            ("https://[::1]:6443", "", false),
            ("https://[fd00::1]:6443", "fd00::1", false),
            ("https://[fd00::1]:6443", "fd00::2", true),
            ("http://10.0.0.1:8080", "", false),
        ];
        for (server, no, used) in table {
            assert_eq!(of(server, no), used, "{server} beside NO_PROXY={no}");
        }
        let proxy = |declared, variables: &[_]| proxied(declared, SERVER, variables).unwrap_or_default();
        assert_eq!(proxy(None, &[("https_proxy", "p:3128"), ("HTTPS_PROXY", "")]), "http://p:3128/");
        assert_eq!(proxy(None, &[("HTTP_PROXY", "http://p:3128")]), "", "for servers without TLS");
        let declared = Some("socks5h://s:1080");
        assert_eq!(proxy(declared, &[("NO_PROXY", "*"), ("HTTPS_PROXY", "p:1")]), "socks5://s:1080/");
        assert_eq!(proxied(Some("p"), "https://127.0.0.1", &[]).as_deref(), Some("http://p/"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_read_once_a_minute_and_has_no_white_space() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        let write = |text: &str| fs::write(&file, text).expect("a file");
        write("one\n");
        let named = Some(file.display().to_string());
        let mut who = AuthInfo { token_file: named.clone(), ..AuthInfo::default() };
        let authorized = authorizing(&mut who);
        assert!(who.token_file.is_none());
        let sent = || authorized(Request::new(())).headers()[AUTHORIZATION].clone();
        assert_eq!(sent(), "Bearer one");
        write(" two ");
        assert_eq!(sent(), "Bearer one");
        tokio::time::advance(FRESH).await;
        assert_eq!(sent(), "Bearer two");
        assert!(sent().is_sensitive());
        fs::remove_file(&file).expect("it was there");
        tokio::time::advance(FRESH).await;
        assert_eq!(sent(), "Bearer two");

        let mut who = AuthInfo { token_file: named, ..AuthInfo::default() };
        let authorized = authorizing(&mut who);
        assert!(who.token_file.is_some(), "kube reports that it is missing");
        assert!(authorized(Request::new(())).headers().is_empty());
    }
}
