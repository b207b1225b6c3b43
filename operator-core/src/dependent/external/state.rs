//! Objects in the cluster that keep the ids of resources outside of it.

use futures::FutureExt;

use super::Answer;
use crate::{
    reconciler::Context,
    resource::{KubeObject, ObjectKey},
};

/// The writes of an object that keeps an id, of any type.
pub(in crate::dependent) trait KeepsState<P: KubeObject>: Send + Sync {
    /// Creates it if it is missing.
    fn ensure<'r>(&'r self, context: &'r Context<P>) -> Answer<'r, ()>;

    /// Deletes it.
    fn delete<'r>(&'r self, context: &'r Context<P>) -> Answer<'r, ()>;
}

impl<P: KubeObject, S: KubeObject> KeepsState<P> for S {
    fn ensure<'r>(&'r self, context: &'r Context<P>) -> Answer<'r, ()> {
        async move {
            if context.get::<S>(&ObjectKey::of(self))?.is_some() {
                return Ok(());
            }
            match context.any().permitted(context.resource_operations().create(self)).await {
                Ok(_) => Ok(()),
                // It was created by an attempt whose answer was lost.
                Err(error) if error.is_conflict() => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
        .boxed()
    }

    fn delete<'r>(&'r self, context: &'r Context<P>) -> Answer<'r, ()> {
        async move { Ok(context.any().permitted(context.resource_operations().delete(self)).await?) }.boxed()
    }
}
