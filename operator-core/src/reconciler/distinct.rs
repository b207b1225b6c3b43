//! The objects of several event sources, without duplicates.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use crate::{
    cache::Unopened,
    event_source::AnySecondary,
    resource::{AnyObject, ObjectKey},
};

/// The results of `read` in each of the sources. An object that several sources have comes once, at its first place and
/// in its newest state. Sources of one kind may overlap, and each shows its own writes before its watch does.
pub(crate) fn distinct(
    mut sources: impl Iterator<Item = Arc<AnySecondary>>,
    read: impl Fn(&AnySecondary) -> Result<Vec<AnyObject>, Unopened>,
) -> Result<Vec<AnyObject>, Unopened> {
    let Some(first) = sources.next() else { return Ok(Vec::new()) };
    let mut all = read(&first)?;
    let Some(second) = sources.next() else { return Ok(all) };
    let id = |source: &AnySecondary, object: &AnyObject| {
        let kind = source.resource_type();
        (kind.group().to_owned(), kind.kind().to_owned(), ObjectKey::in_meta(object.meta()))
    };
    let mut places: BTreeMap<_, usize> =
        all.iter().enumerate().map(|(place, object)| (id(&first, object), place)).collect();
    for source in [second].into_iter().chain(sources) {
        for object in read(&source)? {
            match places.entry(id(&source, &object)) {
                Entry::Vacant(entry) => {
                    entry.insert(all.len());
                    all.push(object);
                }
                Entry::Occupied(entry) => {
                    let known = &mut all[*entry.get()];
                    if known.resource_version() < object.resource_version() {
                        *known = object;
                    }
                }
            }
        }
    }
    Ok(all)
}
