//! How a reconciler runs its controller's workflow, and reads its result.

use std::sync::Arc;

use super::{AnyRun, Context, Run};
use crate::{
    resource::KubeObject,
    results::{NodeKey, WorkflowError},
};

impl<P: KubeObject> Context<P> {
    /// Reconciles the controller's workflow for the primary that `reconcile` was given. For a workflow with
    /// `explicit_invocation`; any other workflow has already run. It may be run again, and then everything is computed
    /// again. One run at a time: two at once don't compile.
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
    /// If a node failed, unless the workflow keeps errors in its result; if there is no workflow.
    pub async fn run(&mut self) -> Result<Run<P>, WorkflowError> {
        self.any().run_workflow(false).await?;
        self.so_far()
    }

    /// Cleans up the controller's workflow for the primary that `cleanup` was given: deletes what has to be deleted
    /// before it. For a workflow with `explicit_invocation`; any other workflow has already been cleaned up. The
    /// primary stays until all of this is gone, whatever the cleaner returns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn clean_up(&mut self) -> Result<Run<P>, WorkflowError> {
        self.any().run_workflow(true).await?;
        self.so_far()
    }

    /// The result of the controller's workflow in this run so far. If the workflow has not been run, the result has no
    /// nodes and is not ready.
    ///
    /// # Errors
    /// If the primary is gone.
    pub fn so_far(&self) -> Result<Run<P>, WorkflowError> {
        let primary = self.any().given_primary()?;
        Ok(Run::of_any(Arc::new(AnyRun::new(self.any(), primary, None))))
    }

    /// Reconciles these nodes and those that they come after.
    pub(crate) async fn run_part(&mut self, part: &[NodeKey]) -> Result<Run<P>, WorkflowError> {
        let result = self.any().run_part(part).await?;
        let primary = self.any().given_primary()?;
        Ok(Run::of_any(Arc::new(AnyRun::of_part(self.any(), primary, result))))
    }
}
