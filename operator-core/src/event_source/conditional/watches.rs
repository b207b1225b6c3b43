//! The list-watches for the objects of one kind and namespace that runs read by their keys. Pure.
//!
//! ```text
//! up to 20 keys ──▶ one watch of each object           11 to 20 keys: as before, so that nothing is listed to and fro
//! more          ──▶ one watch of the namespace, by metadata
//! ```

use crate::resource::ObjectKey;

/// The number of keys up to which each object has its own watch.
const EACH: usize = 20;

/// The number of keys from which on the namespace isn't watched as a whole any more.
const FEW: usize = 10;

/// A list-watch for reads by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watch {
    /// Of this object.
    Object(ObjectKey),
    /// Of the metadata of all objects in the namespace, or of all of a cluster-scoped kind.
    Whole,
}

impl Watch {
    /// The watch that shows this object, if the namespace is watched as a whole.
    pub(super) fn of(key: &ObjectKey, whole: bool) -> Self {
        if whole { Self::Whole } else { Self::Object(key.clone()) }
    }
}

/// Whether the namespace is watched as a whole for so many keys, if it `was` before.
pub(super) const fn is_whole(keys: usize, was: bool) -> bool {
    keys > EACH || was && keys > FEW
}

/// All watches for these keys, in their order.
pub(super) fn watches<'k>(keys: impl ExactSizeIterator<Item = &'k ObjectKey>, was_whole: bool) -> Vec<Watch> {
    match is_whole(keys.len(), was_whole) {
        true => vec![Watch::Whole],
        false => keys.map(|key| Watch::Object(key.clone())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn keys(numbers: impl IntoIterator<Item = u8>) -> BTreeSet<ObjectKey> {
        numbers.into_iter().map(|number| ObjectKey::namespaced("shop", &number.to_string())).collect()
    }

    #[test]
    fn up_to_twenty_objects_are_watched_one_by_one() {
        assert_eq!(watches(keys([]).iter(), false), []);
        assert_eq!(watches(keys(0..20).iter(), false).len(), 20);
        assert_eq!(watches(keys(0..21).iter(), false), [Watch::Whole]);
        assert_eq!(watches(keys(0..20).iter(), true), [Watch::Whole], "one key less changes nothing");
        assert_eq!(watches(keys(0..11).iter(), true), [Watch::Whole]);
        assert_eq!(watches(keys(0..10).iter(), true).len(), 10);
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// However the keys change, each is shown by exactly one watch, there are at most twenty, and one key more or less
        /// never changes the kind of watch and back.
        #[test]
        fn each_key_is_shown_by_one_of_few_watches(changes in proptest::collection::vec((0..30_u8, any::<bool>()), 0..200)) {
            let (mut named, mut whole, mut flips) = (BTreeSet::new(), false, Vec::new());
            for (number, (key, is_named)) in changes.into_iter().enumerate() {
                match is_named {
                    true => named.insert(key),
                    false => named.remove(&key),
                };
                let keys = keys(named.iter().copied());
                let all = watches(keys.iter(), whole);
                let is_now = all == [Watch::Whole];
                if is_now != whole {
                    flips.push(number);
                }
                whole = is_now;
                prop_assert!(all.len() <= EACH);
                for key in &keys {
                    prop_assert_eq!(all.iter().filter(|watch| **watch == Watch::of(key, whole)).count(), 1);
                }
                prop_assert!(whole || all.len() == keys.len(), "nothing else is watched");
            }
            prop_assert!(flips.windows(2).all(|two| two[1] - two[0] > EACH - FEW), "{flips:?}");
        }
    }
}
