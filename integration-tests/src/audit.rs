//! Operators whose calls are counted through the audit log.

use anyhow::Result;
use operator_core::{OperatorBuilder, testing::Audit};

use crate::{Scene, TestObject};

impl<K: TestObject> Scene<K> {
    /// An operator without controllers yet, with its own user agent, and the calls that it makes.
    ///
    /// # Errors
    /// When the cluster has no audit log, or can't be reached.
    pub async fn audited(&self) -> Result<(OperatorBuilder, Audit)> {
        Ok(self.cluster.audited(self.operator()).await?)
    }
}
