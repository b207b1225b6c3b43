//! The answer of a script, with the wanted status.

use std::time::Duration;

use kube::core::object::HasStatus;
use operator_core::{Context, Run, UpdateControl, resource::KubeObject};
use serde::Serialize;
use serde_json::Value;

/// The types that a closure of a [`Script`](crate::Script) may return.
pub trait Answers<K: KubeObject>: Send + 'static {
    /// Whether it may have a status.
    const SAYS: bool;

    /// Its form in the script.
    fn said(self) -> Said<K>;
}

impl<K: KubeObject> Answers<K> for UpdateControl<K> {
    const SAYS: bool = false;

    fn said(self) -> Said<K> {
        Said { control: self, status: None }
    }
}

/// An answer, and the wanted status. The script puts it into the run, and the status function of its controller writes it.
#[derive(Debug)]
pub struct Said<K> {
    control: UpdateControl<K>,
    status: Option<Value>,
}

/// The data that is put into the run.
struct Status(Value);

impl<K: KubeObject> Answers<K> for Said<K> {
    const SAYS: bool = true;

    fn said(self) -> Self {
        self
    }
}

impl<K: KubeObject> Said<K> {
    /// Leaves primary and status as they are.
    #[must_use]
    pub fn no_update() -> Self {
        UpdateControl::no_update().said()
    }

    /// Writes the status.
    #[must_use]
    pub fn status(status: K::Status) -> Self
    where
        K: HasStatus<Status: Serialize>,
    {
        Self::of(UpdateControl::no_update(), &status)
    }

    /// Writes the status of `primary`: for kinds without kube's `HasStatus`.
    #[must_use]
    pub fn status_of(primary: &K) -> Self {
        Self::of(UpdateControl::no_update(), &status_of(primary))
    }

    /// Writes the object, but not its status.
    #[must_use]
    pub fn patch_resource(primary: K) -> Self {
        UpdateControl::patch_resource(primary).said()
    }

    /// Writes the object, then its status.
    #[must_use]
    pub fn resource_and_status(primary: K) -> Self {
        let status = status_of(&primary);
        Self::of(UpdateControl::patch_resource(primary), &status)
    }

    fn of(control: UpdateControl<K>, status: &impl Serialize) -> Self {
        let status = serde_json::to_value(status).expect("a status can be serialized");
        Self { control, status: Some(status) }
    }

    /// Asks for a further run after `delay`.
    #[must_use]
    pub fn reschedule_after(mut self, delay: Duration) -> Self {
        self.control = self.control.reschedule_after(delay);
        self
    }

    /// Asks for a further run at once.
    #[must_use]
    pub fn reschedule(self) -> Self {
        self.reschedule_after(Duration::ZERO)
    }

    /// Puts the status into the run, and returns the rest.
    pub fn put(self, context: &Context<K>) -> UpdateControl<K> {
        if let Some(status) = self.status {
            context.put(Status(status));
        }
        self.control
    }

    /// The status that was put into the run; null if none was.
    #[must_use]
    pub fn put_into(run: &Run<K>) -> Value {
        run.data::<Status>().map_or(Value::Null, |status| status.0.clone())
    }
}

fn status_of(object: &impl Serialize) -> Value {
    serde_json::to_value(object).expect("an object can be serialized")["status"].take()
}
