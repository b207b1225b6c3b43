//! What a busy server does: it refuses requests for a while, and sends the lines of watches at other times and in other
//! pieces.
//!
//! ```text
//!  throttle(n) ─▶ the next n requests ─▶ 429
//!  vary_watches(seed) ─▶ each later watch: its own sequence of numbers ─▶ its end, its bookmarks, its pieces
//! ```
//!
//! # Guarantees
//! - The same seed and the same requests give the same pieces at the same times, in tokio's time.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;

use super::watch::DEFAULT_TIMEOUT;

/// The interval at which a watch sends bookmarks, if it may: the same as in the real server.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// How busy a server is.
#[derive(Debug, Default)]
pub(super) struct Pressure {
    refused: AtomicU64,
    seed: Mutex<Option<u64>>,
}

impl Pressure {
    /// Refuses the next requests, this many.
    pub(super) fn refuse(&self, requests: u64) {
        self.refused.store(requests, Ordering::Relaxed);
    }

    /// Lets later watches vary by a seed.
    pub(super) fn vary(&self, seed: u64) {
        *self.seed.lock() = Some(seed);
    }

    /// Whether a request is refused.
    pub(super) fn refuses(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        self.refused.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// How the watch of this number is sent.
    pub(super) fn rhythm(&self, watch: u64) -> Rhythm {
        Rhythm(self.seed.lock().map(|seed| mix(seed ^ mix(watch))))
    }
}

/// How a watch is sent; by default regularly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rhythm(Option<u64>);

impl Rhythm {
    /// A number below a limit, if this varies.
    fn below(&mut self, limit: u64) -> Option<u64> {
        let state = self.0.as_mut()?;
        *state = mix(*state);
        Some(*state % limit)
    }

    /// When a watch ends that is to end after some seconds.
    pub(super) fn timeout(&mut self, seconds: u64) -> Duration {
        let more = if seconds == DEFAULT_TIMEOUT { self.below(DEFAULT_TIMEOUT) } else { None };
        Duration::from_secs(seconds + more.unwrap_or_default())
    }

    /// When the next bookmark comes.
    pub(super) fn bookmark(&mut self) -> Duration {
        self.below(30).map_or(BOOKMARKS, |more| Duration::from_secs(45 + more))
    }

    /// The next piece of the lines.
    pub(super) fn piece(&mut self, lines: &mut VecDeque<Bytes>) -> Option<Bytes> {
        let mut piece = lines.pop_front()?;
        match self.below(4) {
            Some(0) if piece.len() > 1 => {
                let length = u64::try_from(piece.len() - 1).unwrap_or(1);
                let at = self.below(length).and_then(|at| usize::try_from(at).ok()).unwrap_or_default() + 1;
                lines.push_front(piece.split_off(at));
                Some(piece)
            }
            Some(1) => match lines.pop_front() {
                Some(next) => Some([piece, next].concat().into()),
                None => Some(piece),
            },
            _ => Some(piece),
        }
    }
}

/// The next number of a sequence (splitmix64).
fn mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(rhythm: &mut Rhythm) -> Vec<Bytes> {
        let mut lines: VecDeque<Bytes> = (0..50).map(|line| format!("line {line}\n").into()).collect();
        std::iter::from_fn(|| rhythm.piece(&mut lines)).collect()
    }

    #[test]
    fn the_pieces_of_a_seed_are_always_the_same_and_have_all_lines() {
        let pressure = Pressure::default();
        let regular = pieces(&mut pressure.rhythm(1));
        assert_eq!(regular.len(), 50);
        *pressure.seed.lock() = Some(7);
        let varied = pieces(&mut pressure.rhythm(1));
        assert_eq!(varied.concat(), regular.concat());
        assert_ne!(varied, regular);
        assert_eq!(varied, pieces(&mut pressure.rhythm(1)));
        assert_ne!(varied, pieces(&mut pressure.rhythm(2)));
        let mut rhythm = pressure.rhythm(3);
        for _ in 0..100 {
            assert!((45..=75).contains(&rhythm.bookmark().as_secs()));
            assert!((1800..3600).contains(&rhythm.timeout(DEFAULT_TIMEOUT).as_secs()));
            assert_eq!(rhythm.timeout(5).as_secs(), 5);
        }
    }
}
