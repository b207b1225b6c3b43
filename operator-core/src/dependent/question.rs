//! The question to a dependent what should exist, and its answer.

use std::sync::Arc;

use super::{
    erased::{Answer, Asked},
    function::{Answered, Usual, Want},
    set::objects::Objects,
};
use crate::{
    event_source::ScopeSlot,
    reconciler::{BoxError, MemoKey},
    resource::{Draft, KubeObject, Object, ObjectKey},
    results::ReconcileResult,
};

/// Objects that should exist, as user code has made them: not marked yet, and perhaps without names.
pub struct Drafts(Kinds);

enum Kinds {
    One(Box<dyn Draft>),
    Several(Vec<Box<dyn Draft>>),
    /// Of several kinds.
    Mixed(Objects),
    /// None: they are only read.
    Sought(Sought),
}

/// The objects that are only read; by default all that are related to the primary.
#[derive(Clone, Default)]
pub(crate) struct Sought {
    /// By its name, in the primary's namespace.
    pub(crate) name: Option<String>,
    pub(crate) key: Option<ObjectKey>,
    pub(crate) selects: Option<Selects>,
}

/// Selects the objects.
pub(crate) type Selects = Arc<dyn Fn(&dyn Object) -> bool + Send + Sync>;

impl Sought {
    /// The selected one, if one is selected.
    pub(super) fn key(&self, namespaced: bool, primary: &ObjectKey) -> Option<ObjectKey> {
        let name = || {
            let namespace = primary.namespace().filter(|_| namespaced);
            Some(ObjectKey::new(primary.cluster().clone(), namespace, self.name.as_deref()?))
        };
        self.key.clone().or_else(name)
    }
}

debug_of!(Sought: "Sought", |it| name: it.name, key: it.key);

// The content is not shown because it may be a Secret's.
debug_of!(Drafts: "Drafts");

impl Drafts {
    pub(crate) fn one(object: impl KubeObject) -> Self {
        Self(Kinds::One(Box::new(object)))
    }

    pub(crate) fn several(objects: impl IntoIterator<Item = impl KubeObject>) -> Self {
        let boxed = objects.into_iter().map(|object| Box::new(object) as Box<dyn Draft>);
        Self(Kinds::Several(boxed.collect()))
    }

    /// Objects of several kinds.
    pub(crate) fn mixed(objects: Objects) -> Self {
        Self(Kinds::Mixed(objects))
    }

    /// The objects of several kinds, if they are.
    pub(super) fn into_mixed(self) -> Objects {
        match self.0 {
            Kinds::Mixed(objects) => objects,
            Kinds::One(_) | Kinds::Several(_) | Kinds::Sought(_) => Objects::default(),
        }
    }

    /// None: they are only read.
    pub(crate) fn sought(sought: Sought) -> Self {
        Self(Kinds::Sought(sought))
    }

    /// The object to search for, if it is only read.
    pub(super) fn looked_for(self) -> Sought {
        match self.0 {
            Kinds::Sought(sought) => sought,
            Kinds::One(_) | Kinds::Several(_) | Kinds::Mixed(_) => Sought::default(),
        }
    }

    /// All of them.
    pub(super) fn all(self) -> Vec<Box<dyn Draft>> {
        match self.0 {
            Kinds::One(object) => vec![object],
            Kinds::Several(objects) => objects,
            Kinds::Mixed(_) | Kinds::Sought(_) => Vec::new(),
        }
    }

    /// The only one, if there is one.
    pub(super) fn only(self) -> Option<Box<dyn Draft>> {
        match self.0 {
            Kinds::One(object) => Some(object),
            Kinds::Several(mut objects) if objects.len() == 1 => objects.pop(),
            Kinds::Several(_) | Kinds::Mixed(_) | Kinds::Sought(_) => None,
        }
    }
}

/// Computes what should exist, for a primary of any type.
pub(in crate::dependent) trait Ask: Send + Sync {
    fn ask<'r>(&'r self, asked: Asked<'r>) -> Answered<'r, Result<Want<Drafts>, BoxError>>;

    /// Its own way to be reconciled, if it may have one.
    fn own(&self) -> Option<&dyn Own> {
        None
    }
}

/// A dependent's own way to reconcile its objects.
pub(in crate::dependent) trait Own: Send + Sync {
    fn reconcile<'r>(&'r self, asked: Asked<'r>, usual: Usual<'r>) -> Answer<'r, ReconcileResult>;
}

/// The question to a dependent, once in a run.
pub(super) struct Question {
    ask: Box<dyn Ask>,
    memo: MemoKey,
    /// Where primaries keep which object they read.
    pub(super) place: ScopeSlot,
}

impl Question {
    pub(super) fn new(ask: Box<dyn Ask>) -> Self {
        Self { ask, memo: MemoKey::default(), place: ScopeSlot::unique() }
    }

    /// The dependent's own way to be reconciled, if it may have one.
    pub(super) fn own(&self) -> Option<&dyn Own> {
        self.ask.own()
    }

    /// The form of the answer that is needed, made when it is first requested in a run.
    pub(super) async fn answer<T: Send + Sync + 'static>(
        &self,
        asked: Asked<'_>,
        make: impl FnOnce(Drafts) -> Result<T, BoxError> + Send,
    ) -> Result<Arc<Want<T>>, BoxError> {
        if let Some(known) = self.known(asked) {
            return Ok(known);
        }
        let answer = self.ask.ask(asked).get().await?.try_map(make)?;
        Ok(asked.context.memo().keep(&self.memo, asked.primary, answer))
    }

    /// What is only read.
    pub(super) async fn sought(&self, asked: Asked<'_>) -> Result<Arc<Want<Sought>>, BoxError> {
        self.answer(asked, |drafts| Ok(drafts.looked_for())).await
    }

    /// The form of the answer, if it was requested in this run.
    pub(super) fn known<T: Send + Sync + 'static>(&self, asked: Asked<'_>) -> Option<Arc<Want<T>>> {
        asked.context.memo().known(&self.memo, asked.primary)
    }
}
