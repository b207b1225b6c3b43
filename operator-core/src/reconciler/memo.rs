//! Values that are computed once for a primary, and used several times.

use std::{any::Any, collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::resource::AnyObject;

type Value = Arc<dyn Any + Send + Sync>;

/// Identifies what a value was computed by. Each new key differs from all others; clones are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoKey(Arc<()>);

impl MemoKey {
    /// The key of what is known of something with this identity.
    pub(crate) fn of(identity: &Arc<()>) -> Self {
        Self(Arc::clone(identity))
    }
}

/// Values by their keys and primaries: a run may work on a primary other than its own.
///
/// The keys are addresses. An address stays in use as long as the value exists, because the memo also holds the key
/// and the primary.
#[derive(Default)]
pub(crate) struct Memo(Mutex<HashMap<(usize, usize), MemoEntry>>);

struct MemoEntry {
    _key: MemoKey,
    _primary: AnyObject,
    value: Value,
}

impl Memo {
    /// The value that was computed under this key for `primary`, or else the result of `compute`, which may request
    /// other values.
    pub(crate) fn get_or_try<T: Send + Sync + 'static, E>(
        &self,
        key: &MemoKey,
        primary: &AnyObject,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        match self.known(key, primary) {
            Some(known) => Ok(known),
            None => Ok(self.keep(key, primary, compute()?)),
        }
    }

    /// Keeps a value that was computed elsewhere.
    pub(crate) fn keep<T: Send + Sync + 'static>(
        &self,
        key: &MemoKey,
        primary: &AnyObject,
        value: T,
    ) -> Arc<T> {
        let address = (Arc::as_ptr(&key.0).addr(), Arc::as_ptr(primary).cast::<()>().addr());
        let value = Arc::new(value);
        let entry = MemoEntry {
            _key: key.clone(),
            _primary: AnyObject::clone(primary),
            value: Arc::clone(&value) as Value,
        };
        self.0.lock().insert(address, entry);
        value
    }

    /// The value that was computed under this key for `primary`, if it was.
    pub(crate) fn known<T: Send + Sync + 'static>(
        &self,
        key: &MemoKey,
        primary: &AnyObject,
    ) -> Option<Arc<T>> {
        let address = (Arc::as_ptr(&key.0).addr(), Arc::as_ptr(primary).cast::<()>().addr());
        let known = self.0.lock().get(&address).map(|entry| Arc::clone(&entry.value))?;
        known.downcast().ok()
    }

    /// Forgets all values, because the data that the context returns may have changed.
    pub(crate) fn clear(&self) {
        let values = std::mem::take(&mut *self.0.lock());
        // Dropped without the lock.
        drop(values);
    }
}

// The values are not shown because they may be Secrets.
debug_of!(Memo: "Memo");

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn a_primary() -> AnyObject {
        Arc::new(ConfigMap::default())
    }

    #[test]
    fn a_value_is_computed_once_for_each_key_and_errors_are_not_kept() {
        let (memo, one, other) = (Memo::default(), MemoKey::default(), MemoKey::default());
        let primary = a_primary();
        assert_eq!(memo.get_or_try::<u8, _>(&one, &primary, || Err("not yet")), Err("not yet"));
        assert_eq!(memo.get_or_try::<u8, ()>(&one, &primary, || Ok(1)), Ok(Arc::new(1)));
        assert_eq!(memo.get_or_try::<u8, ()>(&one.clone(), &primary, || Ok(2)), Ok(Arc::new(1)));
        assert_eq!(memo.get_or_try::<u8, ()>(&other, &primary, || Ok(3)), Ok(Arc::new(3)));
    }

    #[test]
    fn another_primary_has_values_of_its_own_and_a_new_beginning_knows_none() {
        let (memo, key, primary) = (Memo::default(), MemoKey::default(), a_primary());
        assert_eq!(memo.get_or_try::<u8, ()>(&key, &primary, || Ok(1)), Ok(Arc::new(1)));
        // Equal, but another object.
        assert_eq!(memo.get_or_try::<u8, ()>(&key, &a_primary(), || Ok(2)), Ok(Arc::new(2)));
        assert_eq!(memo.get_or_try::<u8, ()>(&key, &primary, || Ok(3)), Ok(Arc::new(1)));
        memo.clear();
        assert_eq!(memo.get_or_try::<u8, ()>(&key, &primary, || Ok(4)), Ok(Arc::new(4)));
    }
}
