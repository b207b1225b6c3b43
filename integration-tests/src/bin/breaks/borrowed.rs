//! The build results of others' crates, lent to the copy of the tree.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use integration_tests::command;
use serde::Deserialize;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Links the files in `from` of crates outside the workspace into the target folder `to`, if that is a new one.
///
/// The copy needs a target folder of its own: cargo distinguishes the crates of a workspace by their places in it, so
/// those of the tree and of its copy are the same to it, and a broken crate would replace the sound one.
pub(crate) fn lend(root: &Path, from: &Path, to: &Path) -> Result<()> {
    let to = to.join("debug");
    if to.exists() {
        return Ok(());
    }
    let own = own_names(root)?;
    for folder in [".fingerprint", "build", "deps"] {
        let source = from.join("debug").join(folder);
        if source.exists() {
            link(&source, &to.join(folder), &own)?;
        }
    }
    Ok(())
}

/// The names of the workspace's packages and targets, as they are in file names.
fn own_names(root: &Path) -> Result<BTreeSet<String>> {
    let mut metadata = command(env!("CARGO"));
    let output =
        metadata.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let names = metadata.packages.into_iter().flat_map(|package| {
        let targets = package.targets.into_iter().map(|target| target.name);
        targets.chain([package.name]).collect::<Vec<_>>()
    });
    Ok(names.flat_map(|name| [name.replace('-', "_"), name]).collect())
}

fn link(from: &Path, to: &Path, own: &BTreeSet<String>) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("cargo's names are text")?;
        // `libkube-0123456789abcdef.rlib` and `kube-0123456789abcdef`.
        let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
        let stem = stem.split('.').next().unwrap_or(stem);
        if own.contains(stem) || stem.strip_prefix("lib").is_some_and(|stem| own.contains(stem)) {
            continue;
        }
        link_all(&path, &to.join(name))?;
    }
    Ok(())
}

fn link_all(from: &Path, to: &PathBuf) -> Result<()> {
    if !from.is_dir() {
        return fs::hard_link(from, to).with_context(|| format!("can't link {}", to.display()));
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().context("an entry has a name")?;
        link_all(&path, &to.join(name))?;
    }
    Ok(())
}
