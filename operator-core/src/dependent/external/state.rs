//! Objects in the cluster that keep the ids of resources outside of it.

use std::sync::Arc;

use futures::FutureExt;

use super::{Answer, Keyed, State};
use crate::{
    reconciler::Context,
    resource::{KubeObject, ObjectKey},
};

/// The object of type `S` that keeps a resource, as the user's function says.
pub(in crate::dependent) struct StateOf<C: Keyed<P>, P: KubeObject, S>(
    pub(in crate::dependent) State<C, P, S>,
);

/// The writes of a [`StateOf`], whatever the type of its object.
pub(in crate::dependent) trait KeepsState<C: Keyed<P>, P: KubeObject>:
    Send + Sync
{
    /// Creates the object where it is missing.
    fn ensure<'r>(
        &'r self,
        dependent: &'r C,
        key: &'r C::Key,
        resource: &'r C::Resource,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> Answer<'r, ()>;

    /// Deletes the object.
    fn delete<'r>(
        &'r self,
        dependent: &'r C,
        key: &'r C::Key,
        resource: &'r C::Resource,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> Answer<'r, ()>;
}

impl<C: Keyed<P>, P: KubeObject, S: KubeObject> KeepsState<C, P> for StateOf<C, P, S> {
    fn ensure<'r>(
        &'r self,
        dependent: &'r C,
        key: &'r C::Key,
        resource: &'r C::Resource,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> Answer<'r, ()> {
        async move {
            let state = (self.0)(dependent, key, resource, primary, context)?;
            if context.get::<S>(&ObjectKey::of(&state)).is_some() {
                return Ok(());
            }
            match context.resource_operations().create(&state).await {
                Ok(_) => Ok(()),
                // It was created by an attempt whose answer was lost.
                Err(error) if error.is_conflict() => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
        .boxed()
    }

    fn delete<'r>(
        &'r self,
        dependent: &'r C,
        key: &'r C::Key,
        resource: &'r C::Resource,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> Answer<'r, ()> {
        async move {
            let state = (self.0)(dependent, key, resource, primary, context)?;
            Ok(context.resource_operations().delete(&state).await?)
        }
        .boxed()
    }
}
