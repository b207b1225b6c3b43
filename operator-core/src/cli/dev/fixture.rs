//! Objects by hand: as text, or from a file that is read when `dev` starts.

use std::{fs, path::PathBuf};

use super::Error;

/// Where the YAML of some objects comes from.
#[derive(Clone, Debug)]
pub(super) enum Fixture {
    /// The text itself.
    Text(String),
    /// A file that isn't read yet.
    File(PathBuf),
    /// The content of a file.
    Read { path: PathBuf, text: String },
}

impl Fixture {
    /// Reads the file, if it is one.
    pub(super) fn read(&mut self) -> Result<(), Error> {
        if let Self::File(path) = self {
            let path = std::mem::take(path);
            *self = match fs::read_to_string(&path) {
                Ok(text) => Self::Read { path, text },
                Err(source) => return Err(Error::Read { path, source }),
            };
        }
        Ok(())
    }
}
