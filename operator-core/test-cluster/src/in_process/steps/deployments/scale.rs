//! How many replicas each ReplicaSet gets: when their number changes without a new template, and in a rolling update, in
//! which the new one grows and the old ones shrink, within the limits.

use super::{
    super::{Next, view::number},
    Act, Found, Rollout,
    revision::{DESIRED, MAXIMUM},
    sum, text, wanted,
};
use serde_json::Value;

impl<'s> Rollout<'s> {
    /// The next step of a rolling update.
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
        let available = |set: &Value| number(&set["status"]["availableReplicas"]);
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

    /// Whether the number of replicas has changed since the ReplicaSets were last resized.
    pub(super) fn is_scaling(&self) -> bool {
        let desired = |set: &Value| text(&set["metadata"]["annotations"][DESIRED]).parse::<i64>().ok();
        let active = self.all().filter(|(_, set)| wanted(set) > 0);
        active.filter_map(|(_, set)| desired(set)).any(|desired| desired != self.replicas())
    }

    /// Each ReplicaSet gets its share.
    pub(super) fn scale(&self) -> Vec<Act> {
        let mut active: Vec<Found<'s>> = self.all().filter(|(_, set)| wanted(set) > 0).collect();
        let only = match active.as_slice() {
            [] => self.new.or_else(|| self.old.last().copied()),
            [one] => Some(*one),
            _ => None,
        };
        if let Some(only) = only {
            let differs = wanted(only.1) != self.replicas();
            return differs.then(|| self.resized(only, self.replicas())).into_iter().collect();
        }
        if self.is_saturated() {
            let old = self.old.iter().filter(|(_, set)| wanted(set) > 0);
            return old.map(|set| self.resized(*set, 0)).collect();
        }
        if self.deployment["spec"]["strategy"]["type"] != "RollingUpdate" || active.is_empty() {
            return Vec::new();
        }
        let allowed = if self.replicas() > 0 { self.replicas() + self.surge() } else { 0 };
        let added = allowed - sum(active.iter().copied(), wanted);
        // The larger ones first; among equals the newer one grows first, and the older one shrinks first.
        active.sort_by_key(|(path, set)| (text(&set["metadata"]["creationTimestamp"]).to_owned(), *path));
        if added > 0 {
            active.reverse();
        }
        active.sort_by_key(|(_, set)| -wanted(set));
        let mut rest = added;
        let mut sizes = Vec::new();
        for (_, set) in &active {
            let share = if rest == 0 { 0 } else { self.share_of(set, added, rest) };
            rest -= share;
            sizes.push(wanted(set) + share);
        }
        if let Some(largest) = sizes.first_mut() {
            *largest = (*largest + rest).max(0);
        }
        let noted = [(DESIRED, self.replicas()), (MAXIMUM, self.replicas() + self.surge())];
        let differs = |set: &Value, size: i64| {
            let annotations = &set["metadata"]["annotations"];
            let known = |name: &str| text(&annotations[name]).parse::<i64>().ok();
            wanted(set) != size || noted.iter().any(|(name, value)| known(name) != Some(*value))
        };
        let changed = active.into_iter().zip(sizes).filter(|((_, set), size)| differs(set, *size));
        changed.map(|(set, size)| self.resized(set, size)).collect()
    }

    fn is_saturated(&self) -> bool {
        self.new.is_some_and(|(_, set)| {
            let desired = text(&set["metadata"]["annotations"][DESIRED]).parse::<i64>();
            wanted(set) == self.replicas()
                && desired == Ok(self.replicas())
                && number(&set["status"]["availableReplicas"]) == self.replicas()
        })
    }

    /// What a ReplicaSet gets of the replicas that are added or taken away.
    fn share_of(&self, set: &Value, added: i64, rest: i64) -> i64 {
        let size = wanted(set);
        let share = if self.replicas() == 0 {
            -size
        } else {
            let before = text(&set["metadata"]["annotations"][MAXIMUM]).parse::<i64>().unwrap_or_default();
            let before = if before == 0 { number(&self.deployment["status"]["replicas"]) } else { before };
            if before == 0 { 0 } else { rounded(size * (self.replicas() + self.surge()), before) - size }
        };
        if added > 0 { share.min(rest) } else { share.max(rest) }
    }
}

/// A quotient rounded to the nearest number.
fn rounded(number: i64, by: i64) -> i64 {
    (2 * number + by) / (2 * by)
}
