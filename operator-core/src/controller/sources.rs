//! The event sources of a controller: those that are declared on it, and those that dependents provide.

use std::{collections::BTreeSet, sync::Arc};

use super::{Mistake, check};
use crate::{
    dependent::DependentSource, event_source::SourceDeclaration, observe::SourceIndex,
    workflow::WorkflowSources,
};

type Declared = Arc<dyn SourceDeclaration>;

/// The event sources of a controller that is being declared.
#[derive(Debug, Default)]
pub(super) struct DeclaredSources {
    declared: Vec<Declared>,
    of_dependents: WorkflowSources,
}

impl DeclaredSources {
    /// Adds a source of the controller's own.
    pub(super) fn add(&mut self, source: Declared) {
        self.declared.push(source);
    }

    /// Adds the sources of a workflow.
    pub(super) fn add_workflow(&mut self, sources: WorkflowSources) {
        self.of_dependents.always.extend(sources.always);
        self.of_dependents.conditional.extend(sources.conditional);
    }

    /// Adds the sources of a dependent that is used without a workflow.
    pub(super) fn add_dependent(&mut self, sources: Vec<DependentSource>) {
        self.of_dependents.always.extend(sources);
    }

    /// The sources that always run, and those that run only while some primary needs them; of shared ones, one for each
    /// name. A source that one part needs always also serves the parts that need it at times.
    pub(super) fn finish(self) -> Finished {
        let (mut names, mut mistakes) = (BTreeSet::new(), Vec::new());
        let mut always = self.declared;
        let of_conditional = self.of_dependents.conditional.into_iter();
        let (by_key, of_conditional) = of_conditional.partition(|source| source.by_key.is_some());
        let (mut shared, own) = partition([self.of_dependents.always, by_key].concat());
        always.extend(own);
        let (mut shared_conditional, mut conditional) = partition(of_conditional);
        // A node that only reads also needs objects that others have written; a node that writes sees all its own objects there.
        let is_marked = |source: &Declared| source.contents().is_marked();
        let served = |source: &&Declared| shared.iter().any(|other| other.name() == source.name());
        let read = shared_conditional.iter().filter(|source| !is_marked(source)).filter(served);
        let read: Vec<Declared> = read.cloned().collect();
        shared.extend(read);
        shared.sort_by_key(is_marked);
        shared_conditional.sort_by_key(is_marked);
        let all = always.iter().chain(&conditional).map(|source| source.name());
        let twice: BTreeSet<String> = all.filter(|name| !names.insert(name.clone())).collect();
        mistakes.extend(twice.iter().map(|name| {
            Mistake::new(
                format!("two event sources are called `{name}`"),
                "a source is found by its name, and by default an informer has the name of its kind",
                "`.name(\"…\")` with another name on one of them",
            )
        }));
        always.extend(shared.into_iter().filter(|source| names.insert(source.name())));
        conditional.extend(shared_conditional.into_iter().filter(|source| names.insert(source.name())));
        if names.len() > SourceIndex::COUNT {
            mistakes.push(Mistake::new(
                format!("it has {} event sources", names.len()),
                "at most 256 can be distinguished",
                "several controllers, each with a part of the work",
            ));
        }
        Finished { always, conditional, mistakes }
    }
}

/// The result of all declarations.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) always: Vec<Declared>,
    /// The sources that run only while some primary needs them.
    pub(super) conditional: Vec<Declared>,
    pub(super) mistakes: Vec<Mistake>,
}

impl Finished {
    /// The facts that the checks of the declaration need about them.
    pub(super) fn facts(&self) -> impl Iterator<Item = check::DeclaredSource> {
        let fact = |source: &Declared| check::DeclaredSource {
            name: source.name(),
            contents: source.contents(),
            contradictions: source.contradictions(),
        };
        self.always.iter().chain(&self.conditional).map(fact)
    }
}

/// The declarations of the shared sources, and of those that belong to one dependent.
fn partition(sources: Vec<DependentSource>) -> (Vec<Declared>, Vec<Declared>) {
    let (shared, own): (Vec<_>, Vec<_>) = sources.into_iter().partition(|source| source.shared);
    let declarations = |sources: Vec<DependentSource>| {
        sources.into_iter().map(|source| source.declaration).collect::<Vec<_>>()
    };
    (declarations(shared), declarations(own))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    fn marked() -> DependentSource {
        DependentSource::shared(Arc::new(InformerEventSource::<ConfigMap>::new().marked()))
    }

    #[test]
    fn whoever_reads_has_others_objects_shown_to_who_writes() {
        let one = |always: Vec<DependentSource>, conditional: Vec<DependentSource>| {
            let mut declared = DeclaredSources::default();
            declared.add_workflow(WorkflowSources { always, conditional });
            let Finished { always, conditional, .. } = declared.finish();
            let all: Vec<_> =
                always.iter().chain(&conditional).map(|one| one.contents().is_marked()).collect();
            assert_eq!(all.len(), 1);
            all[0]
        };
        assert!(one(vec![marked(), marked()], vec![marked()]));
        assert!(!one(vec![marked(), maps()], vec![]));
        assert!(!one(vec![marked()], vec![maps()]));
        assert!(!one(vec![], vec![marked(), maps()]));
        assert!(!one(vec![maps()], vec![marked()]));
    }

    use super::*;
    use crate::event_source::InformerEventSource;

    fn maps() -> DependentSource {
        DependentSource::shared(Arc::new(InformerEventSource::<ConfigMap>::new()))
    }

    fn secrets() -> DependentSource {
        DependentSource::shared(Arc::new(InformerEventSource::<Secret>::new()))
    }

    fn names(sources: &[Declared]) -> Vec<String> {
        sources.iter().map(|source| source.name()).collect()
    }

    #[test]
    fn what_one_node_needs_always_serves_those_that_need_it_at_times() {
        let mut declared = DeclaredSources::default();
        declared.add_workflow(WorkflowSources {
            always: vec![secrets(), secrets()],
            conditional: vec![maps(), secrets(), maps()],
        });
        let Finished { always, conditional, mistakes } = declared.finish();
        assert_eq!(mistakes, []);
        assert_eq!((names(&always), names(&conditional)), (vec!["Secret".into()], vec!["ConfigMap".into()]));
    }

    #[test]
    fn every_event_source_has_a_position_of_its_own() {
        let declared = |number: usize| {
            let mut declared = DeclaredSources::default();
            for index in 0..number {
                declared.add(Arc::new(InformerEventSource::<Secret>::new().name(format!("source-{index}"))));
            }
            declared.finish()
        };
        assert_eq!(declared(256).mistakes, []);
        let error = declared(257).mistakes.first().expect("a position is a byte").to_string();
        assert!(error.contains("257 event sources"), "{error}");
    }

    #[test]
    fn a_name_that_is_not_shared_is_given_once() {
        let mut declared = DeclaredSources::default();
        declared.add(Arc::new(InformerEventSource::<Secret>::new()));
        let own = DependentSource::own(Arc::new(InformerEventSource::<ConfigMap>::new().name("Secret")));
        declared.add_workflow(WorkflowSources { always: Vec::new(), conditional: vec![own] });
        let mistakes = declared.finish().mistakes;
        assert_eq!(mistakes.len(), 1);
        assert_eq!(mistakes[0].what(), "two event sources are called `Secret`");
    }
}
