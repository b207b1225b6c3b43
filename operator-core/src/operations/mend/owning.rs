//! Whether the run's primary may still become the owner of an existing object.
//!
//! ```text
//! owner reference wanted, and not known to be there ─▶ the primary, cached or live ─┬─ it stays ──▶ the write is sent
//!                                                                                   └─ it goes ───▶ Error::OwnerGoes, nothing
//!                                                                                                   is sent
//! ```
//!
//! A deletion with `--cascade=orphan` removes the owner from the children first. A run whose caches show that, and not
//! yet that the primary is being deleted, would add it again, and the collector would delete the child with the
//! primary. Kubernetes' own controllers also read the live owner before they adopt an object
//! (`RecheckDeletionTimestamp`).
//!
//! # Guarantees
//! - An object that a run finds without its owner gets it back only if the primary isn't being deleted at that time. If
//!   a collector has removed the owner, it did so after the deletion, which the live primary therefore shows.
//!
//! # Assumptions
//! - A run that has begun with a primary that is being deleted, a clean-up, isn't checked. A run that has begun before
//!   the deletion is, also if the cache has seen the deletion since then.

use crate::operations::{
    Error,
    send::{intent::Intent, live::live, target::Target},
};
use crate::resource::{AnyObject, Object};

impl Target<'_> {
    /// Makes sure that the run's primary stays, if `intent` makes it the owner of an object that may exist without
    /// that. `base` is the state that the write is based on, if one is known.
    pub(in crate::operations) async fn may_own(
        &self,
        intent: &Intent,
        base: Option<&dyn Object>,
    ) -> Result<(), Error> {
        let uid = self.run.uid;
        if self.run.is_cleanup || !intent.names_owner(uid) || base.is_some_and(|base| base.is_owned_by(uid)) {
            return Ok(());
        }
        let (primaries, key) = (self.run.primaries.informer(), self.run.key);
        let is_this = |primary: &AnyObject| primary.uid() == Some(uid);
        let is_going = |primary: &AnyObject| primary.meta().deletion_timestamp.is_some();
        let known = primaries.get(key).filter(is_this).filter(is_going);
        let newest = match known {
            Some(going) => Some(going),
            None => live(self.run.writer, primaries, key).await?.filter(is_this),
        };
        match newest {
            Some(primary) if !is_going(&primary) => Ok(()),
            found => {
                if found.is_none() {
                    self.run.findings.note_gone();
                } else {
                    self.run.findings.note_going();
                }
                Err(Error::OwnerGoes { kind: primaries.resource_type().clone(), key: key.clone() })
            }
        }
    }
}
