//! F42: nobody reads the log, or nothing can be written to it.

use std::{fs::File, process::Stdio};

use super::Scene;
use crate::support::{PATIENCE, Running, webpage};

const PAGES: usize = 20;

async fn lives(scene: &Scene) -> anyhow::Result<()> {
    for number in 0..PAGES {
        let name = format!("page-{number}");
        scene.create(&name, "<p>first</p>").await?;
        scene.is_complete(&name, "<p>first</p>").await?;
    }
    Ok(())
}

#[tokio::test]
async fn f42_a_log_that_nobody_reads_holds_up_no_run() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let mut command = scene.command(webpage, &[]);
    command.env("RUST_LOG", "trace");
    // From its first words on nobody reads, and a pipe holds some sixteen pages: a few requests fill it.
    let mut run = scene.started(command).await?;
    let lived = lives(&scene).await;
    assert!(lived.is_ok(), "{lived:?}");
    run.signal("TERM").await?;
    let code = run.ended().await?.code();
    let logged: usize = run.said.iter().map(String::len).sum();
    assert!(logged > 64 * 1024, "the pipe was full: {logged} bytes");
    assert_eq!(code, Some(0));
    Ok(())
}

/// `/dev/full` is a disk without room.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn f42_a_log_on_a_full_disk_holds_up_no_run() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let full = || anyhow::Ok(Stdio::from(File::options().write(true).open("/dev/full")?));
    let mut command = scene.command(webpage, &[]);
    let mut run = Running::silent(command.env("RUST_LOG", "trace").stdout(full()?).stderr(full()?))?;
    let lived = tokio::select! {
        biased;
        lived = lives(&scene) => lived,
        ended = run.ended() => Err(anyhow::anyhow!("it has ended: {ended:?}")),
    };
    assert!(lived.is_ok(), "{lived:?}");
    run.signal("TERM").await?;
    let ended = tokio::time::timeout(PATIENCE, run.ended()).await??;
    assert_eq!(ended.code(), Some(0));
    Ok(())
}
