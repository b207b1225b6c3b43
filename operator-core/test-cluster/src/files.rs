//! Files and folders, with errors that name them.

use std::{fs, path::Path};

use crate::error::Error;

/// Writes a file.
pub(crate) fn write(path: &Path, content: &str) -> Result<(), Error> {
    fs::write(path, content).map_err(Error::io(format!("write {}", path.display())))
}

/// Makes a folder, and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::io(format!("make the folder {}", path.display())))
}
