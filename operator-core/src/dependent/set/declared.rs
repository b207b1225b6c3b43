//! The declaration of a node of objects of several kinds.

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::DynamicObject;

use super::{
    engine::SetEngine,
    kinds::Defined,
    policies::{Policies, ReconcilePolicy},
};
use crate::{
    dependent::{
        AnyDependent, Capabilities, Declaration, FromPrimary, ObjectSettings, Unsound,
        function::{Erased, Judged},
        matcher::Matcher,
        object::SourceChoice,
    },
    resource::{Access, AnyObject, KubeObject, ResourceType},
};

/// The words that only such a node has.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetWords {
    pub(crate) may_be_empty: bool,
    /// The kinds that it may hold, if that is said.
    pub(crate) kinds: Option<Vec<ResourceType>>,
    /// The kinds, by group and kind, that its objects define although no definition among them says so.
    pub(crate) managed_types: Option<FromPrimary<Vec<(String, String)>>>,
    /// Whether it should take part only while its kind is served.
    pub(crate) when_served: bool,
}

impl SetWords {
    /// The managed types of this primary.
    pub(super) fn managed_types(&self, primary: &AnyObject) -> Vec<Defined> {
        let types = self.managed_types.as_ref().and_then(|types| types.of(primary));
        types.into_iter().flatten().map(|(group, kind)| Defined::Kind { group, kind }).collect()
    }

    /// The rights that a node of these kinds needs: for its objects, and to learn where kinds are served.
    fn access(&self, capabilities: Capabilities) -> Vec<Access> {
        let mut verbs = vec!["get", "list", "watch", "create", "patch", "update"];
        if capabilities.deletes {
            verbs.push("delete");
        }
        let of = |kind: &ResourceType, verbs: &[&'static str]| Access {
            resource_type: kind.clone(),
            subresource: None,
            verbs: verbs.to_vec(),
        };
        let definitions = of(&ResourceType::of::<CustomResourceDefinition>(), &["list", "watch"]);
        let kinds = self.kinds.iter().flatten().map(|kind| of(kind, &verbs));
        kinds.chain([definitions]).collect()
    }
}

/// The mistake in a word of a node that is about objects of one kind.
fn unsound<K: KubeObject>(settings: &ObjectSettings<K>, words: &SetWords) -> Option<Unsound> {
    let (what, why) = if words.when_served {
        (
            "has objects of several kinds, and `when_served`",
            "an object whose kind isn't served yet is waited for",
        )
    } else if !matches!(settings.source, SourceChoice::OfKind) {
        (
            "has objects of several kinds, and an event source of its own",
            "each kind has a source, which other nodes of that kind share",
        )
    } else if settings.rules.judge.is_some() || !matches!(settings.matcher, Matcher::Auto) {
        (
            "has objects of several kinds, and compares them itself",
            "they have no common type, and the annotation `update-policy` of an object says how it is written",
        )
    } else if settings.annotations.is_some() {
        ("has objects of several kinds, and mapping annotations", "their labels lead to the primary")
    } else {
        return None;
    };
    let write = "the node without this word, or a node of one kind with it";
    Some(Unsound { what, why: why.to_owned(), write })
}

/// What a node says about all of its objects.
pub(super) struct SetSettings {
    /// Of each kind.
    pub(super) objects: ObjectSettings<DynamicObject>,
    /// What holds for an object that says nothing else.
    pub(super) defaults: Policies,
    pub(super) words: SetWords,
}

/// Declares a dependent with objects of several kinds.
pub(crate) fn declare_set<K: KubeObject, P: KubeObject>(
    settings: &ObjectSettings<K>,
    words: SetWords,
    judged: Judged,
    dependent: Erased<P>,
) -> AnyDependent {
    let unsound = unsound(settings, &words);
    let mut objects = settings.untyped();
    // They go in an order of their own, so the garbage collector has no part in it.
    objects.capabilities.garbage_collected = false;
    let (name, capabilities) = (Arc::clone(&objects.name), objects.capabilities);
    let reconcile = if capabilities.updates { ReconcilePolicy::default() } else { ReconcilePolicy::Once };
    let defaults = Policies { adoption: objects.rules.adoption, reconcile, ..Policies::default() };
    let settings = SetSettings { objects, defaults, words };
    let declaration = Declaration {
        capabilities,
        access: settings.words.access(capabilities),
        several: true,
        of_any_kind: true,
        judged: Some(judged),
        early: judged.before_order,
        unsound,
        ..Declaration::default()
    };
    AnyDependent::new(name, declaration, SetEngine::new(Box::new(dependent), settings))
}
