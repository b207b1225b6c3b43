//! Values that exist once for all parts of one operator.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

use parking_lot::Mutex;

use super::Environment;

/// One of each type.
#[derive(Clone, Default)]
pub(super) struct SharedValues(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl fmt::Debug for SharedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedValues").field("types", &self.0.lock().len()).finish()
    }
}

impl Environment {
    /// The operator's only `T`, which is made when it is first needed.
    pub(crate) fn shared<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut shared = self.shared.0.lock();
        let one = shared.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // Each value is kept under its own type.
        Arc::clone(one).downcast().unwrap_or_default()
    }
}
