//! A private folder that ends with the process.
//!
//! ```text
//!   this process ──stdin (a pipe that nobody writes to)──▶ sh: read until the end, then rm -rf FOLDER
//! ```
//!
//! # Guarantees
//! - The folder is this user's alone (0700), and its files are too (0600).
//! - However this process ends, even by SIGKILL, its end of the pipe closes; the shell then removes the folder. The shell
//!   waits before there is a folder, so that no moment is left out.
//! - The signals of a terminal reach only this process: the shell is in a process group of its own.
//!
//! # Assumptions
//! - A Unix with `/bin/sh`, as for the real control plane.
//! - No other process holds the write end of the pipe: Rust creates pipes that close when a child is executed.

use std::{
    fs::{DirBuilder, OpenOptions},
    io::Write,
    os::unix::{
        fs::{DirBuilderExt, OpenOptionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::error::Error;

/// Waits for the end of its stdin, which is the end of its parent.
const KEEPER: &str =
    r#"PATH=$PATH:/usr/bin:/bin; trap '' HUP INT QUIT TERM; while read -r line; do :; done; rm -rf "$1""#;

/// A folder for secrets. Dropping it removes it.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    path: PathBuf,
    keeper: Child,
}

impl PrivateFolder {
    /// Makes a folder below the one for temporary files.
    pub(super) fn new() -> Result<Self, Error> {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(place: &Path) -> Result<Self, Error> {
        let path = place.join(format!("embedded-cluster-{:016x}", rand::random::<u64>()));
        let mut keeper = Command::new("/bin/sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()
            .map_err(Error::io("run /bin/sh, which removes the kubeconfig at the end"))?;
        let made = DirBuilder::new().mode(0o700).create(&path);
        if let Err(source) = made {
            // What is there already is not ours to remove.
            let _ = keeper.kill();
            let _ = keeper.wait();
            return Err(Error::io(format!(
                "make a folder for the kubeconfig in {} (TMPDIR names another place)",
                place.display()
            ))(source));
        }
        Ok(Self { path, keeper })
    }

    /// Writes a file that only this user can read, and returns its path.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(content.as_bytes()))
            .map_err(Error::io(format!("write {}", path.display())))?;
        Ok(path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // Here, since there may be no `rm` where the shell looks; it is the shell's work only if this process is killed.
        let _ = std::fs::remove_dir_all(&self.path);
        // That takes a millisecond or two. After it nothing is left, not even a zombie.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_user_can_read_it_and_it_ends_with_its_owner() {
        let folder = PrivateFolder::new().unwrap();
        let file = folder.write("kubeconfig", "secret").unwrap();
        assert_eq!((mode(&folder.path), mode(&file)), (0o700, 0o600));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "secret");
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_named() {
        let place = tempfile::tempdir().unwrap().path().join("missing");
        let error = PrivateFolder::new_in(&place).unwrap_err().to_string();
        let expected = format!("could not make a folder for the kubeconfig in {} (", place.display());
        assert!(error.starts_with(&expected), "{error}");
    }
}
