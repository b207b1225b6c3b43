//! The changes to what shows the owner of an object.

use serde_json::{Value, json};

use super::act::SOMEBODY;
use crate::resource::MarkNames;

/// What is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoilt {
    /// All owner references are removed.
    Owners,
    /// The labels of the marks are removed.
    Labels,
    /// The label names another node.
    Node,
    /// The annotation of the marks is removed.
    Mark,
    /// It is made up.
    WrongMark,
}

impl Spoilt {
    /// Everything that can be spoilt.
    pub(super) fn all(object: &Value) -> impl Iterator<Item = Self> {
        let (names, metadata) = (MarkNames::default(), &object["metadata"]);
        let owned = metadata["ownerReferences"].as_array().is_some_and(|owners| !owners.is_empty());
        let labelled = metadata["labels"][names.node()].is_string();
        let marked = metadata["annotations"][names.mark()].is_string();
        let all = [
            (Self::Owners, owned),
            (Self::Labels, labelled),
            (Self::Node, labelled),
            (Self::Mark, marked),
            (Self::WrongMark, marked),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(spoilt, _)| spoilt)
    }

    /// The name under which it is counted.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Owners => "somebody: strips the owners",
            Self::Labels => "somebody: strips the labels of the marks",
            Self::Node => "somebody: edits the node",
            Self::Mark => "somebody: strips the mark",
            Self::WrongMark => "somebody: edits the mark",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Owners => "strip the owners",
            Self::Labels => "strip the labels of the marks",
            Self::Node => "edit the node in the labels",
            Self::Mark => "strip the mark",
            Self::WrongMark => "edit the mark",
        }
    }

    /// The merge patch that does it.
    pub(super) fn patch(self) -> Value {
        let names = MarkNames::default();
        let metadata = match self {
            Self::Owners => json!({ "ownerReferences": null }),
            Self::Labels => {
                json!({ "labels": { names.controller(): null, names.node(): null, names.owner(): null } })
            }
            Self::Node => json!({ "labels": { names.node(): SOMEBODY } }),
            Self::Mark => json!({ "annotations": { names.mark(): null } }),
            Self::WrongMark => json!({ "annotations": { names.mark(): SOMEBODY } }),
        };
        json!({ "metadata": metadata })
    }

    /// Whether it is still so in the object, because it was not restored.
    pub(super) fn stands_in(self, object: &Value) -> bool {
        let (names, metadata) = (MarkNames::default(), &object["metadata"]);
        match self {
            Self::Owners => metadata["ownerReferences"].as_array().is_none_or(Vec::is_empty),
            Self::Labels => metadata["labels"][names.owner()].is_null(),
            Self::Node => metadata["labels"][names.node()] == SOMEBODY,
            Self::Mark => metadata["annotations"][names.mark()].is_null(),
            Self::WrongMark => metadata["annotations"][names.mark()] == SOMEBODY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_can_be_spoilt() {
        let names = MarkNames::default();
        let whole = json!({ "metadata": {
            "ownerReferences": [{ "uid": "u" }],
            "labels": { names.controller(): "c", names.node(): "n", names.owner(): "u" },
            "annotations": { names.mark(): "m" },
        } });
        assert_eq!(Spoilt::all(&whole).count(), 5);
        assert_eq!(Spoilt::all(&json!({ "metadata": {} })).count(), 0);
        for spoilt in Spoilt::all(&whole) {
            let mut object = whole.clone();
            json_patch::merge(&mut object, &spoilt.patch());
            assert!(spoilt.stands_in(&object) && !spoilt.stands_in(&whole), "{spoilt:?}");
        }
    }
}
