//! What those who wait for an informer are woken by.

use tokio::sync::{Notify, SetOnce, futures::Notified};

/// Set once, and seen from then on, also by those who begin to wait later.
pub(super) type Once = SetOnce<()>;

/// Wakes those who wait at that moment.
pub(super) type Signal = Notify;

/// One of those who wait for a [`Signal`].
pub(super) type Signalled<'s> = Notified<'s>;
