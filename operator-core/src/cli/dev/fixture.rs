//! Objects by hand: as text, or from a file that is read when `dev` starts.

use std::{fs, path::PathBuf};

use super::Error;

/// The YAML of some objects.
#[derive(Clone, Debug)]
pub(super) struct Fixture {
    pub(super) file: Option<PathBuf>,
    /// That of the file is empty until it is read.
    pub(super) text: String,
}

impl Fixture {
    pub(super) fn text(yaml: impl Into<String>) -> Self {
        Self { file: None, text: yaml.into() }
    }

    pub(super) fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), text: String::new() }
    }

    /// Reads the file, if it is one.
    pub(super) fn read(&mut self) -> Result<(), Error> {
        if let Some(path) = &self.file {
            let unread = |source| Error::Read { path: path.clone(), source };
            self.text = fs::read_to_string(path).map_err(unread)?;
        }
        Ok(())
    }
}
