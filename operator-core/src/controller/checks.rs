//! What can be said of a declaration's parts before anything is started.

use std::collections::BTreeSet;

use super::Error;
use crate::{event_source::SourceDeclaration, observe::SourceIndex};

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

pub(super) fn check_sources(sources: &[Box<dyn SourceDeclaration>]) -> Result<(), Error> {
    if sources.len() > SourceIndex::COUNT {
        return Err(Error::TooManySources(sources.len()));
    }
    let mut names = BTreeSet::new();
    match sources.iter().map(|source| source.name()).find(|name| !names.insert(name.clone())) {
        Some(twice) => Err(Error::DuplicateSource(twice)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;

    use super::*;
    use crate::event_source::InformerEventSource;

    /// That many event sources, each with a name of its own.
    fn sources(number: usize) -> Vec<Box<dyn SourceDeclaration>> {
        let source = |index| InformerEventSource::<Secret>::new().name(format!("source-{index}"));
        (0..number).map(|index| Box::new(source(index)) as Box<dyn SourceDeclaration>).collect()
    }

    #[test]
    fn every_event_source_has_a_name_and_a_position_of_its_own() {
        assert!(check_sources(&sources(256)).is_ok());
        let error = check_sources(&sources(257)).expect_err("a position is a byte").to_string();
        assert!(error.contains("257 event sources"), "{error}");
        let twice = check_sources(&[sources(1), sources(1)].into_iter().flatten().collect::<Vec<_>>());
        assert!(matches!(twice, Err(Error::DuplicateSource(name)) if name == "source-0"));
    }
}
