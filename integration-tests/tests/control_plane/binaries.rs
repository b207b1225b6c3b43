//! Where the binaries come from, seen from outside. A script takes the place of Go, so no build takes minutes.

use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use crate::eventually;

/// Says that it is a new Go. Its builds wait for the file `go-ahead`, make the file that they should make, and leave a
/// line in `builds`.
const FAKE_GO: &str = r#"#!/bin/sh
if [ "$1" = env ]; then echo go1.99.0; exit; fi
until [ -e "$FAKE/go-ahead" ]; do /bin/sleep 0.05; done
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then echo "$2" >>"$FAKE/builds"; echo binary >"$2"; fi
    shift
done
"#;

/// `control-plane build` of a user who has nothing but the PATH and the folder given.
fn build(home: &Path, path: &Path, errors: Stdio) -> Child {
    command(home, path).stdout(Stdio::piped()).stderr(errors).spawn().unwrap()
}

fn command(home: &Path, path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_control-plane"));
    command
        .arg("build")
        .env_clear()
        .envs([("HOME", home), ("PATH", path), ("FAKE", home)])
        .stdin(Stdio::null());
    command
}

#[tokio::test]
async fn without_go_the_error_names_the_ways_out() {
    let empty = tempfile::tempdir().unwrap();
    let output = build(empty.path(), empty.path(), Stdio::piped()).wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for way in ["install Go", "KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER=true"] {
        assert!(errors.contains(way), "{way} is missing: {errors}");
    }
}

/// A Go whose builds fail, each with a line in `builds`.
const BROKEN_GO: &str = r#"#!/bin/sh
if [ "$1" = env ]; then echo go1.99.0; exit; fi
echo built >>"$FAKE/builds"
echo "proxy.example.com: no such host" >&2
exit 1
"#;

/// Puts a script into the folder under the name of Go.
fn install(go: &str, folder: &Path) {
    let path = folder.join("go");
    std::fs::write(&path, go).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn what_cannot_be_built_is_tried_once_in_a_test_run() {
    let home = tempfile::tempdir().unwrap();
    install(BROKEN_GO, home.path());
    let errors = |mut command: Command| {
        let output = command.output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let one_of_the_run = || {
        let mut command = command(home.path(), home.path());
        command.env("CARGO_MANIFEST_DIR", "/here");
        command
    };
    let builds = || std::fs::read_to_string(home.path().join("builds")).unwrap().lines().count();
    let first = errors(one_of_the_run());
    assert!(first.contains("no such host"), "{first}");
    for _ in 0..2 {
        let later = errors(one_of_the_run());
        assert!(later.contains("could not be built") && !later.contains("no such host"), "{later}");
        let note = later.split_whitespace().find(|word| word.ends_with(".failed")).expect("a file");
        assert!(std::fs::read_to_string(note).unwrap().contains("no such host"), "{note}");
        let lines = later.lines().filter(|line| !line.trim().is_empty());
        assert_eq!(lines.count(), 1, "{later}");
    }
    assert_eq!(builds(), 1);
    // Whatever cargo hasn't started is a run of its own.
    assert!(errors(command(home.path(), home.path())).contains("no such host"));
    assert_eq!(builds(), 2);
}

#[tokio::test]
async fn of_two_processes_one_builds() {
    let home = tempfile::tempdir().unwrap();
    install(FAKE_GO, home.path());
    let errors = home.path().join("errors");
    let start = || {
        let errors = std::fs::File::options().create(true).append(true).open(&errors).unwrap();
        build(home.path(), home.path(), errors.into())
    };
    let processes = [start(), start()];
    eventually("one waits for the other", || async {
        let said = std::fs::read_to_string(&errors).unwrap();
        said.contains("another process is building").then_some(())
    })
    .await;
    std::fs::write(home.path().join("go-ahead"), "").unwrap();

    let outputs = processes.map(|process| process.wait_with_output().unwrap());
    let succeeded = |output: &Output| output.status.success();
    assert!(outputs.iter().all(succeeded), "{}", std::fs::read_to_string(&errors).unwrap());
    assert_eq!(outputs[0].stdout, outputs[1].stdout, "both use the same folder");
    let builds = std::fs::read_to_string(home.path().join("builds")).unwrap();
    assert_eq!(builds.lines().count(), 2, "one of each binary: {builds}");
}
