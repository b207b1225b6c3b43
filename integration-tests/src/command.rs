//! Programs that tests and tools start.

use std::{env, ffi::OsStr, process::Command};

/// A command without the variables that cargo has set for this process's own package. A build script that reads them, such
/// as ring's, would run again, here and in the workspace's next build, and everything that depends on it would be built again.
/// And without the linter that stands in for the compiler of this workspace in CI: its rules aren't those of other people's code.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let is_of_package = name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if is_of_package || name == "RUSTC_WORKSPACE_WRAPPER" {
            command.env_remove(&*name);
        }
    }
    command
}
