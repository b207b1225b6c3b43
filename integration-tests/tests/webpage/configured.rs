//! `run` with settings from a file, the environment and its options: which of them takes precedence, and the reports of wrong ones.

use std::{fs, net::SocketAddr, path::Path};

use integration_tests::prelude::*;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

use crate::support::{Running, until, webpage};

const OPERATOR: &str = include_str!("../../../samples/webpage/deploy/operator.yaml");

/// Names a server that never answers: this test shows what happens before any request to a cluster.
const NOWHERE: &str = "\
apiVersion: v1
kind: Config
current-context: nowhere
clusters: [{ name: nowhere, cluster: { server: 'http://127.0.0.1:1' } }]
users: [{ name: nobody, user: {} }]
contexts: [{ name: nowhere, context: { cluster: nowhere, user: nobody, namespace: default } }]
";

/// A command whose cluster never answers.
fn nowhere(folder: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let kubeconfig = folder.join("kubeconfig");
    fs::write(&kubeconfig, NOWHERE)?;
    let mut command = webpage(arguments);
    command.env("KUBECONFIG", kubeconfig);
    Ok(command)
}

/// An address on which nothing listens at the moment.
fn free() -> anyhow::Result<SocketAddr> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// The status of the answer to a GET; `None` while nothing listens.
async fn get(address: SocketAddr, path: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

async fn listens(address: SocketAddr) -> anyhow::Result<()> {
    until("the listener", async || get(address, "/healthz").await.filter(|status| *status == 200)).await?;
    Ok(())
}

#[tokio::test]
async fn a_file_yields_to_a_variable_and_both_to_an_option() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (of_file, of_variable, of_option) = (free()?, free()?, free()?);
    let file = folder.path().join("operator.yaml");
    fs::write(&file, format!("operator:\n  http-address: {of_file}\n  check-crd: false\n"))?;
    let file = file.to_str().context("a path of text")?;
    let option = format!("--http={of_option}");
    for (with_variable, with_option, expected) in
        [(false, false, of_file), (true, false, of_variable), (true, true, of_option)]
    {
        let mut arguments = vec!["run", "--config", file];
        arguments.extend(with_option.then_some(&*option));
        let mut command = nowhere(folder.path(), &arguments)?;
        if with_variable {
            command.env("OPERATOR_HTTP_ADDRESS", of_variable.to_string());
        }
        let mut run = Running::start(command)?;
        let listening = async || {
            for address in [of_file, of_variable, of_option] {
                if get(address, "/healthz").await == Some(200) {
                    return Some(address);
                }
            }
            None
        };
        assert_eq!(until("a listener", listening).await?, expected, "{arguments:?}");
        run.says("these settings don't come from the code").await?;
        let said = run.said.last().cloned().unwrap_or_default();
        assert!(said.contains("operator.check-crd") && said.contains("operator.yaml:3"), "{said}");
        run.signal("TERM").await?;
        assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);
    }
    Ok(())
}

#[tokio::test]
async fn all_wrong_settings_are_told_at_once_and_end_with_78() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let file = folder.path().join("operator.yaml");
    let text = "\
operator:
  controller.webpage-operator: { retry.max-attempts: many }
  controller.webpages.finalizer: a.b/c
operator.close-client-on-stop: true
";
    fs::write(&file, text)?;
    let path = file.to_str().context("a path of text")?;
    // It ends before it looks for a cluster.
    let mut command = webpage(&["run", "--config", path, "--leader-election=Pages"]);
    command.env("KUBECONFIG", "/nonexistent").env("OPERATOR_CHEK_CRD", "true");
    let output = command.output().await?;
    assert_eq!(output.status.code(), Some(78));
    assert!(output.stdout.is_empty());
    let expected = format!(
        "\
✖ variable OPERATOR_CHEK_CRD: no key has this variable
  why   nothing reads it, and it would have no effect
  write `OPERATOR_CHECK_CRD`, if that is what is meant
✖ {path}:2: `operator.controller.webpage-operator.retry.max-attempts` can't be `many`
  why   not a whole number between 0 and 4294967295
  write a number, for example `5`; `0` for none
✖ {path}:3: `operator.controller.webpages.finalizer` belongs to a controller that doesn't exist
  why   this operator has no controller `webpages`, only `webpage-operator`
  write `operator.controller.NAME.finalizer` with the name of one of them
✖ {path}:4: `operator.close-client-on-stop` has no meaning here
  why   an operator makes its clients itself, and always closes them when it stops
  write nothing: leave the key out
✖ --leader-election: the leader election can't work with these settings
  why   lease name `Pages`: use lower-case letters, digits, `-` and `.`, as it becomes the name of an object
  write other values below `operator.leader-election`
"
    );
    assert_eq!(String::from_utf8(output.stderr)?, expected);

    let missing = webpage(&["run", "--config", "/nonexistent.yaml"]).output().await?;
    assert_eq!(missing.status.code(), Some(78));
    let said = String::from_utf8(missing.stderr)?;
    assert!(said.starts_with("✖ /nonexistent.yaml: the file can't be read\n  why   No such file"), "{said}");
    // The other commands know the code alone.
    let crd = webpage(&["crd"]).env("OPERATOR_CHEK_CRD", "true").output().await?;
    assert_eq!(crd.status.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn the_deployment_serves_what_its_probes_ask_for() -> anyhow::Result<()> {
    let cluster = TestCluster::in_process();
    cluster.apply_files("default", [webpage::RBAC]).await?;
    let deployment = cluster.apply_yaml("default", OPERATOR).await?;
    let container = &deployment[0].data["spec"]["template"]["spec"]["containers"][0];
    let port = &container["ports"][0];
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let listens_at = format!("--http=0.0.0.0:{}", port["containerPort"]);
    let address = free()?;
    let mut arguments = texts(&container["args"]);
    let http = arguments.iter_mut().find(|argument| **argument == listens_at).context("it doesn't listen")?;
    *http = format!("--http={address}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();

    let folder = TempDir::new()?;
    let _run = Running::start(nowhere(folder.path(), &arguments)?)?;
    listens(address).await?;
    // No cluster answers: that is no reason for another process, and one not to be ready.
    for (probe, path, status) in [("livenessProbe", "/healthz", 200), ("readinessProbe", "/readyz", 503)] {
        let asks = &container[probe]["httpGet"];
        assert_eq!((&asks["path"], &asks["port"]), (&Value::from(path), &port["name"]), "{probe}");
        assert_eq!(get(address, path).await, Some(status), "{probe}");
    }
    assert_eq!(get(address, "/metrics").await, Some(200));
    Ok(())
}
