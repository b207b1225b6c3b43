//! Objects of bounded informers that are held in full for as long as a run needs them.
//!
//! ```text
//! hold(keys) ──▶ pinned ──▶ held in full? ── no, but known ──▶ one GET
//!                              └─ yes: nothing is sent
//! drop ──▶ as bounded as before
//! ```

use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use parking_lot::Mutex;

use super::Informer;
use crate::{cache::Error, resource::ObjectKey};

/// How many objects are read at the same time.
const READS_AT_ONCE: usize = 16;

/// Objects that a bounded informer holds in full until this is dropped, and after that as long as its bounds allow.
struct PinnedObjects {
    informer: Informer,
    keys: Vec<ObjectKey>,
}

impl Drop for PinnedObjects {
    fn drop(&mut self) {
        for key in &self.keys {
            self.informer.0.engine.unpin(key);
        }
    }
}

/// The objects that are held for one run.
#[derive(Default)]
pub(crate) struct HeldObjects(Mutex<Vec<PinnedObjects>>);

impl HeldObjects {
    /// Makes an informer hold these objects in full for as long as this lives.
    pub(crate) async fn hold(&self, informer: &Informer, keys: Vec<ObjectKey>) -> Result<(), Error> {
        let held = informer.hold(keys).await?;
        self.0.lock().extend(held);
        Ok(())
    }
}

debug_of!(HeldObjects: "HeldObjects");

impl Informer {
    /// Whether it holds only some objects in full.
    pub(crate) fn is_bounded(&self) -> bool {
        self.0.is_bounded
    }

    /// Holds these objects in full. Each one that isn't held is read with one request, and left out if it doesn't exist.
    /// An informer that isn't bounded holds them anyway.
    ///
    /// Boxed, as few informers are bounded.
    async fn hold(&self, keys: Vec<ObjectKey>) -> Result<Option<PinnedObjects>, Error> {
        if !self.is_bounded() || keys.is_empty() {
            return Ok(None);
        }
        for key in &keys {
            self.0.engine.pin(key);
        }
        // From here on they are released even if this future is dropped.
        let held = PinnedObjects { informer: self.clone(), keys };
        let reads = stream::iter(&held.keys).map(|key| self.fetch(key).map(|read| read.map(drop)));
        reads.buffer_unordered(READS_AT_ONCE).try_collect::<()>().boxed().await?;
        Ok(Some(held))
    }

    /// The keys of the objects for which the named index gives `value`, held in full or not.
    pub(crate) fn keys_by_index(&self, index: &str, value: &str) -> Vec<ObjectKey> {
        self.0.engine.keys_by_index(index, value)
    }
}
