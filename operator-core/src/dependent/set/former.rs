//! What the nodes with several kinds have left that the controller no longer has. The primary names their kinds, and the
//! objects their policies; the function isn't needed.

use std::collections::BTreeSet;

use futures::{FutureExt, future::BoxFuture};
use kube::core::DynamicObject;

use super::{SetWords, declared::SetSettings, engine::SetEngine, policies::Policies, removal::Unwanted};
use crate::{
    dependent::{
        Asked, ObjectSettings,
        function::{Answered, Want},
        question::{Ask, Drafts},
    },
    reconciler::{AnyGiven, BoxError},
    resource::MadeKinds,
};

/// Removes it, in order.
pub(crate) struct FormerSets(Box<SetEngine>);

debug_of!(FormerSets: "FormerSets");

/// Nobody asks what they want.
struct Nothing;

impl Ask for Nothing {
    fn ask<'r>(&'r self, _: Asked<'r>) -> Answered<'r, Result<Want<Drafts>, BoxError>> {
        Answered::Now(Ok(Want::None(String::new())))
    }
}

impl Default for FormerSets {
    fn default() -> Self {
        let mut objects = ObjectSettings::<DynamicObject>::new("former".into());
        objects.capabilities.garbage_collected = false;
        objects.is_former = true;
        let (defaults, words) = (Policies::default(), SetWords::default());
        Self(Box::new(SetEngine::new(Box::new(Nothing), SetSettings { objects, defaults, words })))
    }
}

impl FormerSets {
    /// The nodes of this sort that the controller no longer has, as their labels name them, of which something may be left.
    pub(crate) fn named(&self, given: AnyGiven<'_>) -> BTreeSet<String> {
        let marks = &*given.context.shared().marks;
        let named = MadeKinds::of(&*given.context.newest(given.primary), marks);
        let former = named.nodes(marks).filter(|node| !marks.nodes().is_of_any_kind(node));
        former.map(str::to_owned).collect()
    }

    /// Removes one stage of what such a node has left. Returns why something is still there.
    pub(crate) fn remove<'r>(
        &'r self,
        node: &'r str,
        AnyGiven { primary, context }: AnyGiven<'r>,
        prunes_data: bool,
    ) -> BoxFuture<'r, Result<Option<String>, BoxError>> {
        let ends = primary.meta().deletion_timestamp.is_some();
        let why = if ends { Unwanted::Ended } else { Unwanted::Pruned };
        let asked = Asked { node, primary, context, may_call: true };
        async move { Ok(self.0.end(asked, (why, prunes_data)).await?.kept) }.boxed()
    }
}
