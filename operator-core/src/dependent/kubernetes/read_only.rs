//! Objects that others make.

use std::{fmt, marker::PhantomData};

use super::Desired;
use crate::{
    dependent::{Error, bulk::BulkDesired},
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

/// What is only read: nothing is desired. Made by
/// [`KubernetesDependent::read_only`](super::KubernetesDependent::read_only) and its like for bulk dependents.
pub struct ReadOnly<K>(PhantomData<fn() -> K>);

impl<K> ReadOnly<K> {
    pub(in crate::dependent) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<K: KubeObject, P: KubeObject> Desired<P> for ReadOnly<K> {
    type Resource = K;

    fn desired(&self, _: &P, _: &Context<P>) -> Result<K, BoxError> {
        Err(Box::new(Error::NothingDesired))
    }
}

impl<K: KubeObject, P: KubeObject> BulkDesired<P> for ReadOnly<K> {
    type Resource = K;

    fn desired(&self, _: &P, _: &Context<P>) -> Result<Vec<K>, BoxError> {
        Err(Box::new(Error::NothingDesired))
    }
}

impl<K> fmt::Debug for ReadOnly<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadOnly")
    }
}
