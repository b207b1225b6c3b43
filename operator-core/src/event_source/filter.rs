//! The changes of a secondary that trigger its primaries.

use std::sync::Arc;

use crate::{
    cache::{ChangeKind, TextObject, View},
    environment::fenced,
    resource::{KubeObject, Object},
};

pub(crate) type OnObject<K> = Arc<dyn Fn(&K) -> bool + Send + Sync>;
type OnUpdate<K> = Arc<dyn Fn(&K, &K) -> bool + Send + Sync>;

/// The filters of an event source. A filter that is not set accepts everything. JOSDK: `OnAddFilter`, `OnUpdateFilter`,
/// `OnDeleteFilter` and `GenericFilter`.
pub struct Filters<K: ?Sized> {
    /// Called first, for every kind of change, with the newest state.
    pub(crate) generic: Option<OnObject<K>>,
    pub(crate) on_add: Option<OnObject<K>>,
    /// Gets the new state, then the old one.
    pub(crate) on_update: Option<OnUpdate<K>>,
    pub(crate) on_delete: Option<OnObject<K>>,
}

impl<K: ?Sized> Filters<K> {
    /// Accepts everything.
    #[must_use]
    pub fn new() -> Self {
        Self { generic: None, on_add: None, on_update: None, on_delete: None }
    }

    /// Whether `change` passes.
    pub(super) fn accepts(&self, change: &ChangeKind<K>) -> bool {
        match change {
            ChangeKind::Added { new, .. } => ask(&self.generic, new) && ask(&self.on_add, new),
            ChangeKind::Updated { old, new } => {
                ask(&self.generic, new)
                    && self.on_update.as_ref().is_none_or(|filter| fenced_or(|| filter(new, old), true))
            }
            ChangeKind::Deleted { last, .. } => ask(&self.generic, last) && ask(&self.on_delete, last),
        }
    }
}

impl Filters<dyn Object> {
    /// Whether no filter is set.
    pub(super) fn is_empty(&self) -> bool {
        self.generic.is_none()
            && self.on_add.is_none()
            && self.on_update.is_none()
            && self.on_delete.is_none()
    }

    /// The same for objects as they are kept, which are opened only if there is a filter.
    pub(super) fn accepts_kept(&self, change: &ChangeKind<TextObject>, view: &View) -> bool {
        let asked = match change {
            ChangeKind::Added { .. } => self.on_add.is_some(),
            ChangeKind::Updated { .. } => self.on_update.is_some(),
            ChangeKind::Deleted { .. } => self.on_delete.is_some(),
        };
        if !asked && self.generic.is_none() {
            return true;
        }
        change.opened(view).is_none_or(|change| self.accepts(&change))
    }
}

/// Filters of any type: they are called only for objects of the type of their event source.
pub(crate) trait Filtered<K: ?Sized> {
    fn on_object(accept: impl Fn(&K) -> bool + Send + Sync + 'static) -> OnObject<Self>;

    fn on_update(accept: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> OnUpdate<Self>;
}

impl<K> Filtered<K> for K {
    fn on_object(accept: impl Fn(&K) -> bool + Send + Sync + 'static) -> OnObject<K> {
        Arc::new(accept)
    }

    fn on_update(accept: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> OnUpdate<K> {
        Arc::new(accept)
    }
}

impl<K: KubeObject> Filtered<K> for dyn Object {
    fn on_object(accept: impl Fn(&K) -> bool + Send + Sync + 'static) -> OnObject<Self> {
        Arc::new(move |object| object.typed_ref().is_none_or(&accept))
    }

    fn on_update(accept: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> OnUpdate<Self> {
        Arc::new(move |new, old| match (new.typed_ref(), old.typed_ref()) {
            (Some(new), Some(old)) => accept(new, old),
            _ => true,
        })
    }
}

/// The methods of a declaration that set its `$filters`, which are about `$what`: objects of type `$object`. Used in
/// its `impl`. Changes that don't pass trigger no primary; the cache is kept up to date in any case.
macro_rules! filter_methods {
    ($($filters:ident).+: $object:ty, $what:literal, on_delete) => {
        $crate::event_source::filter_methods!($($filters).+: $object, $what);

        #[doc = concat!("Ignores deletions of ", $what, " whose last state doesn't pass: they cause no reconcile.")]
        pub fn on_delete(mut self, accept: impl Fn(&$object) -> bool + Send + Sync + 'static) -> Self {
            self.$($filters).+.on_delete = Some($crate::event_source::Filtered::<$object>::on_object(accept));
            self
        }
    };
    ($($filters:ident).+: $object:ty, $what:literal $(, $more:literal)?) => {
        #[doc = concat!("Ignores changes of ", $what, " whose newest state doesn't pass: they cause no reconcile.")]
        pub fn generic_filter(mut self, accept: impl Fn(&$object) -> bool + Send + Sync + 'static) -> Self {
            self.$($filters).+.generic = Some($crate::event_source::Filtered::<$object>::on_object(accept));
            self
        }

        #[doc = concat!("Ignores new ", $what, " that don't pass: they cause no reconcile.")]
        pub fn on_add(mut self, accept: impl Fn(&$object) -> bool + Send + Sync + 'static) -> Self {
            self.$($filters).+.on_add = Some($crate::event_source::Filtered::<$object>::on_object(accept));
            self
        }

        #[doc = concat!("Ignores updates of ", $what, " that don't pass: they cause no reconcile.")]
        /// The arguments are the new and the old state.
        $(#[doc = $more])?
        pub fn on_update(
            mut self,
            accept: impl Fn(&$object, &$object) -> bool + Send + Sync + 'static,
        ) -> Self {
            self.$($filters).+.on_update = Some($crate::event_source::Filtered::<$object>::on_update(accept));
            self
        }
    };
}

pub(crate) use filter_methods;

fn ask<K: ?Sized>(filter: &Option<OnObject<K>>, object: &K) -> bool {
    filter.as_ref().is_none_or(|filter| fenced_or(|| filter(object), true))
}

/// Calls user code that runs in the middle of the event path; a panic there must not stop the watch.
pub(super) fn fenced_or<T>(call: impl FnOnce() -> T, otherwise: T) -> T {
    fenced(call).unwrap_or_else(|_| {
        tracing::error!(
            "a filter or mapper panicked; it must be a function of its arguments that always returns"
        );
        otherwise
    })
}

impl<K: ?Sized> Default for Filters<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: ?Sized> Clone for Filters<K> {
    fn clone(&self) -> Self {
        Self {
            generic: self.generic.clone(),
            on_add: self.on_add.clone(),
            on_update: self.on_update.clone(),
            on_delete: self.on_delete.clone(),
        }
    }
}

debug_of!(Filters<K> [K: ?Sized]: "Filters", |it|
    generic: it.generic.is_some(), on_add: it.on_add.is_some(), on_update: it.on_update.is_some(),
    on_delete: it.on_delete.is_some());
