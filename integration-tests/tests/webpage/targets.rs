//! Which cluster a command is about, or which mistake is reported: kubeconfigs as kubectl reads them, contexts, a pod's own files,
//! namespaces and proxies.

use std::{path::Path, time::Duration};

use anyhow::{Result, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::Command,
    time::timeout,
};

use crate::support::{PATIENCE, Running, webpage};

/// Nothing answers there.
const SERVER: &str = "https://10.255.255.1:6443";

/// Nothing answers there either, which is known at once; and it isn't a loopback address.
const HERE: &str = "https://0.0.0.0:1";

fn kubeconfig(server: &str, more: &str) -> String {
    format!(
        "current-context: first
contexts:
- name: first
  context: {{cluster: c, user: u, namespace: shop}}
- name: second
  context: {{cluster: d, user: u}}
- name: dangling
  context: {{cluster: missing, user: u}}
clusters:
- name: c
  cluster: {{server: '{server}'{more}}}
- name: d
  cluster: {{server: 'https://10.255.255.2'}}
users:
- name: u
  user: {{token: secret}}
"
    )
}

/// `run` with these files in its `KUBECONFIG`, in an environment that says nothing else.
fn run(files: &[&Path], arguments: &[&str]) -> Command {
    let mut command = webpage(&["run"]);
    command.args(arguments).env("KUBECONFIG", std::env::join_paths(files).expect("paths without a colon"));
    for name in ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"] {
        command.env_remove(name);
    }
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

/// The files of the table.
struct Files {
    _folder: tempfile::TempDir,
    good: std::path::PathBuf,
    broken: std::path::PathBuf,
    empty: std::path::PathBuf,
    undecided: std::path::PathBuf,
    missing: std::path::PathBuf,
}

impl Files {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text)?;
            anyhow::Ok(path)
        };
        let good = kubeconfig(SERVER, "");
        Ok(Self {
            good: file("good", &good)?,
            broken: file("broken", "clusters: {")?,
            empty: file("empty", "")?,
            undecided: file("undecided", &good.replace("current-context: first", "current-context: ''"))?,
            missing: folder.path().join("missing"),
            _folder: folder,
        })
    }
}

#[tokio::test]
async fn the_first_line_says_which_cluster_it_is() -> Result<()> {
    let Files { good, missing, undecided, .. } = &Files::new()?;
    let first = "cluster: first (https://10.255.255.1:6443)  namespace: shop  as: u";
    let second = "cluster: second (https://10.255.255.2)  namespace: default  as: u";
    let rows: [(&[&Path], &[&str], &str); 6] = [
        (&[good], &[], first),
        (&[missing, good], &[], first),
        (&[good, missing], &[], first),
        (&[undecided, good], &[], first),
        (&[good], &["--context", "second"], second),
        (&[undecided], &["--context", "second", "--namespaces", "shop,bank"], second),
    ];
    for (files, arguments, line) in rows {
        // A pod's own cluster doesn't take precedence.
        let mut command = run(files, arguments);
        command.env("KUBERNETES_SERVICE_HOST", "10.255.255.9").env("KUBERNETES_SERVICE_PORT", "443");
        let mut running = Running::start(command)?;
        running.says("cluster: ").await?;
        ensure!(running.said[0].starts_with(line), "{files:?} {arguments:?}: {:?}", running.said);
    }
    Ok(())
}

#[tokio::test]
async fn a_mistake_is_reported_and_no_other_cluster_is_used() -> Result<()> {
    let Files { good, broken, empty, undecided, missing, .. } = &Files::new()?;
    const HOST: (&str, &str) = ("KUBERNETES_SERVICE_HOST", "10.255.255.9");
    const PORT: (&str, &str) = ("KUBERNETES_SERVICE_PORT", "443");
    type Row<'r> = (&'r [&'r Path], &'r [&'r str], &'r [(&'r str, &'r str)], &'r [&'r str]);
    let rows: [Row<'_>; 13] = [
        (&[missing], &[], &[], &["no cluster is configured", "No such file", "export KUBECONFIG="]),
        (&[empty], &[], &[], &["no cluster is configured", "export KUBECONFIG="]),
        (&[broken], &[], &[], &["the kubeconfig can't be used", "kubectl config view"]),
        (&[broken], &[], &[HOST, PORT], &["the kubeconfig can't be used"]),
        (&[missing, broken], &[], &[], &["the kubeconfig can't be used"]),
        (&[undecided], &[], &[], &["no current context", "first, second, dangling", "--context NAME"]),
        (&[good], &["--context", "secnd"], &[], &["no context `secnd`", "first, second", "--context NAME"]),
        (&[good], &["--context", "secnd"], &[HOST, PORT], &["no context `secnd`"]),
        (&[good], &["--context", "dangling"], &[], &["the kubeconfig can't be used", "missing"]),
        (&[missing], &["--context", "first"], &[HOST, PORT], &["no cluster is configured"]),
        (
            &[missing],
            &[],
            &[HOST, PORT],
            &["the pod's service account can't be used", "automountServiceAccountToken"],
        ),
        (&[missing], &[], &[HOST], &["the pod's service account can't be used", "environment variable"]),
        (
            &[missing],
            &[],
            &[HOST, ("KUBERNETES_SERVICE_PORT", "tcp://10.0.0.1:443")],
            &["the pod's service account can't be used", "port"],
        ),
    ];
    for (files, arguments, environment, words) in rows {
        let mut command = run(files, arguments);
        let output = timeout(PATIENCE, command.envs(environment.iter().copied()).output()).await??;
        let said = String::from_utf8(output.stderr)?;
        assert!(output.status.code() == Some(1), "{files:?} {arguments:?}: {:?} {said}", output.status);
        assert!(said.lines().count() == 3, "{said}");
        for word in words {
            assert!(said.contains(word), "{files:?} {arguments:?} {environment:?}: no {word:?} in\n{said}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_namespace_that_there_can_t_be_is_a_mistake() -> Result<()> {
    let files = Files::new()?;
    for (names, code) in [("shop,,bank", 64), ("*", 78), ("Shop", 78), ("a_b", 78), ("shop,-a", 78), ("", 64)]
    {
        let output = run(&[&files.good], &["--namespaces", names]).output();
        let output = timeout(PATIENCE, output).await??;
        let said = String::from_utf8(output.stderr)?;
        ensure!(output.status.code() == Some(code), "{names:?}: {:?} {said}", output.status);
    }
    Ok(())
}

/// What comes first to a proxy, if anything comes.
async fn first_bytes(listener: &TcpListener, patience: Duration) -> Option<Vec<u8>> {
    let read = async {
        let (mut caller, _): (TcpStream, _) = listener.accept().await.ok()?;
        let mut bytes = vec![0; 256];
        let length = caller.read(&mut bytes).await.ok()?;
        bytes.truncate(length);
        // A refusal, so that the caller needn't wait.
        let _ = caller.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
        Some(bytes)
    };
    timeout(patience, read).await.ok().flatten()
}

#[tokio::test]
async fn a_proxy_is_used_where_kubectl_uses_one() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("kubeconfig");
    let begin =
        |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    // The variables with the address of the proxy in them, what the kubeconfig adds, and how the proxy is greeted.
    type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str, Option<&'static str>);
    let rows: [Row; 8] = [
        (SERVER, &[("HTTPS_PROXY", "http://PROXY")], "", Some("CONNECT 10.255.255.1:6443")),
        (SERVER, &[("https_proxy", "PROXY")], "", Some("CONNECT 10.255.255.1:6443")),
        (SERVER, &[], ", proxy-url: 'http://PROXY'", Some("CONNECT 10.255.255.1:6443")),
        (SERVER, &[("NO_PROXY", "*")], ", proxy-url: 'http://PROXY'", Some("CONNECT 10.255.255.1:6443")),
        (SERVER, &[], ", proxy-url: 'socks5://PROXY'", Some("\u{5}")),
        (HERE, &[("HTTPS_PROXY", "http://PROXY")], "", Some("CONNECT 0.0.0.0:1")),
        (HERE, &[("HTTPS_PROXY", "http://PROXY"), ("NO_PROXY", "0.0.0.0/8")], "", None),
        ("https://127.0.0.1:1", &[("HTTPS_PROXY", "http://PROXY")], "", None),
    ];
    for (server, environment, more, greeting) in rows {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let proxy = listener.local_addr()?.to_string();
        std::fs::write(&file, kubeconfig(server, &more.replace("PROXY", &proxy)))?;
        let mut command = run(&[&file], &[]);
        command.envs(environment.iter().map(|(name, value)| (*name, value.replace("PROXY", &proxy))));
        let mut running = Running::start(command)?;
        running.says("cluster: first").await?;
        match greeting {
            Some(greeting) => {
                let said = begin(&first_bytes(&listener, PATIENCE).await);
                ensure!(
                    said.as_deref().is_some_and(|said| said.starts_with(greeting)),
                    "{environment:?}{more}: {said:?}"
                );
            }
            None => {
                running.says("refused").await?;
                ensure!(
                    first_bytes(&listener, Duration::ZERO).await.is_none(),
                    "{environment:?}: the proxy was called"
                );
            }
        }
    }
    Ok(())
}
