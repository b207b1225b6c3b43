//! The declaration of a dependent that is a function or a value.

use std::sync::Arc;

use super::Erased;
use crate::{
    dependent::{
        AnyDependent, Declaration,
        object::{Managed, ObjectEngine, ObjectSettings},
        question::Ask,
    },
    resource::{KubeObject, ResourceType, is_always_namespaced},
};

/// When a dependent's function is called, and what it may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Even if the nodes that its node depends on aren't ready: it looks at the primary alone.
    pub(crate) before_order: bool,
    /// Whether it may say "hold".
    pub(crate) holds: bool,
    /// Whether its type says that it may want nothing.
    pub(crate) optional: bool,
    /// Whether it selects objects that are only read.
    pub(crate) reads: bool,
}

impl Judged {
    /// What follows from two functions that are both asked.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            before_order: self.before_order || other.before_order,
            holds: self.holds || other.holds,
            optional: self.optional || other.optional,
            reads: self.reads || other.reads,
        }
    }
}

/// Declares a dependent of objects of type `K`.
pub(crate) fn declare<K: KubeObject, P: KubeObject>(
    mut settings: ObjectSettings<K>,
    kind: K::DynamicType,
    several: bool,
    judged: Judged,
    dependent: Erased<P>,
) -> AnyDependent {
    let has_namespace = !settings.cluster_scoped && ResourceType::with::<K>(&kind).is_namespaced();
    if is_always_namespaced::<P>() && !has_namespace {
        // The primary can't own it.
        settings.capabilities.garbage_collected = false;
    }
    let name = Arc::clone(&settings.name);
    any(name, settings.finish(kind), several, judged, Box::new(dependent))
}

fn any(name: Arc<str>, managed: Managed, several: bool, judged: Judged, ask: Box<dyn Ask>) -> AnyDependent {
    let early = judged.before_order;
    let declaration = Declaration { several, judged: Some(judged), early, ..managed.declaration() };
    AnyDependent::new(name, declaration, ObjectEngine::new(ask, managed, several))
}
