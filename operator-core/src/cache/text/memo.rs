//! The objects that were decoded last: readers shortly after one another don't decode an object twice. One memo for all
//! informers of an operator.
//!
//! ```text
//!  read ──▶ TextObject: is it in use? ──▶ yes: the same one
//!                    │ no: decoded
//!                    ▼
//!            the last seat of the queue ── too heavy: the first ones leave ──▶ gone, unless in use
//! ```
//!
//! # Guarantees
//! - The size of the queue is limited, by the length of the texts; beyond that, objects no longer in use are dropped.
//! - An object that is no longer kept is removed from the queue, too.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use crate::resource::AnyObject;

use super::TextObject;

/// The number of bytes of JSON that are held decoded, which take one and a half to six times as much.
const MOST: usize = 4 << 20;
/// The minimum for even the smallest one.
const LEAST: usize = 512;

/// The queue.
#[derive(Default)]
pub(in crate::cache) struct Memo(pub(super) Mutex<Seats>);

#[derive(Default)]
pub(super) struct Seats {
    next: u64,
    pub(super) weight: usize,
    pub(super) by_number: BTreeMap<u64, Seated>,
}

pub(super) struct Seated {
    object: AnyObject,
    of: Weak<TextObject>,
    weight: usize,
}

/// A place in the queue, which is freed when this is dropped.
pub(super) struct Seat {
    memo: Arc<Memo>,
    number: u64,
}

impl Memo {
    /// Adds `object`, which is the decoded form of `kept`.
    pub(super) fn seat(self: &Arc<Self>, kept: &Arc<TextObject>, object: AnyObject) -> Seat {
        let weight = kept.text().len() + LEAST;
        let (number, leaving) = {
            let seats = &mut *self.0.lock();
            let number = seats.next;
            seats.next += 1;
            seats.weight += weight;
            seats.by_number.insert(number, Seated { object, of: Arc::downgrade(kept), weight });
            let mut leaving = Vec::new();
            while seats.weight > MOST
                && let Some((_, first)) = seats.by_number.pop_first()
            {
                seats.weight -= first.weight;
                leaving.push(first);
            }
            (number, leaving)
        };
        // Outside of the lock: a dropped object may leave other seats.
        for Seated { object, of, .. } in leaving {
            if let Some(kept) = of.upgrade() {
                kept.leave(&object);
            }
        }
        Seat { memo: Arc::clone(self), number }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let left = {
            let seats = &mut *self.memo.0.lock();
            let left = seats.by_number.remove(&self.number);
            seats.weight -= left.as_ref().map_or(0, |left| left.weight);
            left
        };
        // Outside of the lock: its `Drop` may be the user's.
        drop(left);
    }
}
