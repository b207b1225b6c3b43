//! The commands, as a user calls them.

use anyhow::Result;
use tokio::process::Command;

async fn tomcat(arguments: &[&str]) -> Result<(Option<i32>, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tomcat"));
    let output = command.args(arguments).env_remove("RUST_LOG").kill_on_drop(true).output().await?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8(said)?))
}

#[tokio::test]
async fn deploy_has_the_definitions_of_both_kinds() -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/crd.yaml");
    let (code, said) = tomcat(&["crd", "--check", file]).await?;
    assert_eq!(code, Some(0), "{said}");
    Ok(())
}

#[tokio::test]
async fn dev_goes_through_the_life_of_a_shop() -> Result<()> {
    let (code, said) = tomcat(&["dev", "--once"]).await?;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches(" step ").count(), 4, "{said}");
    Ok(())
}
