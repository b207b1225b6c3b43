//! Files of Go modules, which are fetched as those of the control plane are.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

/// The folder of a module in Go's cache; it is fetched if it isn't there.
pub(crate) fn folder(module: &str, version: &str) -> PathBuf {
    let elsewhere = tempfile::tempdir().unwrap();
    let output = Command::new("go")
        .current_dir(elsewhere.path())
        .args(["mod", "download", "-json", &format!("{module}@{version}")])
        .env("GOTOOLCHAIN", "local")
        .env("GOWORK", "off")
        .env("GOFLAGS", "-mod=mod")
        .output()
        .expect("`go` runs");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let folder = told["Dir"].as_str().unwrap_or_else(|| {
        panic!("{module}@{version} can't be fetched: {told} {}", String::from_utf8_lossy(&output.stderr))
    });
    folder.into()
}
