//! What can be said of a declaration's parts before anything is started.

use std::{collections::BTreeSet, sync::Arc};

use super::Error;
use crate::{dependent::DependentSource, event_source::SourceDeclaration, observe::SourceIndex};

pub(super) fn check_name(name: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(Error::InvalidName(name.to_owned()));
    }
    Ok(())
}

pub(super) fn check_field_manager(manager: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/');
    if manager.is_empty() || manager.len() > 128 || !manager.chars().all(allowed) {
        return Err(Error::InvalidFieldManager(manager.to_owned()));
    }
    Ok(())
}

pub(super) fn check_finalizer(finalizer: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let valid = finalizer.split_once('/').is_some_and(|(domain, name)| {
        domain.contains('.') && !name.is_empty() && domain.chars().all(allowed) && name.chars().all(allowed)
    });
    if valid { Ok(()) } else { Err(Error::InvalidFinalizer(finalizer.to_owned())) }
}

/// The sources that are declared on the controller, and those of the dependents; of shared ones, one for each name.
pub(super) fn all_sources(
    mut sources: Vec<Arc<dyn SourceDeclaration>>,
    of_dependents: Vec<DependentSource>,
) -> Result<Vec<Arc<dyn SourceDeclaration>>, Error> {
    let (shared, own): (Vec<_>, Vec<_>) = of_dependents.into_iter().partition(|source| source.shared);
    sources.extend(own.into_iter().map(|source| source.declaration));
    let mut names = BTreeSet::new();
    if let Some(twice) = sources.iter().map(|source| source.name()).find(|name| !names.insert(name.clone())) {
        return Err(Error::DuplicateSource(twice));
    }
    for source in shared {
        if names.insert(source.declaration.name()) {
            sources.push(source.declaration);
        }
    }
    if sources.len() > SourceIndex::COUNT {
        return Err(Error::TooManySources(sources.len()));
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;

    use super::*;
    use crate::event_source::InformerEventSource;

    /// That many event sources, each with a name of its own.
    fn sources(number: usize) -> Vec<Arc<dyn SourceDeclaration>> {
        let source = |index| InformerEventSource::<Secret>::new().name(format!("source-{index}"));
        (0..number).map(|index| Arc::new(source(index)) as Arc<dyn SourceDeclaration>).collect()
    }

    #[test]
    fn every_event_source_has_a_name_and_a_position_of_its_own() {
        assert!(all_sources(sources(256), Vec::new()).is_ok());
        let error = all_sources(sources(257), Vec::new()).expect_err("a position is a byte").to_string();
        assert!(error.contains("257 event sources"), "{error}");
        let twice = all_sources([sources(1), sources(1)].concat(), Vec::new());
        assert!(matches!(twice, Err(Error::DuplicateSource(name)) if name == "source-0"));
    }

    #[test]
    fn dependents_share_what_may_be_shared() {
        let secrets = || Arc::new(InformerEventSource::<Secret>::new());
        let brought = || vec![DependentSource::shared(secrets()), DependentSource::shared(secrets())];
        assert_eq!(all_sources(Vec::new(), brought()).expect("one is shared").len(), 1);
        let declared: Vec<Arc<dyn SourceDeclaration>> = vec![secrets()];
        assert_eq!(
            all_sources(declared.clone(), brought()).expect("the controller's serves as well").len(),
            1
        );
        let own = vec![DependentSource::own(secrets())];
        assert!(matches!(all_sources(declared, own), Err(Error::DuplicateSource(_))));
    }
}
