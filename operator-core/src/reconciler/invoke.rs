//! How a reconciler runs its controller's workflow, and what it has come to.

use std::sync::Arc;

use super::{
    AnyRun, Context, Run,
    workflow::{NodeKey, WorkflowError},
};
use crate::resource::{AnyObject, KubeObject};

impl<P: KubeObject> Context<P> {
    /// Reconciles the controller's workflow for the primary that `reconcile` was given. For a workflow with `explicit_invocation`; any
    /// other one has run before. It may run again, and is computed anew then. One run at a time: two at once don't compile.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    /// use operator_core::prelude::*;
    ///
    /// fn map(_: &Pod) -> ConfigMap {
    ///     ConfigMap::default()
    /// }
    ///
    /// async fn reconcile(_: &Pod, cx: &mut Context<Pod>) -> Result<UpdateControl<Pod>> {
    ///     let run = cx.run().await?;
    ///     println!("{:?}", run.get(map).and_then(|map| map.metadata.name.clone()));
    ///     Ok(UpdateControl::no_update())
    /// }
    /// ```
    ///
    /// # Errors
    /// When a node failed, unless the workflow keeps errors in its result; when there is no workflow.
    pub async fn run(&mut self) -> Result<Run<P>, WorkflowError> {
        self.any().workflow().reconcile().await?;
        self.so_far()
    }

    /// Cleans up the controller's workflow for the primary that `cleanup` was given: deletes what has to go before it. For a workflow
    /// with `explicit_invocation`; any other one has been cleaned up before. The primary stays until all of that is gone, whatever the
    /// cleaner answers.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn clean_up(&mut self) -> Result<Run<P>, WorkflowError> {
        self.any().workflow().cleanup().await?;
        self.so_far()
    }

    /// What the controller's workflow has come to in this run so far. Where it has not been run, no node is in it, and it is not ready.
    ///
    /// # Errors
    /// When the primary is gone.
    pub fn so_far(&self) -> Result<Run<P>, WorkflowError> {
        let primary = self.given_primary()?;
        Ok(Run::of_any(Arc::new(AnyRun::new(self.any(), primary, None))))
    }

    /// Reconciles these nodes and what they come after.
    pub(crate) async fn run_part(&mut self, part: &[NodeKey]) -> Result<Run<P>, WorkflowError> {
        let result = self.any().workflow().reconcile_part(part).await?;
        let primary = self.given_primary()?;
        Ok(Run::of_any(Arc::new(AnyRun::of_part(self.any(), primary, result))))
    }

    fn given_primary(&self) -> Result<AnyObject, WorkflowError> {
        self.any().own_primary().ok_or_else(|| {
            // The run ends as those do whose writes find the same.
            self.any().findings().note_gone();
            WorkflowError::PrimaryGone
        })
    }
}
