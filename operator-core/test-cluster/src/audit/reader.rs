//! Reads an audit log in parts.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

use super::{AuditEvent, parse};
use crate::error::Error;

/// Reads an audit log, each time from where the last read ended: the cost of a read depends only on what is new.
///
/// Made by [`ControlPlane::audit_from_now`](crate::ControlPlane::audit_from_now) and
/// [`InProcessServer::audit_from_now`](crate::InProcessServer::audit_from_now). A clone reads independently.
#[derive(Clone, Debug)]
pub struct AuditReader(Source);

#[derive(Clone, Debug)]
enum Source {
    /// `read` bytes of the file were read: whole lines.
    File { path: PathBuf, read: u64 },
    /// `read` entries were read.
    Memory { log: MemoryLog, read: usize },
}

impl AuditReader {
    /// Reads a file that need not exist yet, from its beginning.
    pub(crate) fn of_file(path: PathBuf) -> Self {
        Self(Source::File { path, read: 0 })
    }

    /// Skips what is there now.
    pub(crate) fn skip_to_end(mut self) -> Result<Self, Error> {
        match &mut self.0 {
            Source::File { path, read } => *read = on_file(path, end_of_lines)?.unwrap_or_default(),
            Source::Memory { log, read } => *read = log.0.lock().len(),
        }
        Ok(self)
    }

    /// The calls since the last call of this method, oldest first. An entry that is still being written is left for the
    /// next time.
    ///
    /// # Errors
    /// If the log can't be read. The next call tries the same entries again.
    pub fn read(&mut self) -> Result<Vec<AuditEvent>, Error> {
        match &mut self.0 {
            Source::File { path, read } => {
                let new = on_file(path, |file| lines_after(file, *read))?.unwrap_or_default();
                let events = parse(&new)?;
                *read += new.len() as u64;
                Ok(events)
            }
            Source::Memory { log, read } => {
                let new = log.0.lock().get(*read..).map(<[_]>::to_vec).unwrap_or_default();
                *read += new.len();
                Ok(new)
            }
        }
    }
}

/// The log of a server inside the process. Clones are the same log.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLog(Arc<Mutex<Vec<AuditEvent>>>);

impl MemoryLog {
    /// Records a call that was answered.
    pub(crate) fn note(&self, event: AuditEvent) {
        self.0.lock().push(event);
    }

    /// Forgets all entries so far.
    pub(crate) fn forget(&self) {
        *self.0.lock() = Vec::new();
    }

    /// All entries so far.
    pub(crate) fn all(&self) -> Vec<AuditEvent> {
        self.0.lock().clone()
    }

    /// A reader of the calls from now on.
    pub(crate) fn starting_now(&self) -> AuditReader {
        let read = self.0.lock().len();
        AuditReader(Source::Memory { log: self.clone(), read })
    }
}

/// What `look` finds in the file; nothing as long as there is no file, which the API server creates at its first call.
fn on_file<T>(path: &Path, look: impl FnOnce(&mut File) -> io::Result<T>) -> Result<Option<T>, Error> {
    match File::open(path).and_then(|mut file| look(&mut file)) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(format!("read {}", path.display()))(error)),
    }
}

/// The whole lines after this number of bytes.
fn lines_after(file: &mut File, read: u64) -> io::Result<Vec<u8>> {
    let mut new = Vec::new();
    file.seek(SeekFrom::Start(read))?;
    file.read_to_end(&mut new)?;
    new.truncate(end_of_last_line(&new).unwrap_or_default());
    Ok(new)
}

/// The number of bytes of the whole lines in a file. Reads only its end.
fn end_of_lines(file: &mut File) -> io::Result<u64> {
    const PIECE: u64 = 16 * 1024;
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 {
        let start = end.saturating_sub(PIECE);
        let mut piece = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut piece)?;
        if let Some(of_piece) = end_of_last_line(&piece) {
            return Ok(start + of_piece as u64);
        }
        end = start;
    }
    Ok(0)
}

/// The length of a text up to and including its last line break.
fn end_of_last_line(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1)
}
