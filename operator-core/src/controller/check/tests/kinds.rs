//! What the declarations of the table are made of.

use std::{collections::BTreeMap, future::ready, sync::Arc, time::Duration};

use k8s_openapi::api::{
    core::v1::{ConfigMap, Node as Machine, Pod, Secret},
    rbac::v1::ClusterRole,
};

use crate::{
    dependent::{
        Creator, CustomDependent, Deleter, Deletion, DependentResource, ExplicitState, Read,
        function::wanted::{Many, One},
    },
    event_source::external::{PerResourcePollingEventSource, PollingEventSource},
    reconciler::{BoxError, Context},
    resource::ObjectKey,
    workflow::wired::declared::{Node, node},
};

/// A map by a name that it holds.
pub(super) struct Map(pub(super) &'static str);

impl Map {
    /// As a node of that name.
    pub(super) fn node(self) -> Node<Pod, One<ConfigMap>> {
        node(|_: &Pod| ConfigMap::default()).named(self.0)
    }
}

pub(super) fn role(_: &Pod) -> ClusterRole {
    ClusterRole::default()
}

/// What others make.
pub(super) fn read(_: &Pod) -> Read<ConfigMap> {
    Read::only()
}

/// Any number of maps.
pub(super) fn maps(name: &'static str) -> Node<Pod, Many<ConfigMap>> {
    node(|_: &Pod| Vec::<ConfigMap>::new()).named(name)
}

/// Something in another system.
#[derive(PartialEq, Eq)]
pub(super) struct Record;
/// Something else there.
#[derive(PartialEq, Eq)]
pub(super) struct Bucket;

pub(super) struct Dns;

impl DependentResource<Pod> for Dns {
    type Resource = Record;

    async fn secondary(&self, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Option<Arc<Record>>, BoxError> {
        Ok(None)
    }
}

impl Creator<Pod> for Dns {
    fn desired(&self, _: &Pod, _: &Context<Pod>) -> Result<Record, BoxError> {
        Ok(Record)
    }

    async fn create(&self, _: Record, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(Record))
    }
}

impl Deleter<Pod> for Dns {
    async fn delete(&self, _: &Arc<Record>, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Deletion, BoxError> {
        Ok(Deletion::Gone)
    }
}

impl ExplicitState<Pod> for Dns {
    type State = Secret;

    fn state(&self, _: &Record, _: &Pod, _: &Context<Pod>) -> Result<Secret, BoxError> {
        Ok(Secret::default())
    }
}

pub(super) fn dns() -> CustomDependent<Dns, Pod> {
    CustomDependent::new(Dns).creates()
}

/// One that has to be deleted before its primary goes.
pub(super) fn deleted_dns() -> CustomDependent<Dns, Pod> {
    dns().deletes()
}

fn nothing<R>() -> Result<BTreeMap<ObjectKey, Vec<R>>, BoxError> {
    Ok(BTreeMap::new())
}

fn none() -> Result<Vec<Record>, BoxError> {
    Ok(Vec::new())
}

const PERIOD: Duration = Duration::from_secs(60);

pub(super) fn records(name: &'static str) -> PollingEventSource<Record, ()> {
    PollingEventSource::with_id(name, PERIOD, |_| (), || ready(nothing::<Record>()))
}

pub(super) fn buckets(name: &'static str) -> PollingEventSource<Bucket, ()> {
    PollingEventSource::with_id(name, PERIOD, |_| (), || ready(nothing::<Bucket>()))
}

pub(super) fn records_of_machines() -> PerResourcePollingEventSource<Machine, Record, ()> {
    PerResourcePollingEventSource::with_id("records", PERIOD, |_| (), |_: Arc<Machine>| ready(none()))
}

pub(super) fn records_of_pods() -> PerResourcePollingEventSource<Pod, Record, ()> {
    PerResourcePollingEventSource::with_id("records", PERIOD, |_| (), |_: Arc<Pod>| ready(none()))
}
