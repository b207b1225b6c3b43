//! The commands, as a user calls them, and the server that `dev` starts.

use std::{path::Path, process::Stdio};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::scene::until;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mysql-schema"));
    command.args(arguments).env_remove("RUST_LOG").env_remove("DATABASE_URL").kill_on_drop(true);
    command
}

async fn said(command: &mut Command) -> Result<(Option<i32>, String)> {
    let output = command.output().await?;
    Ok((output.status.code(), String::from_utf8([output.stdout, output.stderr].concat())?))
}

#[tokio::test]
async fn deploy_has_the_definition() -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/crd.yaml");
    let (code, said) = said(&mut command(&["crd", "--check", file])).await?;
    assert_eq!(code, Some(0), "{said}");
    Ok(())
}

#[tokio::test]
async fn run_says_that_it_needs_a_server_and_repeats_no_url() -> Result<()> {
    let (code, words) = said(&mut command(&["run"])).await?;
    assert!(code == Some(78) && words.contains("export DATABASE_URL="), "{code:?} {words}");
    let (code, words) = said(command(&["run"]).env("DATABASE_URL", "s3cret")).await?;
    assert!(
        code == Some(78) && words.contains("not the url") && !words.contains("s3cret"),
        "{code:?} {words}"
    );
    Ok(())
}

#[tokio::test]
async fn dev_goes_through_the_life_of_a_schema() -> Result<()> {
    let (code, said) = said(&mut command(&["dev", "--once"])).await?;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches(" step ").count(), 4, "{said}");
    Ok(())
}

#[tokio::test]
async fn without_a_server_and_without_packages_dev_says_so() -> Result<()> {
    if ["mariadbd", "mysqld"].iter().any(|name| Path::new("/usr/sbin").join(name).exists()) {
        return Ok(());
    }
    let empty = tempfile::tempdir()?;
    let mut bare = command(&["dev", "--once"]);
    bare.env("PATH", empty.path()).env("XDG_CACHE_HOME", empty.path()).env("HOME", empty.path());
    let (code, said) = said(&mut bare).await?;
    assert_eq!(code, Some(1), "{said}");
    for words in ["no MariaDB is on the PATH", "apt-get doesn't run", "export DATABASE_URL="] {
        assert!(said.contains(words), "{words}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_killed_dev_leaves_no_server_behind() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut dev = command(&["dev"]);
    dev.env("TMPDIR", folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut dev = dev.spawn()?;
    let mut lines = BufReader::new(dev.stderr.take().context("its stderr")?).lines();
    loop {
        let line = lines.next_line().await?.context("it has ended")?;
        if line.contains("ready     in ") {
            break;
        }
    }
    assert!(!servers(folder.path()).await?.is_empty(), "there is a server in the folder");
    dev.kill().await?;
    until("the end of the server and of its data", async || {
        let left = std::fs::read_dir(folder.path()).ok()?.count();
        (left == 0 && servers(folder.path()).await.ok()?.is_empty()).then_some(())
    })
    .await
}

/// The processes whose arguments name the folder.
async fn servers(folder: &Path) -> Result<Vec<String>> {
    let listed = Command::new("ps").args(["-eo", "args"]).output().await?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let folder = folder.display().to_string();
    Ok(listed.lines().filter(|line| line.contains(&folder)).map(str::to_owned).collect())
}
