//! A folder of built binaries that processes share.
//!
//! ```text
//! <cache>/operator-core/
//!   control-plane-v1.36.3-linux-x86_64-<hash>/   control-plane, and links named like its applets
//!   kwok-v0.8.0-linux-x86_64-<hash>/             kwok
//!   prometheus-v0.316.0-linux-x86_64-<hash>/     prometheus
//!   <key>.lock                                   held while one process builds
//!   <key>.failed                                 why the last build has failed, and in which test run
//! ```
//!
//! # Guarantees
//! - A folder under its final name is complete: it is built under another name and then renamed.
//! - Two processes never build the same key at once; the second waits and finds what the first has built.
//! - A process that dies while it builds leaves the lock free.
//! - A build that has failed isn't tried again in the same test run.
//!
//! # Assumptions
//! - The cache folder is on one file system, whose locks work between its users.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use super::{attempt::Attempt, modules::Module, progress};
use crate::error::Error;
use crate::files::make_folder;

/// The folder of the module's binary; `build` fills it if it doesn't exist, and if it hasn't failed in the test run `run`
/// already. Blocks for as long as that takes.
pub(super) fn ensure(
    cache: &Path,
    module: &Module,
    run: &str,
    build: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let key = module.key();
    let folder = cache.join(&key);
    if folder.is_dir() {
        return Ok(folder);
    }
    make_folder(cache)?;
    let _lock = lock(&cache.join(format!("{key}.lock")), module)?;
    // Someone else may have built it while this process waited.
    if folder.is_dir() {
        return Ok(folder);
    }
    let attempt = Attempt::of(cache, module, run);
    attempt.check(module)?;
    let built = fill(cache, &folder, build);
    attempt.ended(built.as_ref().err());
    built.map(|()| folder)
}

fn fill(cache: &Path, folder: &Path, build: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let unfinished = tempfile::Builder::new()
        .prefix("unfinished-")
        .tempdir_in(cache)
        .map_err(Error::io(format!("make a folder in {}", cache.display())))?;
    let content = unfinished.path().join("content");
    make_folder(&content)?;
    build(&content)?;
    std::fs::rename(&content, folder).map_err(Error::io(format!("make {}", folder.display())))
}

/// Waits until this process has the lock. It is released when the file is closed, however that happens.
fn lock(path: &Path, module: &Module) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::io(format!("make {}", path.display())))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {
            progress::say(&format!("another process is building {}; waiting for it", module.what));
        }
        Err(TryLockError::Error(source)) => {
            return Err(Error::io(format!("lock {}", path.display()))(source));
        }
    }
    file.lock().map_err(Error::io(format!("lock {}", path.display())))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use super::{super::modules::CLUSTER, *};

    fn fake(folder: &Path) -> Result<(), Error> {
        crate::files::write(&folder.join("etcd"), "binary")
    }

    #[test]
    fn two_at_once_build_once() {
        let cache = tempfile::tempdir().unwrap();
        let (builds, together) = (AtomicUsize::new(0), Barrier::new(2));
        // Locks belong to an open file, so two threads stand for two processes.
        let ensure_one = || {
            together.wait();
            ensure(cache.path(), &CLUSTER, "a run", |folder| {
                builds.fetch_add(1, Ordering::SeqCst);
                fake(folder)
            })
            .unwrap()
        };
        let (one, two) = thread::scope(|scope| {
            let (one, two) = (scope.spawn(ensure_one), scope.spawn(ensure_one));
            (one.join().unwrap(), two.join().unwrap())
        });
        assert_eq!(one, two);
        assert_eq!(builds.load(Ordering::SeqCst), 1);
        assert!(one.join("etcd").exists());
    }

    #[test]
    fn a_failed_build_leaves_its_reason_and_is_tried_again_by_the_next_run() {
        let cache = tempfile::tempdir().unwrap();
        let fails = |run: &str| {
            let failed = |folder: &Path| {
                fake(folder)?;
                Err(Error::Ended)
            };
            ensure(cache.path(), &CLUSTER, run, failed).unwrap_err()
        };
        assert!(matches!(fails("first"), Error::Ended));
        assert!(!cache.path().join(CLUSTER.key()).exists());
        let Error::NotBuilt { note, .. } = fails("first") else {
            panic!("it is tried again in the same run")
        };
        assert_eq!(std::fs::read_to_string(&note).unwrap(), "first\nthe control plane has ended\n");
        assert!(matches!(fails("second"), Error::Ended));

        assert!(ensure(cache.path(), &CLUSTER, "third", fake).unwrap().join("etcd").exists());
        let left = std::fs::read_dir(cache.path()).unwrap().count();
        assert_eq!(left, 2, "the lock and the binaries");
    }
}
