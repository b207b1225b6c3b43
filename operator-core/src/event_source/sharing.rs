//! The parts that the informers of several controllers of an operator share: their list-watches, and one selector for
//! the objects that the dependents of all of them have written.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::Wiring;
use crate::{
    cache::{InformerPool, Selects, Share, TextObject},
    resource::{ControllerMarks, ResourceType},
};

/// By group and kind: the labels' values of the controllers whose dependents write objects of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkedKinds(BTreeMap<[String; 2], BTreeSet<String>>);

impl MarkedKinds {
    /// The dependents of the controller with these marks write objects of that kind.
    pub(crate) fn add(&mut self, kind: &ResourceType, marks: &ControllerMarks) {
        self.0.entry(of(kind)).or_default().extend(marks.values().map(str::to_owned));
    }

    /// The values of all controllers, if there are more than this one.
    fn beside(&self, kind: &ResourceType, marks: &ControllerMarks) -> Option<&BTreeSet<String>> {
        let all = self.0.get(&of(kind))?;
        (all.len() > marks.values().count()).then_some(all)
    }
}

fn of(kind: &ResourceType) -> [String; 2] {
    [kind.group(), kind.kind()].map(str::to_owned)
}

/// The common parts of the sources of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    pub(crate) pool: InformerPool,
    pub(crate) marked: Arc<MarkedKinds>,
}

impl Wiring {
    /// The share of an informer of these objects; `marked`: it shows only objects that the controller's dependents wrote.
    pub(super) fn share(&self, kind: &ResourceType, marked: bool) -> Share {
        let all = self.sharing.marked.beside(kind, &self.marks).filter(|_| marked);
        let wider = all.map(|all| {
            let marks = Arc::clone(&self.marks);
            let selects: Selects = Arc::new(move |object: &TextObject| {
                object.label(marks.names().controller()).is_some_and(|by| marks.is_us(&by))
            });
            (self.marks.selector_of(all), selects)
        });
        Share { pool: self.sharing.pool.clone(), wider }
    }
}
