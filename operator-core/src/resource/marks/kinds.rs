//! The annotation of a primary that records of which kinds its nodes with objects of several kinds may have some. Pure.
//!
//! ```text
//! {"<controller>/<node>":["ConfigMap","Deployment.apps", …], …}
//! ```
//!
//! The objects themselves say whose they are, so kinds are all that has to be recorded: 500 objects need no more than 50.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::ControllerMarks;
use crate::resource::{Object, ResourceType};

/// A kind in whatever version, as the annotation has it: `Deployment.apps`, or only `ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct KindName(String);

impl KindName {
    pub(crate) fn new(group: &str, kind: &str) -> Self {
        Self(if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") })
    }

    pub(crate) fn of(kind: &ResourceType) -> Self {
        Self::new(kind.group(), kind.kind())
    }

    /// Group and kind.
    pub(crate) fn parts(&self) -> (&str, &str) {
        let (kind, group) = self.0.split_once('.').unwrap_or((&self.0, ""));
        (group, kind)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The recorded kinds, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MadeKinds(BTreeMap<String, BTreeSet<String>>);

impl MadeKinds {
    /// The content of a primary's annotation. One that can't be parsed counts as empty, and is written again.
    pub(crate) fn of(primary: &dyn Object, marks: &ControllerMarks) -> Self {
        let annotations = primary.meta().annotations.as_ref();
        let text = annotations.and_then(|annotations| annotations.get(marks.names().kinds()));
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    /// The annotation's text; `None` if there is nothing to record.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| json!(self.0).to_string())
    }

    /// The kinds of that node, which its label's value names; also under a former name of the controller.
    pub(crate) fn of_node(&self, node: &str, marks: &ControllerMarks) -> BTreeSet<KindName> {
        let own = self.0.iter().filter(|(entry, _)| named(entry, marks) == Some(node));
        own.flat_map(|(_, kinds)| kinds.iter().cloned().map(KindName)).collect()
    }

    /// Whether it names kinds of that node.
    pub(crate) fn has(&self, node: &str, marks: &ControllerMarks) -> bool {
        self.nodes(marks).any(|named| named == node)
    }

    /// The nodes of which it names kinds.
    pub(crate) fn nodes<'m>(&'m self, marks: &'m ControllerMarks) -> impl Iterator<Item = &'m str> {
        self.0.keys().filter_map(|entry| named(entry, marks))
    }

    /// Records that the node may have objects of these kinds, and no others.
    pub(crate) fn note(&mut self, node: &str, kinds: &BTreeSet<KindName>, marks: &ControllerMarks) {
        self.0.retain(|entry, _| named(entry, marks) != Some(node));
        if !kinds.is_empty() {
            let kinds = kinds.iter().map(|kind| kind.0.clone()).collect();
            self.0.insert(format!("{}/{node}", marks.controller), kinds);
        }
    }
}

/// The node of an entry, if it is one of this controller.
fn named<'e>(entry: &'e str, marks: &ControllerMarks) -> Option<&'e str> {
    let (controller, node) = entry.split_once('/')?;
    marks.is_us(controller).then_some(node)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
    use proptest::prelude::*;

    use super::*;
    use crate::resource::{MarkNames, Nodes};

    const KEY: &str = "operator-core.io/kinds";

    /// The controller `shop`, which was once called `store`.
    fn marks() -> ControllerMarks {
        ControllerMarks::new(MarkNames::default(), "shop", ["store".to_owned()].into(), Nodes::default())
    }

    fn primary(text: Option<&str>) -> ConfigMap {
        let annotations = text.map(|text| BTreeMap::from([(KEY.to_owned(), text.to_owned())]));
        ConfigMap { metadata: ObjectMeta { annotations, ..ObjectMeta::default() }, ..ConfigMap::default() }
    }

    fn read(text: &str) -> MadeKinds {
        MadeKinds::of(&primary(Some(text)), &marks())
    }

    fn names(kinds: &[&str]) -> BTreeSet<KindName> {
        kinds.iter().map(|kind| KindName((*kind).to_owned())).collect()
    }

    #[test]
    fn a_kind_is_named_with_its_group_which_may_have_dots() {
        for (group, kind, name) in [
            ("", "ConfigMap", "ConfigMap"),
            ("apps", "Deployment", "Deployment.apps"),
            ("rbac.authorization.k8s.io", "Role", "Role.rbac.authorization.k8s.io"),
        ] {
            let named = KindName::new(group, kind);
            assert_eq!((named.as_str(), named.parts()), (name, (group, kind)));
        }
        assert_eq!(KindName::of(&ResourceType::of::<ConfigMap>()).as_str(), "ConfigMap");
    }

    #[test]
    fn the_annotation_names_the_kinds_of_each_node() {
        let mut kinds = MadeKinds::of(&primary(None), &marks());
        assert_eq!(kinds.text(), None, "nothing to record");
        kinds.note("addon", &names(&["Deployment.apps", "ConfigMap"]), &marks());
        kinds.note("other", &names(&["Secret"]), &marks());
        let text = r#"{"shop/addon":["ConfigMap","Deployment.apps"],"shop/other":["Secret"]}"#;
        assert_eq!(kinds.text().as_deref(), Some(text));
        kinds.note("addon", &names(&["ConfigMap"]), &marks());
        assert_eq!(
            read(&kinds.text().unwrap()).of_node("addon", &marks()),
            names(&["ConfigMap"]),
            "shortened"
        );
        for node in ["addon", "other"] {
            kinds.note(node, &BTreeSet::new(), &marks());
        }
        assert_eq!(kinds.text(), None, "the last one takes the annotation along");
    }

    #[test]
    fn a_former_name_of_the_controller_is_ours_and_another_controller_is_not() {
        let text = r#"{"bank/addon":["Pod"],"shop/addon":["Secret"],"store/addon":["ConfigMap"],"store/b":["Job.batch"]}"#;
        let mut kinds = read(text);
        assert_eq!(kinds.of_node("addon", &marks()), names(&["ConfigMap", "Secret"]));
        kinds.note("addon", &names(&["Secret"]), &marks());
        let text = r#"{"bank/addon":["Pod"],"shop/addon":["Secret"],"store/b":["Job.batch"]}"#;
        assert_eq!(kinds.text().as_deref(), Some(text), "the former entry has become the present one");
        kinds.note("addon", &BTreeSet::new(), &marks());
        assert_eq!(kinds.text().as_deref(), Some(r#"{"bank/addon":["Pod"],"store/b":["Job.batch"]}"#));
    }

    #[test]
    fn an_annotation_that_cannot_be_parsed_counts_as_empty() {
        for text in ["", "x", "[]", "{", r#"{"shop/addon":"Secret"}"#, r#"{"shop/addon":[1]}"#] {
            assert_eq!(read(text), MadeKinds::default(), "{text}");
        }
        let unnamed = read(r#"{"addon":["Secret"],"/addon":["Secret"],"shop/":["Secret"]}"#);
        assert_eq!(unnamed.of_node("addon", &marks()), names(&[]), "entries without a controller or a node");
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn group_and_kind_are_read_back(group in "([a-z0-9]{1,5}(\\.[a-z0-9-]{1,5}){0,3})?", kind in "[A-Z][A-Za-z0-9]{0,9}") {
            let name = KindName::new(&group, &kind);
            prop_assert_eq!(name.parts(), (&*group, &*kind));
        }

        /// Whatever is noted in which order: each node has the kinds that were noted last, and nobody else's entry changes.
        #[test]
        fn the_last_note_of_each_node_is_read_back(
            others in prop::collection::btree_map("(bank|shop2)/[ab]", prop::collection::btree_set("[A-Z]", 1..3), 0..3),
            notes in prop::collection::vec(("[ab]", prop::collection::btree_set("[A-Z](\\.[a-z]){0,2}", 0..4)), 0..8),
        ) {
            let mut kinds = read(&json!(others).to_string());
            let mut last = BTreeMap::new();
            for (node, noted) in notes {
                let noted: BTreeSet<_> = noted.into_iter().map(KindName).collect();
                kinds.note(&node, &noted, &marks());
                kinds = kinds.text().map(|text| read(&text)).unwrap_or_default();
                last.insert(node, noted);
            }
            for node in ["a", "b"] {
                let expected = last.get(node).cloned().unwrap_or_default();
                prop_assert_eq!(kinds.of_node(node, &marks()), expected);
            }
            kinds.0.retain(|entry, _| !entry.starts_with("shop/"));
            prop_assert_eq!(kinds.0, others);
        }
    }
}
