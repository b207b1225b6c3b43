//! The measurements, and their results.

use std::{collections::BTreeMap, fmt, time::Duration};

/// The actions during which an operator is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Burst,
    Updates,
    Restart,
    Labels,
    Deletion,
    ColdStart,
    ColdLabels,
    Beside,
    ColdDeletion,
}

impl Phase {
    pub(crate) const ALL: [Self; 9] = [
        Self::Burst,
        Self::Updates,
        Self::Restart,
        Self::Labels,
        Self::Deletion,
        Self::ColdStart,
        Self::ColdLabels,
        Self::Beside,
        Self::ColdDeletion,
    ];
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Burst => "burst of new objects",
            Self::Updates => "single updates",
            Self::Restart => "restart, until one change",
            Self::Labels => "a foreign label on children",
            Self::Deletion => "deletion of everything",
            Self::ColdStart => "cold start on many",
            Self::ColdLabels => "a foreign label on many",
            Self::Beside => "cold start beside foreign",
            Self::ColdDeletion => "deletion of many",
        })
    }
}

/// The cost of one phase, for one operator in one round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    /// The number of objects in the phase.
    pub(crate) objects: usize,
    pub(crate) took: Duration,
    pub(crate) cpu_seconds: f64,
    /// The peak memory since the start of the process, in MiB.
    pub(crate) peak: f64,
    /// The memory at the end without the pages of the program itself, in MiB.
    pub(crate) own: f64,
    /// How long each object took, sorted, where that was watched.
    pub(crate) delays: Vec<Duration>,
    /// The number of requests, by verb.
    pub(crate) requests: BTreeMap<String, usize>,
}

impl Cost {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer objects than that")]
    pub(crate) fn per_second(&self) -> f64 {
        self.objects as f64 / self.took.as_secs_f64().max(f64::EPSILON)
    }

    /// The delay below which `share` of all lie, in milliseconds.
    pub(crate) fn delay(&self, share: f64) -> f64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let index = ((self.delays.len() as f64 * share) as usize).min(self.delays.len().saturating_sub(1));
        self.delays.get(index).map_or(0.0, |delay| delay.as_secs_f64() * 1000.0)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests: Vec<String> =
            self.requests.iter().map(|(verb, count)| format!("{verb} {count}")).collect();
        write!(
            f,
            "{:7.2} s  cpu {:5.2} s  peak {:5.1} MiB, now {:5.1} of its own  {}",
            self.took.as_secs_f64(),
            self.cpu_seconds,
            self.peak,
            self.own,
            requests.join(", "),
        )?;
        if self.delays.is_empty() {
            return Ok(());
        }
        write!(f, "  p50 {:.1} ms p99 {:.1} ms", self.delay(0.5), self.delay(0.99))
    }
}
