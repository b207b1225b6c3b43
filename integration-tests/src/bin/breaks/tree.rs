//! The copy of the tree that is broken.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::patch::Patch;

pub(crate) struct Tree {
    root: PathBuf,
    scratch: PathBuf,
}

impl Tree {
    /// A copy of what is in `root`, below `scratch`.
    pub(crate) fn new(root: &Path, scratch: &Path) -> Self {
        Self { root: root.to_owned(), scratch: scratch.to_owned() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.join("tree")
    }

    /// Makes the copy what the tree is. Files that are the same are left alone, so that cargo builds nothing for them.
    pub(crate) fn restore(&self) -> Result<()> {
        let listed = self.files()?;
        listed.iter().try_for_each(|file| self.restore_file(file))?;
        self.remove_others(&self.path(), &|file| listed.contains(file) && self.root.join(file).exists())
    }

    fn restore_file(&self, file: &Path) -> Result<()> {
        let from = self.root.join(file);
        // A file that was deleted and not committed yet is listed still.
        let Ok(content) = fs::read(&from) else { return Ok(()) };
        if self.write(file, &content)? {
            fs::set_permissions(self.path().join(file), fs::metadata(&from)?.permissions())?;
        }
        Ok(())
    }

    /// Whether anything had to be written.
    fn write(&self, file: &Path, content: &[u8]) -> Result<bool> {
        let to = self.path().join(file);
        if fs::read(&to).is_ok_and(|copied| copied == content) {
            return Ok(false);
        }
        fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        fs::write(&to, content)?;
        Ok(true)
    }

    pub(crate) fn apply(&self, patch: &Patch) -> Result<()> {
        let mut apply = Command::new("git");
        // Without the ceiling git would find the repository around the target folder, and leave the copy alone.
        apply
            .args(["apply", "--whitespace=nowarn"])
            .arg(&patch.path)
            .env("GIT_CEILING_DIRECTORIES", &self.scratch);
        let done = apply.current_dir(self.path()).status().context("git can't be run")?;
        ensure!(
            done.success(),
            "{} doesn't fit any more; make it anew for the code as it is",
            patch.path.display()
        );
        Ok(())
    }

    /// What git knows, or would know: nothing that was built.
    fn files(&self) -> Result<BTreeSet<PathBuf>> {
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(&self.root);
        let output = list.output().context("git can't be run")?;
        ensure!(
            output.status.success(),
            "git doesn't know the files: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let names = String::from_utf8(output.stdout).context("a file's name is no text")?;
        Ok(names.split_terminator('\0').map(PathBuf::from).collect())
    }

    fn remove_others(&self, folder: &Path, is_kept: &dyn Fn(&Path) -> bool) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.remove_others(&path, is_kept)?;
            } else if !is_kept(path.strip_prefix(self.path())?) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}
