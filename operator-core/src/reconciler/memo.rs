//! What is computed once in a run, and asked for several times.

use std::{any::Any, collections::HashMap, fmt, sync::Arc};

use parking_lot::Mutex;

type Value = Arc<dyn Any + Send + Sync>;

/// Whose value it is. Each one that is made differs from all others; clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoKey(Arc<()>);

/// Values by who has computed them.
///
/// The keys are addresses. What is at an address stays there as long as the value, since the memo keeps the key itself, too.
#[derive(Default)]
pub(crate) struct Memo(Mutex<HashMap<usize, (MemoKey, Value)>>);

impl Memo {
    /// The value that was computed under this key, or else that of `compute`, which may ask for other values.
    pub(crate) fn get_or_try<T: Send + Sync + 'static, E>(
        &self,
        key: &MemoKey,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let address = Arc::as_ptr(&key.0).addr();
        let known = self.0.lock().get(&address).map(|(_, value)| Arc::clone(value));
        if let Some(Ok(known)) = known.map(Arc::downcast) {
            return Ok(known);
        }
        let computed = Arc::new(compute()?);
        self.0.lock().insert(address, (key.clone(), Arc::clone(&computed) as Value));
        Ok(computed)
    }
}

/// The values are not shown: they may be Secrets.
impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_computed_once_for_each_key_and_errors_are_not_kept() {
        let (memo, one, other) = (Memo::default(), MemoKey::default(), MemoKey::default());
        assert_eq!(memo.get_or_try::<u8, _>(&one, || Err("not yet")), Err("not yet"));
        assert_eq!(memo.get_or_try::<u8, ()>(&one, || Ok(1)), Ok(Arc::new(1)));
        assert_eq!(memo.get_or_try::<u8, ()>(&one.clone(), || Ok(2)), Ok(Arc::new(1)));
        assert_eq!(memo.get_or_try::<u8, ()>(&other, || Ok(3)), Ok(Arc::new(3)));
    }
}
