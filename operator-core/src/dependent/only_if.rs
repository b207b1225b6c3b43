//! Dependents that exist only if a separate condition says so.

use std::sync::Arc;

use super::{
    AnyDependent, Asked, Declaration, Engine, Pruning,
    erased::{Answer, Deleted},
    function::{Judged, Want},
};
use crate::{
    reconciler::AnyContext,
    resource::AnyObject,
    results::{ReconcileResult, Secondary},
};

/// Decides whether a dependent wants anything to exist, if the dependent doesn't decide that itself.
pub(crate) trait Wishes: Send + Sync {
    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>>;
}

/// An engine that exists only if a function says so.
struct OnlyIf {
    engine: Arc<dyn Engine>,
    wishes: Box<dyn Wishes>,
}

impl Engine for OnlyIf {
    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        self.engine.reconcile(asked)
    }

    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        self.wishes.wish(asked)
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        self.engine.delete(asked)
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        self.engine.secondaries(asked)
    }

    fn left<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        self.engine.left(asked)
    }

    fn newest(&self, of: &Secondary, context: &AnyContext) -> Option<AnyObject> {
        self.engine.newest(of, context)
    }

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning) -> Answer<'r, usize> {
        self.engine.prune(asked, pruning)
    }
}

impl AnyDependent {
    /// The same dependent, which exists only if the function says so.
    pub(crate) fn only_if(self, judged: Judged, wishes: Box<dyn Wishes>) -> Self {
        let declaration = Declaration { judged: Some(judged), ..(*self.declaration).clone() };
        let engine = Arc::new(OnlyIf { engine: self.engine, wishes });
        Self { declaration: Arc::new(declaration), engine, ..self }
    }
}
