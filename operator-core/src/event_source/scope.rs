//! All data about a primary in memory: in one place, which is dropped with the primary.
//!
//! ```text
//! informer of the primaries ──seen (key, uid)──▶ PrimaryScopes: key ──▶ uid, values ◀──look, change── runs, event sources
//!                           ──gone (key)───────▶      the scope is dropped, with all its values
//! ```
//!
//! # Guarantees
//! - There is a scope for each primary that the informer has stored, and for no other one.
//! - A primary that was replaced under its name has its own scope: nothing is inherited.
//! - A change for a primary that is gone, or for an incarnation that isn't the present one, has no effect: a run that
//!   outlives its primary leaves nothing behind.
//! - A value is dropped outside of the lock: its own `drop` may take other locks.
//!
//! # Assumptions
//! - The functions that look at a value are quick, and don't look at another one.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::Primaries;
use crate::{
    cache::{Follower, Informer},
    resource::{ObjectKey, Uid},
};

/// The scopes of all primaries of one controller, from its start to its end.
#[derive(Default)]
pub(crate) struct PrimaryScopes(Mutex<BTreeMap<ObjectKey, Values>>);

/// The owner of values: the controller, or one of its nodes or systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScopeSlot(u64);

impl ScopeSlot {
    /// The slot of the controller.
    const CONTROLLER: Self = Self(0);

    /// A new slot.
    pub(crate) fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The data about one incarnation of a primary: of each type at most one value in each slot.
struct Values {
    uid: Uid,
    /// Few: a search through all of them is quick.
    all: Vec<(ScopeSlot, Box<dyn Any + Send>)>,
}

impl Values {
    fn new(uid: &str) -> Self {
        Self { uid: Uid::new(uid), all: Vec::new() }
    }

    fn position<T: Any>(&self, slot: ScopeSlot) -> Option<usize> {
        self.all.iter().position(|(of, value)| *of == slot && value.is::<T>())
    }

    fn get<T: Any>(&mut self, slot: ScopeSlot) -> Option<&mut T> {
        let position = self.position::<T>(slot)?;
        self.all[position].1.downcast_mut()
    }

    fn get_or_default<T: Any + Send + Default>(&mut self, slot: ScopeSlot) -> &mut T {
        let position = self.position::<T>(slot).unwrap_or_else(|| {
            self.all.push((slot, Box::<T>::default()));
            self.all.len() - 1
        });
        self.all[position].1.downcast_mut().expect("the value at its position is of its type")
    }
}

impl PrimaryScopes {
    /// Gives the primaries of this informer their scopes.
    pub(crate) fn follow(self: &Arc<Self>, primaries: &Informer) {
        primaries.also_tell(Arc::new(Following(Arc::downgrade(self))));
    }

    /// The scope of the present incarnation of a primary.
    pub(crate) const fn of<'s>(&'s self, primary: &'s ObjectKey) -> PrimaryScope<'s> {
        PrimaryScope { scopes: self, primary, uid: None, slot: ScopeSlot::CONTROLLER }
    }

    /// The scope of one incarnation of a primary.
    pub(crate) const fn of_incarnation<'s>(
        &'s self,
        primary: &'s ObjectKey,
        uid: &'s Uid,
    ) -> PrimaryScope<'s> {
        PrimaryScope { uid: Some(uid), ..self.of(primary) }
    }

    /// The first result of `find` among the values of all primaries, in the order of their keys.
    pub(crate) fn find<T: Any, R>(
        &self,
        slot: ScopeSlot,
        mut find: impl FnMut(&ObjectKey, &mut T) -> Option<R>,
    ) -> Option<R> {
        self.0.lock().iter_mut().find_map(|(primary, values)| find(primary, values.get(slot)?))
    }

    /// Drops the values of a slot of all primaries: the slot is no longer used.
    pub(crate) fn clear(&self, slot: ScopeSlot) {
        let mut cleared = Vec::new();
        for values in self.0.lock().values_mut() {
            cleared.extend(values.all.extract_if(.., |(of, _)| *of == slot));
        }
        drop(cleared);
    }

    /// The number of scopes without a primary, and of primaries without a scope: 0 once all changes have arrived.
    pub(crate) fn astray(&self, primaries: &dyn Primaries) -> usize {
        let scopes: BTreeSet<ObjectKey> = self.0.lock().keys().cloned().collect();
        let primaries: BTreeSet<ObjectKey> = primaries.keys().into_iter().collect();
        scopes.symmetric_difference(&primaries).count()
    }

    /// A primary exists, in this incarnation.
    pub(crate) fn seen(&self, primary: &ObjectKey, uid: &str) {
        let mut scopes = self.0.lock();
        let replaced = match scopes.get_mut(primary) {
            Some(values) if values.uid.as_str() == uid => None,
            Some(values) => Some(std::mem::replace(values, Values::new(uid))),
            None => scopes.insert(primary.clone(), Values::new(uid)),
        };
        drop(scopes);
        drop(replaced);
    }

    /// A primary is gone.
    pub(crate) fn gone(&self, primary: &ObjectKey) {
        let gone = self.0.lock().remove(primary);
        drop(gone);
    }
}

debug_of!(PrimaryScopes: "PrimaryScopes", |it| number: it.0.lock().len());

/// The place of values about a primary, as long as it exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimaryScope<'s> {
    scopes: &'s PrimaryScopes,
    primary: &'s ObjectKey,
    uid: Option<&'s Uid>,
    slot: ScopeSlot,
}

impl<'s> PrimaryScope<'s> {
    pub(crate) const fn primary(&self) -> &'s ObjectKey {
        self.primary
    }

    /// Whether there is such a primary.
    pub(crate) fn exists(&self) -> bool {
        self.values(&mut self.scopes.0.lock()).is_some()
    }

    /// The same for the values of a slot other than the controller's.
    pub(crate) const fn slot(self, slot: ScopeSlot) -> Self {
        Self { slot, ..self }
    }

    /// The result of `look` for a value, if there is one; `look` may change it.
    pub(crate) fn look<T: Any, R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut scopes = self.scopes.0.lock();
        self.values(&mut scopes)?.get(self.slot).map(look)
    }

    /// Changes a value, or the default one if there was none. `None`: the primary is gone, and nothing was kept.
    pub(crate) fn change<T: Any + Send + Default, R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut scopes = self.scopes.0.lock();
        self.values(&mut scopes).map(|values| change(values.get_or_default(self.slot)))
    }

    /// Changes a value, or the default one if there was none. If the primary is gone, the value isn't kept.
    pub(crate) fn change_anyway<T: Any + Send + Default, R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut scopes = self.scopes.0.lock();
        match self.values(&mut scopes) {
            Some(values) => change(values.get_or_default(self.slot)),
            None => {
                drop(scopes);
                change(&mut T::default())
            }
        }
    }

    /// Drops a value.
    pub(crate) fn forget<T: Any>(&self) {
        let mut scopes = self.scopes.0.lock();
        let Some(values) = self.values(&mut scopes) else { return };
        let forgotten = values.position::<T>(self.slot).map(|position| values.all.swap_remove(position));
        drop(scopes);
        drop(forgotten);
    }

    /// The results of `map` for the values of all slots that are of this type.
    pub(crate) fn all<T: Any, R>(&self, map: impl Fn(&T) -> Option<R>) -> Vec<R> {
        let mut scopes = self.scopes.0.lock();
        let values = self.values(&mut scopes).into_iter().flat_map(|values| &values.all);
        values.filter_map(|(_, value)| map(value.downcast_ref()?)).collect()
    }

    /// Takes out such values, of all slots, for which `is` is true.
    pub(crate) fn take_all<T: Any>(&self, is: impl Fn(&T) -> bool) -> Vec<Box<dyn Any + Send>> {
        let mut scopes = self.scopes.0.lock();
        let Some(values) = self.values(&mut scopes) else { return Vec::new() };
        let taken = values.all.extract_if(.., |(_, value)| value.downcast_ref().is_some_and(&is));
        taken.map(|(_, value)| value).collect()
    }

    fn values<'v>(&self, scopes: &'v mut BTreeMap<ObjectKey, Values>) -> Option<&'v mut Values> {
        scopes.get_mut(self.primary).filter(|values| self.uid.is_none_or(|uid| values.uid == *uid))
    }
}

/// The informer must not keep its follower alive.
struct Following(Weak<PrimaryScopes>);

impl Follower for Following {
    fn seen(&self, key: &ObjectKey, uid: &str) {
        if let Some(scopes) = self.0.upgrade() {
            scopes.seen(key, uid);
        }
    }

    fn gone(&self, key: &ObjectKey) {
        if let Some(scopes) = self.0.upgrade() {
            scopes.gone(key);
        }
    }

    fn has_ended(&self) -> bool {
        self.0.strong_count() == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Seen { primary: u8, uid: u8 },
        Gone { primary: u8 },
        Add { primary: u8, uid: Option<u8>, slot: usize, value: u32 },
        Forget { primary: u8, uid: Option<u8>, slot: usize },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let (primary, slot) = (0..3_u8, 0..3_usize);
        let uid = || proptest::option::of(0..3_u8);
        let step = prop_oneof![
            (primary.clone(), 0..3_u8).prop_map(|(primary, uid)| Step::Seen { primary, uid }),
            primary.clone().prop_map(|primary| Step::Gone { primary }),
            (primary.clone(), uid(), slot.clone(), any::<u32>())
                .prop_map(|(primary, uid, slot, value)| Step::Add { primary, uid, slot, value }),
            (primary, uid(), slot).prop_map(|(primary, uid, slot)| Step::Forget { primary, uid, slot }),
        ];
        proptest::collection::vec(step, 0..60)
    }

    fn key(primary: u8) -> ObjectKey {
        ObjectKey::namespaced("shop", &primary.to_string())
    }

    fn uid(uid: u8) -> Uid {
        Uid::new(&uid.to_string())
    }

    fn incarnation<'s>(
        scopes: &'s PrimaryScopes,
        primary: &'s ObjectKey,
        uid: Option<&'s Uid>,
    ) -> PrimaryScope<'s> {
        PrimaryScope { uid, ..scopes.of(primary) }
    }

    /// A value that shows when it is dropped.
    #[derive(Default)]
    struct Counted(Vec<u32>, Option<Arc<()>>);

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// Whatever happens in which order: what is found is what was put there for this incarnation, what is put there
        /// for another one, or for none, is nowhere, and nothing outlives its primary.
        #[test]
        fn a_scope_lives_exactly_as_long_as_its_primary(steps in steps()) {
            let scopes = PrimaryScopes::default();
            let slots = [ScopeSlot::CONTROLLER, ScopeSlot::unique(), ScopeSlot::unique()];
            let alive = Arc::new(());
            let mut model: BTreeMap<u8, (u8, BTreeMap<usize, Vec<u32>>)> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Seen { primary, uid } => {
                        scopes.seen(&key(primary), &uid.to_string());
                        let entry = model.entry(primary).or_insert((uid, BTreeMap::new()));
                        if entry.0 != uid {
                            *entry = (uid, BTreeMap::new());
                        }
                    }
                    Step::Gone { primary } => {
                        scopes.gone(&key(primary));
                        model.remove(&primary);
                    }
                    Step::Add { primary, uid, slot, value } => {
                        let named = uid.map(self::uid);
                        let added = incarnation(&scopes, &key(primary), named.as_ref()).slot(slots[slot]).change(|all: &mut Counted| {
                            all.0.push(value);
                            all.1.get_or_insert_with(|| Arc::clone(&alive));
                        });
                        let expected = model.get_mut(&primary).filter(|(own, _)| uid.is_none_or(|uid| uid == *own));
                        prop_assert_eq!(added.is_some(), expected.is_some());
                        if let Some((_, values)) = expected {
                            values.entry(slot).or_default().push(value);
                        }
                    }
                    Step::Forget { primary, uid, slot } => {
                        let named = uid.map(self::uid);
                        incarnation(&scopes, &key(primary), named.as_ref()).slot(slots[slot]).forget::<Counted>();
                        let meant = model.get_mut(&primary).filter(|(own, _)| uid.is_none_or(|uid| uid == *own));
                        if let Some((_, values)) = meant {
                            values.remove(&slot);
                        }
                    }
                }
                prop_assert_eq!(scopes.0.lock().len(), model.len());
                let values: usize = model.values().map(|(_, values)| values.len()).sum();
                prop_assert_eq!(Arc::strong_count(&alive) - 1, values, "what was dropped is gone");
                for (primary, uid, slot) in (0..3).flat_map(|p| (0..3).flat_map(move |u| (0..3).map(move |s| (p, u, s)))) {
                    let (of, key) = (self::uid(uid), key(primary));
                    let found = scopes.of_incarnation(&key, &of).slot(slots[slot]).look(|all: &mut Counted| all.0.clone());
                    let expected = model.get(&primary).filter(|(own, _)| *own == uid);
                    prop_assert_eq!(found, expected.and_then(|(_, values)| values.get(&slot).cloned()));
                }
            }
        }
    }

    #[test]
    fn a_value_that_looks_at_its_scope_while_it_is_dropped_finds_nothing() {
        struct Looks(Arc<PrimaryScopes>);
        impl Drop for Looks {
            fn drop(&mut self) {
                assert!(self.0.0.try_lock().is_some(), "it is dropped outside of the lock");
            }
        }
        let (scopes, slot) = (Arc::new(PrimaryScopes::default()), ScopeSlot::unique());
        let put = || {
            scopes.of(&key(0)).slot(slot).change(|value| *value = Some(Looks(Arc::clone(&scopes)))).is_some()
        };
        let ends: [fn(&PrimaryScopes, ScopeSlot); 3] = [
            |scopes, _| scopes.gone(&key(0)),
            |scopes, _| scopes.seen(&key(0), "v"),
            |scopes, slot| scopes.of(&key(0)).slot(slot).forget::<Option<Looks>>(),
        ];
        for end in ends {
            scopes.seen(&key(0), "u");
            assert!(put());
            end(&scopes, slot);
            assert_eq!(scopes.find(slot, |_, _: &mut Option<Looks>| Some(())), None);
        }
        scopes.seen(&key(0), "u");
        assert!(put());
        scopes.clear(ScopeSlot::CONTROLLER);
        assert!(scopes.find(slot, |_, _: &mut Option<Looks>| Some(())).is_some(), "it is another one's");
        scopes.clear(slot);
        assert_eq!(scopes.find(slot, |_, _: &mut Option<Looks>| Some(())), None);
        scopes.gone(&key(0));
        assert!(!put(), "there is nothing to keep it in");
    }

    #[test]
    fn values_of_several_types_and_users_are_apart() {
        let (scopes, other) = (PrimaryScopes::default(), ScopeSlot::unique());
        scopes.seen(&key(0), "u");
        let one = key(0);
        let own = scopes.of(&one);
        let others = own.slot(other);
        own.change(|number: &mut u8| *number = 1);
        own.change(|number: &mut u16| *number = 2);
        others.change(|number: &mut u8| *number = 3);
        assert_eq!(
            (own.look(|number: &mut u8| *number), own.look(|number: &mut u16| *number)),
            (Some(1), Some(2))
        );
        assert_eq!(
            (others.look(|number: &mut u8| *number), others.look(|number: &mut u16| *number)),
            (Some(3), None)
        );
    }
}
