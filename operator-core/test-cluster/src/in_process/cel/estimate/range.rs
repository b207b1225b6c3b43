//! Ranges of costs and sizes, which never overflow.

/// At the least and at the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    pub(super) fn fixed(value: u64) -> Self {
        Self { min: value, max: value }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub(super) fn by(self, factor: f64) -> Self {
        Self { min: scaled(self.min, factor), max: scaled(self.max, factor) }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are computed so by the real server"
)]
pub(super) fn scaled(value: u64, factor: f64) -> u64 {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    let product = (value as f64 * factor).ceil();
    if product >= LIMIT { u64::MAX } else { product as u64 }
}
