//! The end of the processes when the one that started them ends.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use operator_core::testing::{Assets, Part};

use crate::eventually;

/// A `control-plane up` that is ready.
struct Up {
    child: Child,
    folder: PathBuf,
    processes: Vec<u32>,
    _output: tempfile::TempDir,
}

impl Up {
    async fn start(arguments: &[&str], variables: &[(&str, &Path)]) -> Self {
        // The first one on a machine builds for as long as it takes.
        let built =
            Command::new(env!("CARGO_BIN_EXE_control-plane")).arg("build").stdout(Stdio::null()).status();
        assert!(built.unwrap().success());
        let output = tempfile::tempdir().unwrap();
        let out = output.path().join("out");
        let mut child = Command::new(env!("CARGO_BIN_EXE_control-plane"))
            .arg("up")
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&out).unwrap())
            .spawn()
            .unwrap();
        let text = eventually("the control plane is up", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended with {ended:?}");
            let text = std::fs::read_to_string(&out).unwrap();
            async move { text.contains("Ctrl-C stops it").then_some(text) }
        })
        .await;
        let line = |prefix: &str| text.lines().find_map(|line| line.trim().strip_prefix(prefix)).unwrap();
        let kubeconfig = Path::new(line("export KUBECONFIG="));
        Self {
            child,
            folder: kubeconfig.parent().unwrap().to_owned(),
            processes: line("processes: ").split(' ').map(|number| number.parse().unwrap()).collect(),
            _output: output,
        }
    }

    /// Signals it, waits for its end, and for that of everything that it has started.
    async fn end(mut self, name: &str) -> ExitStatus {
        assert!(self.folder.exists());
        assert!(self.processes.iter().all(|process| is_running(*process)), "{:?}", self.processes);
        signal(name, self.child.id());
        let status = eventually("it ends", || std::future::ready(self.child.try_wait().unwrap())).await;
        all_gone(&self.processes, &self.folder).await;
        status
    }
}

impl Drop for Up {
    /// A red test must not leave a process behind that holds the runner's output open.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal. The standard library has no safe function for it.
pub(crate) fn signal(name: &str, process: u32) {
    let status = Command::new("/bin/sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success(), "could not send {name} to {process}");
}

/// Whether it runs. One that has ended and that nobody has waited for doesn't.
fn is_running(process: u32) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

pub(crate) async fn all_gone(processes: &[u32], folder: &Path) {
    eventually("all processes have ended", || async {
        (!processes.iter().any(|process| is_running(*process))).then_some(())
    })
    .await;
    eventually("the folder is gone", || async { (!folder.exists()).then_some(()) }).await;
}

/// Our binaries, in a folder as a user would have it for `KUBEBUILDER_ASSETS`.
async fn folder_of_assets() -> PathBuf {
    let locate = || Assets::locate(&[Part::Etcd]).unwrap().folder().to_owned();
    tokio::task::spawn_blocking(locate).await.unwrap()
}

#[tokio::test]
async fn nothing_survives_a_sigkill() {
    let up = Up::start(&["--full"], &[]).await;
    assert_eq!(up.processes.len(), 6, "the supervisor and five parts");
    assert!(!up.end("KILL").await.success());
}

#[tokio::test]
async fn ctrl_c_ends_it_cleanly() {
    let up = Up::start(&["--with", "controller-manager"], &[]).await;
    assert_eq!(up.end("INT").await.code(), Some(0));
}

#[tokio::test]
async fn nothing_survives_a_sigkill_with_binaries_of_someone_else() {
    let folder = folder_of_assets().await;
    let up = Up::start(&["--with", "controllers"], &[("KUBEBUILDER_ASSETS", &folder)]).await;
    assert_eq!(up.processes.len(), 5, "the supervisor and four parts");
    assert!(!up.end("KILL").await.success());
}

#[tokio::test]
async fn ctrl_c_ends_it_cleanly_with_binaries_of_someone_else() {
    let folder = folder_of_assets().await;
    let up = Up::start(&[], &[("KUBEBUILDER_ASSETS", &folder)]).await;
    assert_eq!(up.end("INT").await.code(), Some(0));
}

/// Ends the supervisor alone. Its parent then ends, too, and that is a failure.
async fn end_supervisor(name: &str, variables: &[(&str, &Path)]) {
    let mut up = Up::start(&[], variables).await;
    signal(name, up.processes[0]);
    all_gone(&up.processes, &up.folder).await;
    let status = eventually("it ends", || std::future::ready(up.child.try_wait().unwrap())).await;
    assert!(!status.success(), "{status}");
}

#[tokio::test]
async fn a_supervisor_that_is_told_to_end_cleans_up() {
    end_supervisor("TERM", &[]).await;
    end_supervisor("TERM", &[("KUBEBUILDER_ASSETS", &folder_of_assets().await)]).await;
}

#[tokio::test]
async fn nothing_survives_a_killed_supervisor() {
    end_supervisor("KILL", &[]).await;
    end_supervisor("KILL", &[("KUBEBUILDER_ASSETS", &folder_of_assets().await)]).await;
}
