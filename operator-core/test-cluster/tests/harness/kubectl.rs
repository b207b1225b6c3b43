//! The kubectl that is built with the control plane.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use test_cluster::{Assets, Error, Part};

/// Where it is.
pub(crate) fn kubectl() -> Result<PathBuf, Error> {
    Assets::locate(&[Part::ApiServer])?.kubectl()
}

/// A command for the server of a kubeconfig. What kubectl keeps goes into the folder `home`.
pub(crate) fn command(kubectl: &Path, kubeconfig: &Path, home: &Path) -> Command {
    let mut command = Command::new(kubectl);
    command.arg("--kubeconfig").arg(kubeconfig).env("HOME", home);
    command
}
