//! What must hold.

use proptest::prelude::*;

use crate::cache::{
    Change, ChangeKind,
    tests::recorder::{kept_version, short, version},
};

use super::{
    Step,
    world::{NAMES, Told, World},
};

impl World {
    /// What holds at any time: reads are at least as new as our answers, and what was deleted doesn't come back.
    pub(super) fn check_reads(&self) -> Result<(), TestCaseError> {
        for name in 0..NAMES.len() {
            let key = self.key(name);
            let deletions = self.log.iter().filter(|event| event.name == name && event.deleted);
            let last_deletion = deletions.map(|event| version(&event.object)).max().unwrap_or(0);
            // From a bounded store, the minimal object stands for the one that is not held.
            let read = self.engine.base(&key).map(|object| version(&object));
            match read {
                Some(read) => {
                    prop_assert!(read >= self.own[name], "read {read}, wrote {}", self.own[name]);
                    prop_assert!(read > self.gone[name], "read {read}, gone since {}", self.gone[name]);
                }
                None => {
                    prop_assert!(self.own[name] <= last_deletion, "wrote {}, read nothing", self.own[name])
                }
            }
            let listed = self.engine.entries().into_iter().find(|(held, _)| *held == key);
            let listed = listed
                .and_then(|(_, kept)| self.engine.view.open(&kept)?.typed())
                .map(|object| version(&object));
            prop_assert_eq!(listed.is_some(), read.is_some());
            prop_assert_eq!(self.engine.keys().contains(&key), read.is_some());
            prop_assert_eq!(self.engine.contains(&key), read.is_some());
            match self.shape.max_objects {
                None => prop_assert_eq!(listed, read),
                // What was read from the server may be ahead of the list.
                Some(max) => {
                    prop_assert!(listed <= read);
                    prop_assert!(self.engine.full() as u64 <= max);
                }
            }
        }
        self.check_collections()
    }

    /// Own answers are kept only as long as their collection hasn't passed them.
    fn check_collections(&self) -> Result<(), TestCaseError> {
        let ahead = |name: &usize| self.own[*name] > self.seen[self.scope_of(*name)];
        let awaited = (0..NAMES.len()).filter(ahead).count();
        prop_assert!(self.engine.recent() <= awaited, "{} kept, {awaited} awaited", self.engine.recent());
        Ok(())
    }

    /// What holds in the end, when all writes have ended and everything has been shown.
    pub(super) fn check_end(&mut self) -> Result<(), TestCaseError> {
        for scope in 0..NAMES.len() {
            self.step(Step::ListEnd(scope));
        }
        for name in 0..NAMES.len() {
            while !self.guards[name].is_empty() {
                self.step(Step::Finish(name));
            }
        }
        for scope in 0..NAMES.len() {
            while self.next_event(scope).is_some() {
                self.step(Step::Deliver(scope));
                self.check_reads()?;
            }
            self.step(Step::Bookmark(scope));
        }
        let sizes = (self.engine.recent(), self.engine.windows(), self.engine.stored());
        prop_assert_eq!(sizes, (0, 0, self.objects.len()));
        for (name, object) in &self.objects {
            let read = self.engine.base(&self.key(*name));
            prop_assert_eq!(read.as_deref(), Some(object));
        }
        for name in 0..NAMES.len() {
            self.check_told(name)?;
        }
        for name in 0..NAMES.len() {
            self.step(Step::ForeignDelete(name));
            self.step(Step::Deliver(self.scope_of(name)));
        }
        let sizes = (self.engine.recent(), self.engine.windows(), self.engine.stored(), self.engine.full());
        prop_assert_eq!(sizes, (0, 0, 0, 0));
        Ok(())
    }

    fn check_told(&self, name: usize) -> Result<(), TestCaseError> {
        // When a change was told, as a version: of its object, or of the list that missed the object.
        let changes: Vec<(&Change, u64)> = self
            .told
            .iter()
            .filter_map(|told| match told {
                Told::Change(change, seen) if change.key == self.key(name) => match &change.kind {
                    ChangeKind::Deleted { final_state_unknown: true, .. } => Some((change, *seen)),
                    ChangeKind::Added { .. } | ChangeKind::Updated { .. } | ChangeKind::Deleted { .. } => {
                        Some((change, kept_version(change.kind.object())))
                    }
                },
                Told::Change(..) | Told::Wrote(..) => None,
            })
            .collect();
        let words = || changes.iter().map(|(change, _)| short(change)).collect::<Vec<_>>();
        for (changed, at, events) in &self.must_tell {
            let foreign = events.is_empty() || events.iter().any(|event| self.log[*event].foreign);
            if *changed == name && foreign {
                let told = changes.iter().any(|(_, told)| told >= at);
                prop_assert!(told, "the change of {} at {at} was lost: {:?}", NAMES[name], words());
            }
        }
        if !self.disturbed[name] {
            prop_assert!(changes.is_empty(), "only we wrote {}, and yet: {:?}", NAMES[name], words());
        }
        // Whoever acts on what he was told, and on his own writes, ends up knowing whether the object exists.
        let mut exists = false;
        for told in &self.told {
            match told {
                Told::Change(change, _) if change.key == self.key(name) => {
                    exists = !matches!(change.kind, ChangeKind::Deleted { .. });
                }
                Told::Wrote(wrote) if *wrote == name => exists = true,
                Told::Change(..) | Told::Wrote(..) => {}
            }
        }
        if self.objects.contains_key(&name) {
            prop_assert!(
                exists,
                "{} exists, and the last word was its deletion: {:?}",
                NAMES[name],
                self.told
            );
        }
        Ok(())
    }
}
