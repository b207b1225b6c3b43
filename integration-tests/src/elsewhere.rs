//! Something outside of the cluster that isn't there yet, and that can't be created so easily.

use std::{future::pending, sync::Arc};

use operator_core::{
    BoxError, Context,
    dependent::{Creator, CustomDependent, DependentResource},
};

use crate::TestResource;

/// What is answered to its creation; nothing at all with `None`.
type Answered = fn(&TestResource) -> Option<Result<(), BoxError>>;

/// It isn't there; what comes of its creation is up to the test.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere(Answered);

impl Elsewhere {
    /// A dependent whose creation is never answered.
    pub fn unanswered() -> CustomDependent<Self, TestResource> {
        Self::answered(|_| None)
    }

    /// A dependent whose creation is answered so.
    pub fn answered(answered: Answered) -> CustomDependent<Self, TestResource> {
        CustomDependent::new(Self(answered)).creates()
    }
}

impl DependentResource<TestResource> for Elsewhere {
    type Resource = ();

    async fn secondary(
        &self,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Option<Arc<()>>, BoxError> {
        Ok(None)
    }
}

impl Creator<TestResource> for Elsewhere {
    fn desired(&self, _: &TestResource, _: &Context<TestResource>) -> Result<(), BoxError> {
        Ok(())
    }

    async fn create(
        &self,
        (): (),
        primary: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Arc<()>, BoxError> {
        match self.0(primary) {
            Some(answer) => answer.map(Arc::new),
            None => pending().await,
        }
    }
}
