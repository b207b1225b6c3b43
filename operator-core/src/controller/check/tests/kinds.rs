//! The parts of the table's declarations.

use std::{collections::BTreeMap, future::ready, marker::PhantomData, sync::Arc, time::Duration};

use k8s_openapi::api::{
    core::v1::{ConfigMap, Node as Machine, Pod},
    rbac::v1::ClusterRole,
};

use crate::{
    dependent::{
        Deletion, External, Read, Records, Token, Wants,
        function::wanted::{Many, One},
    },
    event_source::external::{PerResourcePollingEventSource, PollingEventSource},
    reconciler::BoxError,
    resource::ObjectKey,
    workflow::declare::declared::{Node, node},
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

/// An object that others make.
pub(super) fn read(_: &Pod) -> Read<ConfigMap> {
    Read::only()
}

/// All objects that others make.
pub(super) fn read_all(_: &Pod) -> Read<Vec<ConfigMap>> {
    Read::all()
}

/// Any number of maps.
pub(super) fn maps(name: &'static str) -> Node<Pod, Many<ConfigMap>> {
    node(|_: &Pod| Vec::<ConfigMap>::new()).named(name)
}

/// Something in another system.
#[derive(PartialEq, Eq)]
pub(super) struct Record;
/// One record, or several.
pub(super) struct Dns<W = Option<Record>>(PhantomData<fn() -> W>);

impl<W: Wants<Record> + Default + 'static> External<Pod> for Dns<W> {
    type Resource = Record;
    type Want = W;

    fn want(&self, _: &Pod) -> W {
        W::default()
    }

    async fn observe(&self, _: &str) -> Result<Option<Record>, BoxError> {
        Ok(None)
    }

    async fn create(&self, _: &Record, _: &Token) -> Result<(String, Record), BoxError> {
        Ok(("id".to_owned(), Record))
    }

    async fn update(&self, _: &str, _: &Record, _: &Record) -> Result<Record, BoxError> {
        Ok(Record)
    }

    async fn delete(&self, _: &str) -> Result<Deletion, BoxError> {
        Ok(Deletion::Gone)
    }
}

/// Without a place for its id.
pub(super) fn forgetful_dns() -> Records<Dns, Pod> {
    Records::new(Dns(PhantomData))
}

pub(super) fn dns() -> Records<Dns, Pod> {
    forgetful_dns().id_of(|_| "one".to_owned())
}

pub(super) fn several_dns() -> Records<Dns<Vec<(String, Record)>>, Pod> {
    Records::new(Dns(PhantomData))
}

fn nothing() -> Result<BTreeMap<ObjectKey, Vec<Record>>, BoxError> {
    Ok(BTreeMap::new())
}

fn none() -> Result<Vec<Record>, BoxError> {
    Ok(Vec::new())
}

const PERIOD: Duration = Duration::from_secs(60);

pub(super) fn records(name: &'static str) -> PollingEventSource<Record, ()> {
    PollingEventSource::with_id(name, PERIOD, |_| (), || ready(nothing()))
}

pub(super) fn records_of_machines() -> PerResourcePollingEventSource<Machine, Record, ()> {
    PerResourcePollingEventSource::with_id("records", PERIOD, |_| (), |_: Arc<Machine>| ready(none()))
}

pub(super) fn records_of_pods() -> PerResourcePollingEventSource<Pod, Record, ()> {
    PerResourcePollingEventSource::with_id("records", PERIOD, |_| (), |_: Arc<Pod>| ready(none()))
}
