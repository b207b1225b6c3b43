//! One node of a workflow, as it is declared.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    dependent::{AnyDependent, Capabilities, Gate},
    reconciler::DataType,
    resource::Access,
    results::{ConditionKind, NodeKey},
    workflow::{
        Word,
        conditions::{activation::AnyActivation, condition::AnyCondition},
        outline,
    },
};

/// A node, without its types: its dependencies and its conditions. JOSDK's `@Dependent` within `@Workflow`.
pub(in crate::workflow) struct AnyNode {
    pub(in crate::workflow) dependent: AnyDependent,
    /// The type of the function or value that it is.
    pub(in crate::workflow) key: NodeKey,
    /// Whether its name can be used: that of a closure can't.
    pub(in crate::workflow) is_named: bool,
    pub(in crate::workflow) terms: Terms,
    /// Without any it is ready as soon as it was applied.
    pub(in crate::workflow) ready: Vec<Arc<dyn AnyCondition>>,
    /// The names of the event sources that run only while this node is active; filled in when the workflow is built.
    pub(in crate::workflow) sources: Vec<String>,
    /// The conditions as text, by what they decide.
    pub(in crate::workflow) words: BTreeMap<ConditionKind, String>,
}

/// On which terms a node takes part, as its declaration says.
#[derive(Default)]
pub(in crate::workflow) struct Terms {
    /// The nodes and groups that it comes after, each with its word.
    pub(in crate::workflow) after: Vec<(NodeKey, Word)>,
    /// Decide whether it may start, each with its name.
    pub(in crate::workflow) starts_when: Vec<(Gate, String)>,
    pub(in crate::workflow) activations: Vec<Arc<dyn AnyActivation>>,
    pub(in crate::workflow) deleted: Vec<Arc<dyn AnyCondition>>,
    /// Whether it has to be gone before its dependencies, and its primary, are deleted.
    pub(in crate::workflow) first: bool,
    /// Whether it is ready even if it is only read and nothing is there.
    pub(in crate::workflow) optional: bool,
    /// The rights that its conditions need.
    pub(in crate::workflow) asks: Vec<Access>,
    /// The data that its functions take out of the run.
    pub(in crate::workflow) data: Vec<DataType>,
    /// The names of the functions that change what it wants.
    pub(in crate::workflow) changes: Vec<String>,
}

impl AnyNode {
    /// Whether it isn't ready if nothing was found: it is only read, it is a single object, and what depends on it
    /// needs it.
    pub(in crate::workflow) fn has_to_be_found(&self) -> bool {
        let reads = self.dependent.capabilities() == Capabilities::READ_ONLY;
        reads && !self.terms.optional && !self.dependent.declaration().several
    }

    /// Whether it is ready even if there is nothing: it is only read, and may be missing, or is any number of objects.
    pub(in crate::workflow) fn may_lack(&self) -> bool {
        let reads = self.dependent.capabilities() == Capabilities::READ_ONLY;
        reads && (self.terms.optional || self.dependent.declaration().several)
    }

    /// Whether its dependent may hold it.
    pub(in crate::workflow) fn may_be_held(&self) -> bool {
        self.dependent.declaration().judged.is_some_and(|judged| judged.holds)
    }

    /// Whether its dependent's wish is computed. `in_order`: all its dependencies are ready.
    pub(in crate::workflow) fn is_wish_asked(&self, in_order: bool) -> bool {
        self.dependent.declaration().judged.is_some_and(|judged| in_order || judged.before_order)
    }

    /// The conditions as text, as in `only if exposed`, `optional` if its type says that it may want nothing, and `without owner`
    /// if the operator itself deletes its objects.
    pub(in crate::workflow) fn conditions(&self) -> Vec<String> {
        let says_so = self.dependent.declaration().judged.is_some_and(|judged| judged.optional);
        let is_optional = says_so && !self.words.contains_key(&ConditionKind::OnlyIf);
        let declaration = self.dependent.declaration();
        let is_unowned = declaration.objects.is_some() && declaration.outside.is_none();
        let is_unowned = is_unowned && declaration.capabilities.needs_cleanup();
        let marks = [(is_optional, "optional"), (is_unowned, "without owner")];
        let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark.to_owned());
        let marks = marks.chain(declaration.of_any_kind.then(|| kinds(&declaration.access)));
        let changed = self.terms.changes.iter().map(|change| format!("changed by {change}"));
        let when = self.terms.starts_when.iter().map(|(_, name)| format!("starts when {name}"));
        let starts = outline::starts(&self.terms.after).chain(when);
        marks.chain(starts).chain(self.words.values().cloned()).chain(changed).collect()
    }

    pub(in crate::workflow) fn name(&self) -> Arc<str> {
        self.dependent.shared_name()
    }
}

/// Of which kinds a node's objects may be, by its rights.
fn kinds(access: &[Access]) -> String {
    let made = access.iter().filter(|access| access.verbs.contains(&"create"));
    let kinds: Vec<_> = made.map(|access| access.resource_type.kind()).collect();
    if kinds.is_empty() { "objects of any kinds".to_owned() } else { kinds.join(", ") }
}

debug_of!(AnyNode: "Node", |it| dependent: it.dependent, after: it.terms.after);
