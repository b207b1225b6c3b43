//! Every crate of the workspace has the workspace's lints, and these forbid unsafe code.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

use crate::sources;

/// The manifests of all members, as cargo sees them.
fn members() -> Vec<PathBuf> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(sources::root())
        .output()
        .expect("cargo can be run");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("cargo's answer is json");
    let packages = metadata["packages"].as_array().expect("there are packages");
    packages.iter().map(|package| package["manifest_path"].as_str().expect("a path").into()).collect()
}

/// The lines of a table of a manifest, without comments.
fn table(manifest: &str, name: &str) -> Vec<String> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != format!("[{name}]")).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn every_member_has_the_lints_of_the_workspace() {
    let members = members();
    assert!(members.len() >= 4, "{members:?}");
    for manifest in members {
        let text = fs::read_to_string(&manifest).expect("a manifest can be read");
        assert_eq!(table(&text, "lints"), ["workspace = true"], "{}", manifest.display());
    }
}

#[test]
fn the_workspace_forbids_unsafe_code() {
    let text = fs::read_to_string(sources::root().join("Cargo.toml")).expect("the manifest can be read");
    let lints = table(&text, "workspace.lints.rust");
    // `deny` could be allowed again by a line in a file; `forbid` can't.
    assert!(lints.contains(&r#"unsafe_code = "forbid""#.to_owned()), "{lints:?}");
}
