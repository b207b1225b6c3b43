//! Builds an included Go module.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use super::{modules::Module, progress};
use crate::{
    error::Error,
    files::{make_folder, write},
};

/// The interval at which a build reports that it is still running.
const PROGRESS: Duration = Duration::from_secs(15);

/// The number of last lines that a failed build reports.
const TAIL: usize = 20;

/// Builds the module's binary and its links in `folder`, with the `go` of `path` (a `PATH`; by default the process's).
///
/// Blocks for minutes if Go's own caches are empty.
pub(super) fn build(module: &Module, folder: &Path, path: Option<&OsString>) -> Result<(), Error> {
    check_version(module, path)?;
    let sources = folder.join("sources");
    make_folder(&sources)?;
    for (name, content) in module.files {
        write(&sources.join(name), content)?;
    }
    let mut go = go(path);
    go.current_dir(&sources)
        .args(["build", "-trimpath", "-buildvcs=false", "-o"])
        .arg(folder.join(module.binary))
        .arg(format!("-ldflags={}", module.linker_flags()))
        .arg(format!("-tags={}", module.tags))
        .arg(module.package)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = go.spawn().map_err(Error::io("run `go build`"))?;
    watch(child, module)?;
    for link in module.links {
        std::os::unix::fs::symlink(module.binary, folder.join(link))
            .map_err(Error::io(format!("link {link} in {}", folder.display())))?;
    }
    Ok(())
}

/// The user's settings for other modules must not change this build; proxies and caches stay the user's.
fn go(path: Option<&OsString>) -> Command {
    let mut go = Command::new("go");
    go.env("GOTOOLCHAIN", "local").env("GOWORK", "off").env("GOFLAGS", "").env("CGO_ENABLED", "0");
    go.env_remove("GOOS").env_remove("GOARCH");
    if let Some(path) = path {
        go.env("PATH", path);
    }
    go
}

fn check_version(module: &Module, path: Option<&OsString>) -> Result<(), Error> {
    let wanted = module.go_version();
    let output = match go(path).args(["env", "GOVERSION"]).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => output,
        _ => return Err(Error::NoGo { wanted: wanted.to_owned() }),
    };
    let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if is_at_least(&found, wanted) {
        return Ok(());
    }
    Err(Error::OldGo { found, wanted: wanted.to_owned() })
}

/// Whether a Go like "go1.26.8" is at least "1.26.0". A version that can't be parsed, such as a development version, is
/// accepted.
fn is_at_least(found: &str, wanted: &str) -> bool {
    fn numbers(version: &str) -> Option<(u32, u32, u32)> {
        // "1.27rc1" and "1.26.8-custom" count as what they are called after.
        let plain = version.strip_prefix("go").unwrap_or(version);
        let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
        let mut parts = plain[..end].split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)))
    }
    match (numbers(found), numbers(wanted)) {
        (Some(found), Some(wanted)) => found >= wanted,
        _ => true,
    }
}

/// Waits for the build and reports at intervals how long it has taken.
#[expect(
    clippy::disallowed_methods,
    reason = "no test can pause a compiler, and there may be no runtime here"
)]
fn watch(mut child: Child, module: &Module) -> Result<(), Error> {
    let started = Instant::now();
    let (what, version) = (module.what, module.version());
    progress::say(&format!("building {what} ({version}) from Go modules, once: this takes some minutes"));
    let lines = lines_of(child.stderr.take());
    let (mut tail, mut downloads) = (VecDeque::new(), 0_usize);
    loop {
        match lines.recv_timeout(PROGRESS) {
            Ok(line) if line.starts_with("go: downloading") => downloads += 1,
            Ok(line) => {
                tail.push_back(line);
                if tail.len() > TAIL {
                    tail.pop_front();
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let elapsed = started.elapsed().as_secs();
                progress::say(&format!(
                    "building {}… {elapsed} s, {downloads} modules downloaded",
                    module.binary
                ));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().map_err(Error::io("wait for `go build`"))?;
    if !status.success() {
        return Err(Error::Build { what: what.to_owned(), log: Vec::from(tail).join("\n") });
    }
    progress::say(&format!("built {} in {} s", module.binary, started.elapsed().as_secs()));
    Ok(())
}

/// The lines of a pipe, read by a separate thread so that the caller can do something else in the meantime.
fn lines_of(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in pipe.into_iter().flat_map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok)) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::{super::modules::CLUSTER, *};

    #[test]
    fn versions_of_go_compare_by_number() {
        for (found, wanted, enough) in [
            ("go1.26.8", "1.26.0", true),
            ("go1.26.0", "1.26.0", true),
            ("go1.27rc1", "1.26.0", true),
            ("go1.9.7", "1.26.0", false),
            ("go1.25.9", "1.26", false),
            ("devel +abc", "1.26.0", true),
        ] {
            assert_eq!(is_at_least(found, wanted), enough, "{found} for {wanted}");
        }
    }

    #[test]
    fn without_go_the_error_names_the_ways_out() {
        let empty = tempfile::tempdir().unwrap();
        let path = empty.path().as_os_str().to_owned();
        let error = build(&CLUSTER, empty.path(), Some(&path)).unwrap_err().to_string();
        for way in ["install Go", "KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER=true"] {
            assert!(error.contains(way), "{way} is missing: {error}");
        }
    }
}
