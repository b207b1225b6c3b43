//! The known name that is most like a wrong one.

/// The nearest of `known`, unless it is a different word: a third of the letters may be wrong.
pub(super) fn nearest<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distances = known.into_iter().map(|name| (strsim::osa_distance(wrong, name), name));
    let (distance, name) = distances.min()?;
    (distance <= (wrong.chars().count() / 3).max(1)).then_some(name)
}

/// The advice on a wrong name.
pub(super) fn instead<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>, otherwise: &str) -> String {
    match nearest(wrong, known) {
        Some(name) => format!("`{name}`, if that is what is meant"),
        None => otherwise.to_owned(),
    }
}
