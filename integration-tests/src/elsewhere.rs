//! Something outside the cluster that doesn't exist yet, and whose creation may fail.

use std::{future::pending, time::Duration};

use operator_core::{
    BoxError,
    dependent::{Deletion, External, Records, System, Token},
};

use crate::TestResource;

/// The answer to its creation; none at all with `None`.
type Answered = fn(&TestResource) -> Option<Result<(), BoxError>>;

/// It doesn't exist; the test decides about its creation.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere(Answered);

/// The record that is wanted for a primary; all are equal.
#[derive(Clone, Debug)]
pub struct WantedBy(TestResource);

impl PartialEq for WantedBy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Elsewhere {
    /// A record whose creation is never answered, however long one waits.
    pub fn unanswered() -> Records<Self, TestResource> {
        let patient = System::new("Elsewhere").deadline(Duration::from_secs(24 * 3600));
        Self::answered(|_| None).system(&patient)
    }

    /// A record whose creation is answered in this way.
    pub fn answered(answered: Answered) -> Records<Self, TestResource> {
        Records::new(Self(answered)).id_of(|_| "elsewhere".to_owned())
    }
}

impl External<TestResource> for Elsewhere {
    type Resource = WantedBy;
    type Want = Option<WantedBy>;

    fn want(&self, primary: &TestResource) -> Option<WantedBy> {
        Some(WantedBy(primary.clone()))
    }

    async fn observe(&self, _: &str) -> Result<Option<WantedBy>, BoxError> {
        Ok(None)
    }

    async fn create(&self, want: &WantedBy, _: &Token) -> Result<(String, WantedBy), BoxError> {
        match self.0(&want.0) {
            Some(answer) => answer.map(|()| ("elsewhere".to_owned(), want.clone())),
            None => pending().await,
        }
    }

    async fn update(&self, _: &str, _: &WantedBy, want: &WantedBy) -> Result<WantedBy, BoxError> {
        Ok(want.clone())
    }

    async fn delete(&self, _: &str) -> Result<Deletion, BoxError> {
        Ok(Deletion::Gone)
    }
}
