//! The README's operator is built literally: its dependency lines, its code, in an empty folder beside the clone.

mod derives;
mod mistakes;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// The first fenced block of `language` after `heading`.
fn block<'t>(text: &'t str, heading: &str, language: &str) -> Result<&'t str> {
    let after = text.split_once(heading).with_context(|| format!("no heading {heading:?}"))?.1;
    let fence = format!("```{language}\n");
    let body = after.split_once(&fence).with_context(|| format!("no block of {language}"))?.1;
    Ok(body.split_once("```").context("the block has no end")?.0)
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A package in an empty folder beside the clone, with the dependencies that the README names.
pub(crate) struct Beside {
    _folder: TempDir,
    pub(crate) package: PathBuf,
    repository: PathBuf,
}

impl Beside {
    pub(crate) fn new(repository: &Path, name: &str) -> Result<Self> {
        let readme = fs::read_to_string(repository.join("README.md"))?;
        let dependencies = block(&readme, "## An operator", "toml")?;
        let folder = tempfile::tempdir()?;
        symlink(repository, folder.path().join("operator-sdk"))?;
        let package = folder.path().join(name);
        fs::create_dir_all(package.join("src"))?;
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n{dependencies}");
        fs::write(package.join("Cargo.toml"), manifest)?;
        // The same versions as everywhere else, so that this test is about the README and not about today's registry.
        fs::copy(repository.join("Cargo.lock"), package.join("Cargo.lock"))?;
        Ok(Self { _folder: folder, package, repository: repository.to_owned() })
    }

    /// Runs cargo. With the workspace's target folder and profile, what was checked there isn't checked again.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Result<Output> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["--config", "profile.dev.debug='line-tables-only'"]);
        cargo.args(["--config", "profile.dev.package.'*'.debug=false"]);
        cargo.args(arguments).current_dir(&self.package);
        Ok(cargo.env("CARGO_TARGET_DIR", self.repository.join("target")).output()?)
    }
}

#[test]
fn the_operators_of_readme_and_book_build_as_they_stand_there() -> Result<()> {
    let repository = repository().canonicalize()?;
    for (name, file, heading) in [
        ("greeting-operator", "README.md", "## An operator"),
        ("site-operator", "docs/src/workflows.md", "## The program"),
    ] {
        let text = fs::read_to_string(repository.join(file))?;
        let beside = Beside::new(&repository, name)?;
        fs::write(beside.package.join("src/main.rs"), block(&text, heading, "rust")?)?;
        let output = beside.cargo(&["check", "--quiet"])?;
        ensure!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        ensure!(output.stderr.is_empty(), "{file}, warnings: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

#[test]
fn the_quick_start_holds_two_commands_and_ci_runs_the_second() -> Result<()> {
    let readme = fs::read_to_string(repository().join("README.md"))?;
    let quick_start = readme.split_once("## Quick start").context("no quick start")?.1;
    let quick_start = quick_start.split_once("\n## ").context("nothing after the quick start")?.0;
    let commands: Vec<&str> = quick_start.lines().filter(|line| line.starts_with("cargo ")).collect();
    ensure!(commands.len() == 2, "the quick start has {commands:?}");
    let ci = fs::read_to_string(repository().join(".ci/run"))?;
    ensure!(ci.lines().last() == Some(commands[1]), "CI must end with {:?}", commands[1]);
    Ok(())
}
