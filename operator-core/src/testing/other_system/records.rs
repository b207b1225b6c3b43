//! The records of the other system, each with its past, so that reads can lag behind.

use std::time::Duration;

use tokio::time::Instant;

use crate::dependent::Deletion;

/// All that were ever made, in this order.
#[derive(Debug)]
pub(super) struct SystemRecords<R>(Vec<SystemRecord<R>>);

#[derive(Debug)]
pub(super) struct SystemRecord<R> {
    pub(super) id: String,
    pub(super) token: String,
    /// What it was from when on; `None` once it is deleted.
    versions: Vec<(Instant, Option<R>)>,
    /// When a slow deletion is done.
    gone_at: Option<Instant>,
}

impl<R> Default for SystemRecords<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R: Clone> SystemRecord<R> {
    /// What it is now.
    pub(super) fn body(&self) -> Option<&R> {
        self.versions.last().and_then(|(_, body)| body.as_ref())
    }

    /// What it was so long ago.
    fn body_before(&self, lag: Duration, now: Instant) -> Option<&R> {
        let shown = self.versions.iter().rfind(|(since, _)| now.duration_since(*since) >= lag);
        shown.and_then(|(_, body)| body.as_ref())
    }
}

impl<R: Clone> SystemRecords<R> {
    pub(super) fn all(&self) -> &[SystemRecord<R>] {
        &self.0
    }

    /// Finishes slow deletions.
    pub(super) fn pass(&mut self, now: Instant) {
        for record in &mut self.0 {
            if let Some(gone_at) = record.gone_at.take_if(|gone_at| *gone_at <= now) {
                record.versions.push((gone_at, None));
            }
        }
    }

    pub(super) fn create(&mut self, token: &str, body: R, now: Instant) -> (String, R) {
        let id = format!("id-{}", self.0.len() + 1);
        let versions = vec![(now, Some(body.clone()))];
        self.0.push(SystemRecord { id: id.clone(), token: token.to_owned(), versions, gone_at: None });
        (id, body)
    }

    /// Those that exist, as they were so long ago.
    pub(super) fn shown(
        &self,
        which: impl Fn(&SystemRecord<R>) -> bool,
        lag: Duration,
        now: Instant,
    ) -> Vec<(String, R)> {
        let shown = self.0.iter().filter(|record| which(record));
        shown.filter_map(|record| Some((record.id.clone(), record.body_before(lag, now)?.clone()))).collect()
    }

    fn existing(&mut self, id: &str) -> Option<&mut SystemRecord<R>> {
        self.0.iter_mut().find(|record| record.id == id).filter(|record| record.body().is_some())
    }

    /// Changes one; whether there is one.
    pub(super) fn update(&mut self, id: &str, body: R, now: Instant) -> bool {
        let Some(record) = self.existing(id) else { return false };
        record.versions.push((now, Some(body)));
        true
    }

    /// Deletes one, which takes this long. One that doesn't exist is gone.
    pub(super) fn delete(&mut self, id: &str, takes: Duration, now: Instant) -> Deletion {
        let Some(record) = self.existing(id) else { return Deletion::Gone };
        if takes.is_zero() {
            record.gone_at = None;
            record.versions.push((now, None));
            return Deletion::Gone;
        }
        record.gone_at.get_or_insert(now + takes);
        Deletion::Asked
    }
}
