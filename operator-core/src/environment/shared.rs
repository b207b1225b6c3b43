//! Values that exist once for all parts of one operator.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::Arc,
};

use parking_lot::Mutex;

use super::Environment;

/// One of each type.
#[derive(Clone, Default)]
pub(super) struct SharedValues(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

debug_of!(SharedValues: "SharedValues", |it| types: it.0.lock().len());

impl Environment {
    /// The operator's only `T`, which is made when it is first needed.
    pub(crate) fn shared<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut shared = self.shared.0.lock();
        let one = shared.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // Each value is kept under its own type.
        Arc::clone(one).downcast().unwrap_or_default()
    }
}
