//! Definitions with parts that the server doesn't do, for tests that don't need these parts.

use super::InProcessServer;

impl InProcessServer {
    /// Lets definitions be stored whose parts this server doesn't do, such as a conversion webhook, with one warning in
    /// the answer (`Warning: 299`). Otherwise they are refused with 501. Objects of other versions are then converted
    /// as if the strategy were `None`.
    #[must_use]
    pub fn lenient(self) -> Self {
        self.shared().state.lock().api.discovery.be_lenient();
        self
    }
}
