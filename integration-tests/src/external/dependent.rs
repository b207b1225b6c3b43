//! Dependents whose resources are records of the other system.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::ResourceExt;
use operator_core::{
    BoxError, Context,
    dependent::{
        Creator, CustomDependent, Deleter, Deletion, DependentResource, ExplicitState, Updater,
        bulk::{
            BulkCreator, BulkCustomDependent, BulkDeleter, BulkDependentResource, BulkExplicitState,
            BulkUpdater,
        },
    },
    workflow::{External, wired::OneOf},
};

use super::{ExternalSystem, Record};
use crate::{TestObject, TestResource};

/// One record: with its primary's name and value, each followed by a suffix.
#[derive(Debug)]
pub struct OneRecord {
    system: ExternalSystem,
    suffix: &'static str,
}

impl OneRecord {
    /// A record in `system`; the `suffix` tells it apart from others of its primary.
    #[must_use]
    pub fn new(system: &ExternalSystem, suffix: &'static str) -> Self {
        Self { system: system.clone(), suffix }
    }
}

impl<P: TestObject> DependentResource<P> for OneRecord {
    type Resource = Record;

    async fn secondary(&self, _: &Arc<P>, context: &Context<P>) -> Result<Option<Arc<Record>>, BoxError> {
        Ok(context.external::<Record>().into_iter().find(|record| record.name.ends_with(self.suffix)))
    }

    fn id(&self, resource: &Record) -> String {
        resource.id.clone()
    }
}

impl<P: TestObject> Creator<P> for OneRecord {
    fn desired(&self, primary: &P, _: &Context<P>) -> Result<Record, BoxError> {
        let name = format!("{}{}", primary.name_any(), self.suffix);
        Ok(Record { id: String::new(), name, data: format!("{}{}", primary.value(), self.suffix) })
    }

    async fn create(&self, desired: Record, _: &Arc<P>, _: &Context<P>) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.system.create(&desired.name, &desired.data)?))
    }
}

impl<P: TestObject> Updater<P> for OneRecord {
    fn matches(&self, actual: &Record, desired: &Record, _: &P, _: &Context<P>) -> bool {
        actual.data == desired.data
    }

    async fn update(
        &self,
        actual: &Arc<Record>,
        desired: Record,
        _: &Arc<P>,
        _: &Context<P>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.system.update(&actual.id, &desired.data)?))
    }
}

impl<P: TestObject> Deleter<P> for OneRecord {
    async fn delete(&self, actual: &Arc<Record>, _: &Arc<P>, _: &Context<P>) -> Result<Deletion, BoxError> {
        self.system.delete(&actual.id);
        Ok(Deletion::Gone)
    }
}

impl<P: TestObject> ExplicitState<P> for OneRecord {
    type State = ConfigMap;

    fn state(&self, record: &Record, primary: &P, context: &Context<P>) -> Result<ConfigMap, BoxError> {
        Ok(state_map(format!("{}-state", primary.name_any()), record, primary, context))
    }
}

/// As many records as the first word of the primary's value says, with the second one as their data: `3 first`.
#[derive(Debug)]
pub struct ManyRecords(ExternalSystem);

impl ManyRecords {
    /// Records in `system`.
    #[must_use]
    pub fn new(system: &ExternalSystem) -> Self {
        Self(system.clone())
    }
}

impl<P: TestObject> BulkDependentResource<P> for ManyRecords {
    type Resource = Record;
    type Key = String;

    async fn secondaries(
        &self,
        _: &Arc<P>,
        context: &Context<P>,
    ) -> Result<BTreeMap<String, Arc<Record>>, BoxError> {
        Ok(context.external::<Record>().into_iter().map(|record| (record.name.clone(), record)).collect())
    }
}

impl<P: TestObject> BulkCreator<P> for ManyRecords {
    fn desired(&self, primary: &P, _: &Context<P>) -> Result<BTreeMap<String, Record>, BoxError> {
        let (number, data) = primary.value().split_once(' ').ok_or("a number and the data are needed")?;
        let record = |index| {
            let name = format!("{}-{index}", primary.name_any());
            (name.clone(), Record { id: String::new(), name, data: data.to_owned() })
        };
        Ok((0..number.parse::<usize>()?).map(record).collect())
    }

    async fn create(
        &self,
        _: &String,
        desired: &Record,
        _: &Arc<P>,
        _: &Context<P>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.0.create(&desired.name, &desired.data)?))
    }
}

impl<P: TestObject> BulkUpdater<P> for ManyRecords {
    fn matches(&self, actual: &Record, desired: &Record, _: &P, _: &Context<P>) -> bool {
        actual.data == desired.data
    }

    async fn update(
        &self,
        _: &String,
        actual: &Arc<Record>,
        desired: &Record,
        _: &Arc<P>,
        _: &Context<P>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.0.update(&actual.id, &desired.data)?))
    }
}

impl<P: TestObject> BulkDeleter<P> for ManyRecords {
    async fn delete(
        &self,
        _: &String,
        actual: &Arc<Record>,
        _: &Arc<P>,
        _: &Context<P>,
    ) -> Result<Deletion, BoxError> {
        self.0.delete(&actual.id);
        Ok(Deletion::Gone)
    }
}

impl<P: TestObject> BulkExplicitState<P> for ManyRecords {
    type State = ConfigMap;

    fn state(
        &self,
        key: &String,
        record: &Record,
        primary: &P,
        context: &Context<P>,
    ) -> Result<ConfigMap, BoxError> {
        Ok(state_map(key.clone(), record, primary, context))
    }
}

/// A node with one record, remembered by the event source `records`.
pub fn one_record(system: &ExternalSystem, suffix: &'static str) -> External<TestResource, OneOf<Record>> {
    record(system, suffix).named(format!("record{suffix}"))
}

/// The same, with a config map `<primary>-state` that keeps the record's id.
pub fn one_kept_record(system: &ExternalSystem) -> External<TestResource, OneOf<Record>> {
    record(system, "").keeps_state().named("record")
}

fn record(system: &ExternalSystem, suffix: &'static str) -> CustomDependent<OneRecord, TestResource> {
    let dependent = CustomDependent::new(OneRecord::new(system, suffix));
    dependent.creates().updates().deletes().remembered_by(super::SOURCE)
}

/// A bulk dependent with records, remembered by the event source `records`.
pub fn many_records(system: &ExternalSystem) -> BulkCustomDependent<ManyRecords, TestResource> {
    let bulk = BulkCustomDependent::new(ManyRecords::new(system)).creates().updates().deletes();
    bulk.remembered_by(super::SOURCE)
}

/// The same, with a config map for each record that keeps its id, and is called like the record.
pub fn many_kept_records(system: &ExternalSystem) -> BulkCustomDependent<ManyRecords, TestResource> {
    many_records(system).keeps_state()
}

/// The config map of that name, owned by the primary, that keeps the id of a record.
fn state_map<P: TestObject>(name: String, record: &Record, primary: &P, context: &Context<P>) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: primary.namespace(),
            owner_references: context.owner_reference(primary).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some([("id".to_owned(), record.id.clone())].into()),
        ..ConfigMap::default()
    }
}
