//! Records the types of Kubernetes anew, for the in-process API server: from the API server that this repository's
//! control plane builds, and from the Go types of the same version. So are the schemas of `/openapi`, and the columns of
//! tables.

mod columns;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use kube::Client;
use operator_core::testing::{ControlPlane, TestCluster};

/// The groups that the in-process server knows kinds of; `main.go` names the same.
const DOCUMENTS: [&str; 19] = [
    "api/v1",
    "apis/admissionregistration.k8s.io/v1",
    "apis/apiextensions.k8s.io/v1",
    "apis/apiregistration.k8s.io/v1",
    "apis/apps/v1",
    "apis/authorization.k8s.io/v1",
    "apis/authentication.k8s.io/v1",
    "apis/autoscaling/v1",
    "apis/autoscaling/v2",
    "apis/batch/v1",
    "apis/coordination.k8s.io/v1",
    "apis/discovery.k8s.io/v1",
    "apis/events.k8s.io/v1",
    "apis/networking.k8s.io/v1",
    "apis/node.k8s.io/v1",
    "apis/policy/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/scheduling.k8s.io/v1",
    "apis/storage.k8s.io/v1",
];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../operator-core/test-cluster");
    let folder = tempfile::tempdir()?;
    let cluster = TestCluster::new(ControlPlane::builder().start().await?);
    let client = cluster.client()?;
    let documents = documents(&client, folder.path()).await?;
    let server = package.join("src/in_process");
    write(&server.join("tables/columns.json"), columns::recorded(&client, &DOCUMENTS).await?.as_bytes())?;

    // The Go program is built in a module of its own, which asks for what the control plane is built from.
    let module = package.join("control-plane/cluster");
    for file in ["go.mod", "go.sum"] {
        fs::copy(module.join(file), folder.path().join(file)).with_context(|| format!("copy {file}"))?;
    }
    fs::write(folder.path().join("main.go"), include_str!("main.go"))?;
    let output = Command::new("go")
        .args(["run", "."])
        .args(documents)
        .current_dir(folder.path())
        .env("GOFLAGS", "-mod=mod")
        .stderr(Stdio::inherit())
        .output()
        .context("run go")?;
    ensure!(output.status.success(), "go run has failed: {}", output.status);
    write(&server.join("fields/recorded/types.json"), &output.stdout)?;
    // The Go program leaves these in its folder.
    for (file, place) in [
        ("patches.json", "fields/recorded"),
        ("protobuf.json", "fields/recorded"),
        ("schemas.json.gz", "openapi"),
    ] {
        let made = fs::read(folder.path().join(file)).with_context(|| format!("read {file}"))?;
        write(&server.join(place).join(file), &made)?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    fs::write(path, content).with_context(|| format!("write {}", path.display()))
}

/// Writes each document of `/openapi/v3` to a file.
async fn documents(client: &Client, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for document in DOCUMENTS {
        let request = http::Request::get(format!("/openapi/v3/{document}")).body(Vec::new())?;
        let text = client.request_text(request).await.with_context(|| format!("read {document}"))?;
        let file = folder.join(document.replace('/', "_")).with_extension("json");
        fs::write(&file, text)?;
        files.push(file);
    }
    Ok(files)
}
