//! The README's operator is built literally: its dependency lines, its code, in an empty folder beside the clone.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// The first fenced block of `language` after `heading`.
fn block<'t>(text: &'t str, heading: &str, language: &str) -> Result<&'t str> {
    let after = text.split_once(heading).with_context(|| format!("no heading {heading:?}"))?.1;
    let fence = format!("```{language}\n");
    let body = after.split_once(&fence).with_context(|| format!("no block of {language}"))?.1;
    Ok(body.split_once("```").context("the block has no end")?.0)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_operators_of_readme_and_book_build_as_they_stand_there() -> Result<()> {
    let repository = repository().canonicalize()?;
    let readme = fs::read_to_string(repository.join("README.md"))?;
    let page = fs::read_to_string(repository.join("docs/src/workflows.md"))?;
    let dependencies = block(&readme, "## An operator", "toml")?;
    // One after the other, since they share what is built of their dependencies.
    check(&repository, "greeting-operator", dependencies, block(&readme, "## An operator", "rust")?)?;
    check(&repository, "site-operator", dependencies, block(&page, "## The program", "rust")?)
}

/// Checks a package with this code beside the clone, in which there may be no warning either.
fn check(repository: &Path, name: &str, dependencies: &str, code: &str) -> Result<()> {
    let beside = tempfile::tempdir()?;
    symlink(repository, beside.path().join("operator-sdk"))?;
    let package = beside.path().join(name);
    fs::create_dir_all(package.join("src"))?;
    let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n{dependencies}");
    fs::write(package.join("Cargo.toml"), manifest)?;
    fs::write(package.join("src/main.rs"), code)?;
    // The same versions as everywhere else, so that this test is about the README and not about today's registry.
    fs::copy(repository.join("Cargo.lock"), package.join("Cargo.lock"))?;

    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", repository.join("target/readme"))
        .output()?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.stderr.is_empty(), "{name} has warnings: {}", String::from_utf8_lossy(&output.stderr));
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
