//! The form in which a run returns the resources of a node outside the cluster.

use std::{marker::PhantomData, sync::Arc};

use crate::results::Secondary;

/// The form in which a run returns the resources of a node: one, or any number.
pub trait Resources: 'static {
    /// Their type.
    type Item: Send + Sync + 'static;
    /// The form.
    type Seen;
    /// Whether there may be any number of them.
    const SEVERAL: bool;

    /// These resources in that form.
    fn seen(all: &[Secondary]) -> Self::Seen;
}

/// One resource. `run.get(…)` returns `Option<Arc<R>>`.
#[derive(Debug)]
pub struct OneOf<R>(PhantomData<fn() -> R>);
/// Any number of them. `run.get(…)` returns `Vec<Arc<R>>`.
#[derive(Debug)]
pub struct ManyOf<R>(PhantomData<fn() -> R>);

impl<R: Send + Sync + 'static> Resources for OneOf<R> {
    type Item = R;
    type Seen = Option<Arc<R>>;
    const SEVERAL: bool = false;

    fn seen(all: &[Secondary]) -> Option<Arc<R>> {
        all.iter().find_map(Secondary::get)
    }
}

impl<R: Send + Sync + 'static> Resources for ManyOf<R> {
    type Item = R;
    type Seen = Vec<Arc<R>>;
    const SEVERAL: bool = true;

    fn seen(all: &[Secondary]) -> Vec<Arc<R>> {
        all.iter().filter_map(Secondary::get).collect()
    }
}
