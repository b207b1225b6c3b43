//! What a test looks at: all that was ever made and asked for.

use tokio::time::Instant;

use super::OtherSystem;

/// What a test looks at. None of it is a call.
impl<R: Clone + Send + 'static> OtherSystem<R> {
    /// How many records were ever made with this token.
    #[must_use]
    pub fn made_for(&self, token: &str) -> usize {
        self.0.lock().records.all().iter().filter(|record| record.token == token).count()
    }

    /// All records that were ever made, in this order: id, token, and what it is now, whether or not reads show it; `None` once
    /// it is deleted.
    #[must_use]
    pub fn records(&self) -> Vec<(String, String, Option<R>)> {
        let mut state = self.0.lock();
        state.records.pass(Instant::now());
        let all = state.records.all().iter();
        all.map(|record| (record.id.clone(), record.token.clone(), record.body().cloned())).collect()
    }

    /// All calls, in the order in which they began: `create uid/node`, `get id-1`, …
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        self.0.lock().calls.clone()
    }

    /// The number of calls that were in progress at the same time, at most.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.0.lock().most_at_once
    }

    /// What the script says about next calls and has not happened: a test with some of it has not tested what it claims.
    #[must_use]
    pub fn unfired(&self) -> Vec<String> {
        self.0.lock().script.unfired()
    }
}
