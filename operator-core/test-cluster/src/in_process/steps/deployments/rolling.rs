//! A rolling update: the new ReplicaSet grows and the old ones shrink, within the limits.

use super::{
    super::{Next, view::number},
    Act, Found, Rollout, sum, wanted,
};

impl<'s> Rollout<'s> {
    pub(super) fn roll(&self) -> Next {
        if let Some(next) = self.revise(true) {
            return next;
        }
        if let Some(act) = self.resize_new() {
            return Next::act(act);
        }
        let down = self.shrink_old();
        if !down.is_empty() {
            return Next::acts(down);
        }
        self.finish()
    }

    fn resize_new(&self) -> Option<Act> {
        let new = self.new?;
        let present = wanted(new.1);
        let size = if present > self.replicas() { self.replicas() } else { self.replicas_of_new() };
        (size != present).then(|| self.resized(new, size))
    }

    /// Old Pods go if enough others are available; those that aren't available themselves go first.
    fn shrink_old(&self) -> Vec<Act> {
        let active: Vec<Found<'s>> = self.old.iter().copied().filter(|(_, set)| wanted(set) > 0).collect();
        if active.is_empty() {
            return Vec::new();
        }
        let least = self.replicas() - self.unavailable();
        let available = |set: &serde_json::Value| number(&set["status"]["availableReplicas"]);
        let new_unavailable = self.new.map_or(0, |(_, set)| wanted(set) - available(set));
        let most = sum(self.all(), wanted) - least - new_unavailable;
        if most <= 0 {
            return Vec::new();
        }
        let mut sizes: Vec<i64> = active.iter().map(|(_, set)| wanted(set)).collect();
        let mut left = most;
        for (size, (_, set)) in sizes.iter_mut().zip(&active) {
            let unhealthy = (*size - available(set)).max(0).min(left);
            *size -= unhealthy;
            left -= unhealthy;
        }
        let mut left = sum(self.all(), available) - least;
        for size in &mut sizes {
            let surplus = (*size).min(left.max(0));
            *size -= surplus;
            left -= surplus;
        }
        let changed = active.into_iter().zip(sizes).filter(|((_, set), size)| wanted(set) != *size);
        changed.map(|(set, size)| self.resized(set, size)).collect()
    }
}
