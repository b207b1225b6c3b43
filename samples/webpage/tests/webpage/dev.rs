//! `dev`, as a user calls it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tokio::{process::Command, sync::Mutex};

use crate::support::{Running, until, webpage};

/// Each of these tests starts a whole control plane; one after the other is quicker than all at once.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn once_goes_through_the_life_of_a_page_in_each_style() -> anyhow::Result<()> {
    for (style, _) in webpage::STYLES {
        once_goes_through_the_life_of_a_page(style).await?;
    }
    Ok(())
}

async fn once_goes_through_the_life_of_a_page(style: &str) -> anyhow::Result<()> {
    let _turn = ONE_AT_A_TIME.lock().await;
    let output = webpage(&["dev", "--once", "--style", style]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    assert!(stderr.starts_with("cluster: embedded v1."), "{stderr}");
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
    let broken = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/broken.yaml");
    let output = webpage(&["dev", "--once", "--apply", broken]).output().await?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert_eq!(output.status.code(), Some(4), "{stdout}\n{stderr}");
    assert!(stdout.contains("WebPage default/broken  error: held: the html contains the word"), "{stdout}");
    Ok(())
}

#[tokio::test]
async fn once_goes_through_the_life_of_a_page_without_go() -> anyhow::Result<()> {
    let reasons = [
        (&["dev", "--once", "--in-process"][..], "inside this process, as `--in-process` says"),
        (&["dev", "--once"][..], "inside this process, a real one can't be had here: no `go` on the PATH"),
    ];
    for (arguments, reason) in reasons {
        // A machine with neither a Go nor what was built with one.
        let empty = tempfile::tempdir()?;
        let mut bare = webpage(arguments);
        bare.env("PATH", empty.path()).env("XDG_CACHE_HOME", empty.path()).env("HOME", empty.path());
        bare.env_remove("KUBEBUILDER_ASSETS");
        let output = bare.output().await?;
        let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
        assert!(stderr.starts_with("cluster: in-process "), "{stderr}");
        assert!(stderr.contains(reason), "{stderr}");
        assert_eq!(stdout.matches(" step ").count(), 9, "{stdout}");
    }
    Ok(())
}

#[tokio::test]
async fn ctrl_c_ends_everything() -> anyhow::Result<()> {
    let _turn = ONE_AT_A_TIME.lock().await;
    let (mut dev, folder) = started().await?;
    dev.signal("INT").await?;
    assert_eq!(dev.ended().await?.code(), Some(0), "{:#?}", dev.said);
    // Ctrl-C waits for the end, so there is nothing to wait for here.
    assert!(!folder.exists(), "{}", folder.display());
    assert_eq!(processes(&folder).await?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_killed_dev_leaves_nothing_behind() -> anyhow::Result<()> {
    let _turn = ONE_AT_A_TIME.lock().await;
    let (mut dev, folder) = started().await?;
    assert!(processes(&folder).await?.len() >= 5, "the control plane's processes name its folder");
    dev.signal("KILL").await?;
    assert_eq!(dev.ended().await?.code(), None);
    until("the control plane's processes and folder to be gone", async || {
        let gone = !folder.exists() && processes(&folder).await.is_ok_and(|processes| processes.is_empty());
        gone.then_some(())
    })
    .await
}

/// A `dev` that is ready, and the folder of its control plane.
async fn started() -> anyhow::Result<(Running, PathBuf)> {
    let mut dev = Running::start(webpage(&["dev"]))?;
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
