//! Data of one run, found by its type.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    ops::Deref,
    sync::Arc,
};

use parking_lot::Mutex;

/// Data that user code has put into the run by [`Context::put`](crate::Context::put): an argument of dependents and
/// conditions that are functions. A node whose function takes it fails if it has not been put; with `Option<Data<T>>`
/// it does not.
pub struct Data<T>(Arc<T>);

impl<T> Deref for Data<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Data<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Data<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// No data of this type has been put into the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no `{0}` has been put into this run: call `context.put(…)` before the workflow runs, or take an `Option<Data<_>>`"
)]
pub(crate) struct NoData(&'static str);

/// The type of data that a function takes and a controller puts.
#[derive(Clone, Copy, Debug)]
pub struct DataType {
    pub(crate) id: TypeId,
    name: &'static str,
}

impl DataType {
    pub(crate) fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>() }
    }

    /// The last segment of its path.
    pub(crate) fn short(&self) -> &'static str {
        match self.name.contains('<') {
            true => self.name,
            false => self.name.rsplit("::").next().unwrap_or(self.name),
        }
    }
}

/// The data of one run, one value for each type.
#[derive(Default)]
pub(crate) struct DataOfRun(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl DataOfRun {
    /// Replaces earlier data.
    pub(crate) fn put<T: Send + Sync + 'static>(&self, data: T) {
        let before = self.0.lock().insert(TypeId::of::<T>(), Arc::new(data));
        // Dropped without the lock.
        drop(before);
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Result<Data<T>, NoData> {
        let found = self.0.lock().get(&TypeId::of::<T>()).map(Arc::clone);
        found.and_then(|data| data.downcast().ok()).map(Data).ok_or(NoData(type_name::<T>()))
    }
}

// The data is not shown because it may be secret.
debug_of!(DataOfRun: "DataOfRun");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_found_by_its_type_and_the_last_one_counts() {
        let data = DataOfRun::default();
        let missing = data.get::<u8>().expect_err("it has not been put").to_string();
        assert!(missing.starts_with("no `u8` has been put into this run: "), "{missing}");
        data.put(1_u8);
        data.put("text");
        data.put(2_u8);
        assert_eq!(*data.get::<u8>().unwrap(), 2);
        assert_eq!(*data.get::<&str>().unwrap(), "text");
    }
}
