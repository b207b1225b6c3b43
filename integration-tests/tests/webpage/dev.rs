//! `dev`, as a user calls it.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use integration_tests::prelude::*;
use operator_core::testing::{Assets, Part};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, BufReader, Lines},
    process::Command,
    sync::Mutex,
};

use crate::support::{PATIENCE, Running, until, webpage};

/// Most of these tests start a whole control plane; one after the other is quicker than all at once.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// The server of `dev` without further arguments, and the real one.
const SERVERS: [(&[&str], &str); 2] = [
    (&["dev"], "cluster: embedded in this process (https://127.0.0.1:"),
    (&["dev", "--control-plane"], "cluster: control plane v1."),
];

#[tokio::test]
async fn once_goes_through_the_life_of_a_page_in_each_style() -> anyhow::Result<()> {
    for (style, _) in webpage::STYLES {
        for server in SERVERS {
            once_goes_through_the_life_of_a_page(style, server).await?;
        }
    }
    Ok(())
}

async fn once_goes_through_the_life_of_a_page(
    style: &str,
    (dev, first): (&[&str], &str),
) -> anyhow::Result<()> {
    let _turn = ONE_AT_A_TIME.lock().await;
    let output = webpage(dev).args(["--once", "--style", style]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    assert!(stderr.starts_with(first), "{stderr}");
    assert!(stderr.contains("as: system:serviceaccount:webpage-operator:webpage-operator"), "{stderr}");
    assert_eq!(stdout.matches(" step ").count(), 9, "{stdout}");
    for line in ["runs because created", "ConfigMap/hello-html", "ready after", "errorMessage"] {
        assert!(stdout.contains(line), "{line} is not in:\n{stdout}");
    }
    // Nodes are told as they change where there are some.
    assert_eq!(stdout.contains("○ web "), style != "low-level", "{stdout}");
    assert!(!stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'), "colour without a terminal");
    Ok(())
}

#[tokio::test]
async fn once_tells_an_error_by_its_exit_code() -> anyhow::Result<()> {
    let _turn = ONE_AT_A_TIME.lock().await;
    let broken = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/webpage/examples/broken.yaml");
    let output = webpage(&["dev", "--once", "--apply", broken]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(4), "{stdout}\n{stderr}");
    assert!(stdout.contains("WebPage default/broken  error: held: the html contains the word"), "{stdout}");
    Ok(())
}

/// The error names the mistake, and nothing was started.
#[tokio::test]
async fn what_cannot_be_read_or_written_is_named() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let missing = folder.path().join("missing");
    let manifest = missing.join("page.yaml").display().to_string();
    let output = webpage(&["dev", "--once", "--apply", &manifest]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(1), "{stdout}\n{stderr}");
    assert!(stderr.contains(&manifest) && stderr.contains("No such file"), "{stderr}");
    assert!(!stderr.contains("cluster:"), "{stderr}");

    let wrong = folder.path().join("page.yaml");
    std::fs::write(&wrong, "apiVersion: [")?;
    let wrong = wrong.display().to_string();
    let output = webpage(&["dev", "--once", "--apply", &wrong]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(1), "{stdout}\n{stderr}");
    assert!(stderr.contains("is not valid YAML"), "{stdout}\n{stderr}");

    for (arguments, _) in SERVERS {
        let output = webpage(arguments).arg("--once").env("TMPDIR", &missing).output().await?;
        let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        assert_eq!(output.status.code(), Some(1), "{stdout}\n{stderr}");
        assert!(stderr.contains(&missing.display().to_string()), "{stderr}");
        assert!(!missing.exists());
    }
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 1, "nothing but the test's own file");
    Ok(())
}

/// A machine with neither Go nor its build results.
#[tokio::test]
async fn the_life_of_a_page_needs_no_go_and_a_control_plane_does() -> anyhow::Result<()> {
    let empty = tempfile::tempdir()?;
    let bare = |arguments| {
        let mut bare = webpage(arguments);
        bare.env("PATH", empty.path()).env("XDG_CACHE_HOME", empty.path()).env("HOME", empty.path());
        bare.env_remove("KUBEBUILDER_ASSETS");
        bare
    };
    let output = bare(&["dev", "--once"]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    assert!(stderr.starts_with("cluster: embedded in this process "), "{stderr}");
    assert_eq!(stdout.matches(" step ").count(), 9, "{stdout}");

    let output = bare(&["dev", "--once", "--control-plane"]).output().await?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("no `go` on the PATH"), "{stderr}");
    Ok(())
}

/// A newcomer's first view: the page's life within five seconds, and kubectl's watch beside it.
#[tokio::test]
async fn kubectl_watches_the_pages_of_dev() -> anyhow::Result<()> {
    let _turn = ONE_AT_A_TIME.lock().await;
    let kubectl = tokio::task::spawn_blocking(|| Assets::locate(&[Part::ApiServer])?.kubectl()).await??;
    let home = tempfile::tempdir()?;
    let mut dev = webpage(&["dev"]);
    let started = tokio::time::Instant::now();
    let mut dev = dev.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut said = BufReader::new(dev.stderr.take().context("no stderr")?).lines();
    let mut shown = BufReader::new(dev.stdout.take().context("no stdout")?).lines();
    let kubeconfig = line(&mut said, "config    KUBECONFIG=").await?;
    let (_, kubeconfig) = kubeconfig.split_once('=').context("no kubeconfig")?;
    line(&mut shown, "ready after").await?;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());

    let call = |arguments: &[&str]| {
        let mut call = Command::new(&kubectl);
        call.args(arguments).env("KUBECONFIG", kubeconfig).env("HOME", home.path()).kill_on_drop(true);
        call
    };
    let mut watch = call(&["get", "webpages", "-w"]).stdout(Stdio::piped()).spawn()?;
    let mut watched = BufReader::new(watch.stdout.take().context("no stdout")?).lines();
    line(&mut watched, "hello").await?;
    let patch = r#"{"spec":{"html":"<h1>Changed</h1>"}}"#;
    let patched = call(&["patch", "webpage", "hello", "--type=merge", "-p", patch]).output().await?;
    assert!(patched.status.success(), "{patched:?}");
    line(&mut watched, "hello").await?;
    line(&mut shown, "ready after").await?;
    watch.kill().await?;
    dev.kill().await?;
    Ok(())
}

/// Reads on to the first line that contains `text`.
async fn line(lines: &mut Lines<impl AsyncBufRead + Unpin>, text: &str) -> anyhow::Result<String> {
    let read = async {
        while let Some(line) = lines.next_line().await? {
            if line.contains(text) {
                return anyhow::Ok(line);
            }
        }
        anyhow::bail!("{text:?} was never said")
    };
    tokio::time::timeout(PATIENCE, read).await.with_context(|| format!("waited in vain for {text:?}"))?
}

#[tokio::test]
async fn ctrl_c_ends_everything() -> anyhow::Result<()> {
    for (arguments, _) in SERVERS {
        let _turn = ONE_AT_A_TIME.lock().await;
        let (mut dev, folder) = started(arguments).await?;
        dev.signal("INT").await?;
        assert_eq!(dev.ended().await?.code(), Some(0), "{:#?}", dev.said);
        // Ctrl-C waits for the end, so there is nothing to wait for here.
        assert!(!folder.exists(), "{}", folder.display());
        assert_eq!(processes(&folder).await?, Vec::<String>::new());
    }
    Ok(())
}

#[tokio::test]
async fn a_killed_dev_leaves_nothing_behind() -> anyhow::Result<()> {
    for (arguments, _) in SERVERS {
        let _turn = ONE_AT_A_TIME.lock().await;
        let (mut dev, folder) = started(arguments).await?;
        assert!(!processes(&folder).await?.is_empty(), "whoever cleans up names the folder");
        dev.signal("KILL").await?;
        assert_eq!(dev.ended().await?.code(), None);
        until("the cluster's processes and folder to be gone", async || {
            let gone =
                !folder.exists() && processes(&folder).await.is_ok_and(|processes| processes.is_empty());
            gone.then_some(())
        })
        .await?;
    }
    Ok(())
}

/// A `dev` that is ready, and the folder of its cluster.
async fn started(arguments: &[&str]) -> anyhow::Result<(Running, PathBuf)> {
    let mut dev = Running::start(webpage(arguments))?;
    dev.says("ready     in ").await?;
    let kubeconfig = dev.said.iter().find_map(|line| line.split_once("config    KUBECONFIG="));
    let (_, kubeconfig) = kubeconfig.context("no kubeconfig was named")?;
    let folder = Path::new(kubeconfig).parent().context("a kubeconfig without a folder")?.to_owned();
    assert!(folder.exists());
    Ok((dev, folder))
}

/// The processes whose arguments name the folder.
async fn processes(folder: &Path) -> anyhow::Result<Vec<String>> {
    let listed = Command::new("ps").args(["-eo", "args"]).output().await?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let folder = folder.display().to_string();
    Ok(listed.lines().filter(|line| line.contains(&folder)).map(str::to_owned).collect())
}

/// Scenarios have names: the first is executed by default, the help has them, and so has the answer to a wrong one.
#[tokio::test]
async fn a_scenario_is_chosen_by_its_name() -> anyhow::Result<()> {
    let call = async |arguments: &[&str]| {
        let output = webpage(&[&["dev"], arguments].concat()).output().await?;
        let text = [output.stdout, output.stderr].map(String::from_utf8);
        let [stdout, stderr] = text;
        anyhow::Ok((output.status.code(), stdout?, stderr?))
    };
    let (code, stdout, stderr) = call(&["--once", "--scenario", "trouble"]).await?;
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let steps: Vec<&str> = stdout.lines().filter(|line| line.contains(" step ")).collect();
    assert_eq!(steps.len(), 2, "{stdout}");
    assert!(steps[0].contains("create a page with an error") && steps[1].contains("repair it"), "{steps:?}");

    let (code, _, stderr) = call(&["--once", "--scenario", "trubel"]).await?;
    assert_eq!(code, Some(64), "{stderr}");
    assert!(stderr.contains("life, trouble"), "{stderr}");
    let (code, stdout, _) = call(&["--help"]).await?;
    assert_eq!(code, Some(0));
    let option = stdout.split("--scenario").nth(1).context("the help has no --scenario")?;
    let words: Vec<&str> = option.split_whitespace().take(24).collect();
    assert!(words.join(" ").contains("[possible values: life, trouble]"), "{stdout}");
    // It is about the operator's own examples, which other files replace.
    let (code, _, stderr) = call(&["--once", "--scenario", "life", "--apply", "page.yaml"]).await?;
    assert_eq!(code, Some(64), "{stderr}");
    Ok(())
}
