//! A folder of built binaries that processes share.
//!
//! ```text
//! <cache>/operator-core/
//!   control-plane-v1.36.3-linux-x86_64-<hash>/   control-plane, and links named like its applets
//!   kwok-v0.8.0-linux-x86_64-<hash>/             kwok
//!   prometheus-v0.316.0-linux-x86_64-<hash>/     prometheus
//!   <key>.lock                                   held while one process builds
//! ```
//!
//! # Guarantees
//! - A folder under its final name is complete: it is built under another name and then renamed.
//! - Two processes never build the same key at once; the second waits and finds what the first has built.
//! - A process that dies while it builds leaves the lock free.
//!
//! # Assumptions
//! - The cache folder is on one file system, whose locks work between its users.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use super::{modules::Module, progress};
use crate::error::Error;
use crate::files::make_folder;

/// The folder of the module's binary; `build` fills it if it doesn't exist. Blocks for as long as that takes.
pub(super) fn ensure(
    cache: &Path,
    module: &Module,
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
    let unfinished = tempfile::Builder::new()
        .prefix("unfinished-")
        .tempdir_in(cache)
        .map_err(Error::io(format!("make a folder in {}", cache.display())))?;
    let content = unfinished.path().join("content");
    make_folder(&content)?;
    build(&content)?;
    std::fs::rename(&content, &folder).map_err(Error::io(format!("make {}", folder.display())))?;
    Ok(folder)
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
            ensure(cache.path(), &CLUSTER, |folder| {
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
    fn a_failed_build_leaves_nothing_and_the_next_one_builds() {
        let cache = tempfile::tempdir().unwrap();
        let failed = ensure(cache.path(), &CLUSTER, |folder| {
            fake(folder)?;
            Err(Error::Ended)
        });
        assert!(matches!(failed, Err(Error::Ended)));
        assert!(!cache.path().join(CLUSTER.key()).exists());
        let left = std::fs::read_dir(cache.path()).unwrap().count();
        assert_eq!(left, 1, "only the lock stays");
        assert!(ensure(cache.path(), &CLUSTER, fake).unwrap().join("etcd").exists());
    }
}
