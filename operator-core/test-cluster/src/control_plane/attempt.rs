//! One attempt to build per test run: what failed isn't tried again by each test, which would take minutes.
//!
//! ```text
//!  build fails ─▶ <key>.failed: the run, and why ─▶ the same run: refused at once ; another run: built again
//! ```
//!
//! # Assumptions
//! - The binaries of one `cargo test` have the same parent, cargo; those of one `cargo nextest run` the same id. A process
//!   that neither of them has started is a run of its own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::modules::Module;
use crate::{error::Error, files::write};

/// How long a failure counts: later, a process with the number of this run's cargo is another one.
const KEPT: Duration = Duration::from_secs(3600);

/// Where the failure of a module is noted, and by which run.
pub(super) struct Attempt {
    note: PathBuf,
    run: String,
}

impl Attempt {
    pub(super) fn of(cache: &Path, module: &Module, run: &str) -> Self {
        Self { note: cache.join(format!("{}.failed", module.key())), run: run.to_owned() }
    }

    /// Refuses what has failed in this run.
    pub(super) fn check(&self, module: &Module) -> Result<(), Error> {
        let Ok(failure) = fs::read_to_string(&self.note) else { return Ok(()) };
        let noted = fs::metadata(&self.note).and_then(|note| note.modified()).ok();
        let is_old = noted.and_then(|noted| noted.elapsed().ok()).is_some_and(|age| age > KEPT);
        if is_old || failure.lines().next() != Some(self.run.as_str()) {
            return Ok(());
        }
        Err(Error::NotBuilt { what: module.binary, note: self.note.clone() })
    }

    /// Notes a failure, or that there is none any more.
    pub(super) fn ended(&self, failure: Option<&Error>) {
        // Without a note the next test tries again.
        let _ = match failure {
            Some(error) => write(&self.note, &format!("{}\n{error}\n", self.run)),
            None => fs::remove_file(&self.note).map_err(Error::io("remove a note")),
        };
    }
}

/// The test run that this process belongs to.
pub(super) fn this_run() -> String {
    let variable = |name: &str| env::var(name).ok();
    match (variable("NEXTEST_RUN_ID"), variable("CARGO_MANIFEST_DIR")) {
        (Some(id), _) => format!("nextest {id}"),
        (None, Some(_)) => format!("cargo {}", std::os::unix::process::parent_id()),
        (None, None) => format!("process {}", std::process::id()),
    }
}
