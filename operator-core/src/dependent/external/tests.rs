//! One algorithm for a single resource and for several.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;

use crate::{
    dependent::{
        Creator, CustomDependent, Deletion, DependentResource, Error, Standalone, Updater,
        bulk::{BulkCreator, BulkCustomDependent, BulkDeleter, BulkDependentResource, BulkUpdater},
    },
    reconciler::{BoxError, Context, Offline, OfflineParts, workflow::Operation},
};

type Map = ConfigMap;

/// A system outside the cluster: numbers by name. Creates of a negative number fail.
#[derive(Clone, Debug, Default)]
struct System {
    stored: Arc<Mutex<BTreeMap<String, Arc<i32>>>>,
    wanted: BTreeMap<String, i32>,
    /// Deletions are only taken note of.
    slow: bool,
    /// How often it was asked what is wanted.
    asked: Arc<AtomicUsize>,
}

impl System {
    fn wanting<const N: usize>(wanted: [(&str, i32); N]) -> Self {
        let wanted = wanted.into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
        Self { wanted, ..Self::default() }
    }

    fn storing(self, name: &str, number: i32) -> Self {
        self.stored.lock().insert(name.to_owned(), Arc::new(number));
        self
    }

    fn store(&self, name: &str, number: i32) -> Result<Arc<i32>, BoxError> {
        if number < 0 {
            return Err("there is no such number".into());
        }
        let number = Arc::new(number);
        self.stored.lock().insert(name.to_owned(), Arc::clone(&number));
        Ok(number)
    }

    fn stored(&self) -> Vec<(String, i32)> {
        self.stored.lock().iter().map(|(name, number)| (name.clone(), **number)).collect()
    }
}

impl DependentResource<Map> for System {
    type Resource = i32;

    async fn secondary(&self, _: &Arc<Map>, _: &Context<Map>) -> Result<Option<Arc<i32>>, BoxError> {
        Ok(self.stored.lock().get("one").cloned())
    }

    fn id(&self, number: &i32) -> String {
        format!("number {number}")
    }
}

impl Creator<Map> for System {
    fn desired(&self, _: &Map, _: &Context<Map>) -> Result<i32, BoxError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.wanted.get("one").copied().ok_or_else(|| "nobody knows".into())
    }

    async fn create(&self, desired: i32, _: &Arc<Map>, _: &Context<Map>) -> Result<Arc<i32>, BoxError> {
        self.store("one", desired)
    }
}

impl Updater<Map> for System {
    fn matches(&self, actual: &i32, desired: &i32, _: &Map, _: &Context<Map>) -> bool {
        actual == desired
    }

    async fn update(
        &self,
        _: &Arc<i32>,
        desired: i32,
        _: &Arc<Map>,
        _: &Context<Map>,
    ) -> Result<Arc<i32>, BoxError> {
        self.store("one", desired)
    }
}

impl BulkDependentResource<Map> for System {
    type Resource = i32;
    type Key = String;

    async fn secondaries(
        &self,
        _: &Arc<Map>,
        _: &Context<Map>,
    ) -> Result<BTreeMap<String, Arc<i32>>, BoxError> {
        Ok(self.stored.lock().clone())
    }
}

impl BulkCreator<Map> for System {
    fn desired(&self, _: &Map, _: &Context<Map>) -> Result<BTreeMap<String, i32>, BoxError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(self.wanted.clone())
    }

    async fn create(
        &self,
        name: &String,
        desired: &i32,
        _: &Arc<Map>,
        _: &Context<Map>,
    ) -> Result<Arc<i32>, BoxError> {
        self.store(name, *desired)
    }
}

impl BulkUpdater<Map> for System {
    fn matches(&self, actual: &i32, desired: &i32, _: &Map, _: &Context<Map>) -> bool {
        actual == desired
    }

    async fn update(
        &self,
        name: &String,
        _: &Arc<i32>,
        desired: &i32,
        _: &Arc<Map>,
        _: &Context<Map>,
    ) -> Result<Arc<i32>, BoxError> {
        self.store(name, *desired)
    }
}

impl BulkDeleter<Map> for System {
    async fn delete(
        &self,
        name: &String,
        _: &Arc<i32>,
        _: &Arc<Map>,
        _: &Context<Map>,
    ) -> Result<Deletion, BoxError> {
        if self.slow {
            return Ok(Deletion::Asked);
        }
        self.stored.lock().remove(name);
        Ok(Deletion::Gone)
    }
}

/// What some reconciles in one run did, each with what it was done to.
async fn reconciles<const N: usize>(
    dependent: Standalone<Map>,
) -> Result<[Vec<(Operation, String)>; N], BoxError> {
    let mut primary = Map::default();
    (primary.metadata.name, primary.metadata.namespace) = (Some("one".to_owned()), Some("shop".to_owned()));
    let primary = Arc::new(primary);
    let context = Offline::<Map>::new(OfflineParts::default()).context(&primary);
    let mut all = [const { Vec::new() }; N];
    for done in &mut all {
        let result = dependent.reconcile(&primary, &context).await?;
        *done = result.operations().iter().map(|(what, of)| (*what, of.id().to_owned())).collect();
    }
    Ok(all)
}

fn of<const N: usize>(done: [(Operation, &str); N]) -> Vec<(Operation, String)> {
    done.into_iter().map(|(operation, id)| (operation, id.to_owned())).collect()
}

#[tokio::test]
async fn a_single_resource_is_created_found_and_changed() {
    let system = System::wanting([("one", 1)]);
    let done = reconciles::<2>(CustomDependent::new(system).creates().updates().standalone()).await.unwrap();
    assert_eq!(done, [of([(Operation::Created, "number 1")]), of([(Operation::Matched, "number 1")])]);
    let other = System::wanting([("one", 2)]).storing("one", 1);
    let [done] = reconciles(CustomDependent::new(other).creates().updates().standalone()).await.unwrap();
    assert_eq!(done, of([(Operation::Updated, "number 2")]));
}

#[tokio::test]
async fn what_is_desired_of_a_single_resource_is_asked_only_where_something_can_be_done() {
    let unknown = System::default().storing("one", 1);
    let [done] = reconciles(CustomDependent::new(unknown.clone()).creates().standalone()).await.unwrap();
    assert_eq!(done, of([(Operation::Matched, "number 1")]), "it is there, and nobody may change it");
    let [done] = reconciles(CustomDependent::new(System::default()).updates().standalone()).await.unwrap();
    assert!(done.is_empty(), "it is not there, and nobody may create it: {done:?}");
    assert_eq!(unknown.asked.load(Ordering::Relaxed), 0);
    let error = reconciles::<1>(CustomDependent::new(unknown).updates().standalone()).await.unwrap_err();
    assert_eq!(error.to_string(), "nobody knows");
}

#[tokio::test]
async fn the_error_of_a_single_resource_is_its_own_and_that_of_several_names_them() {
    let system = System::wanting([("one", -1), ("two", 2)]);
    let error =
        reconciles::<1>(CustomDependent::new(system.clone()).creates().standalone()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no such number");
    let error =
        reconciles::<1>(BulkCustomDependent::new(system.clone()).creates().standalone()).await.unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(Error::Items { failed, of: 2 }) if failed[0].0 == "one"));
    assert_eq!(system.stored(), [("two".to_owned(), 2)], "one that fails stops no other");
}

#[tokio::test]
async fn several_are_what_is_desired_which_is_asked_once_in_a_run() {
    let system =
        System::wanting([("a", 1), ("b", 2), ("c", 3)]).storing("b", 1).storing("c", 3).storing("d", 4);
    let bulk = BulkCustomDependent::new(system.clone()).creates().updates().deletes();
    let done = reconciles::<2>(bulk.standalone()).await.unwrap();
    let first = [
        (Operation::Deleted, "d"),
        (Operation::Created, "a"),
        (Operation::Updated, "b"),
        (Operation::Matched, "c"),
    ];
    assert_eq!(done, [of(first), of(["a", "b", "c"].map(|name| (Operation::Matched, name)))]);
    assert_eq!(system.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_is_only_read_is_told_as_found() {
    let system = System::wanting([]).storing("one", 1).storing("two", 2);
    let [done] = reconciles(CustomDependent::new(system.clone()).standalone()).await.unwrap();
    assert_eq!(done, of([(Operation::Matched, "number 1")]));
    let [done] = reconciles(BulkCustomDependent::new(system).deletes().standalone()).await.unwrap();
    assert_eq!(done, of([(Operation::Matched, "one"), (Operation::Matched, "two")]));
}

#[tokio::test]
async fn several_are_gone_when_the_last_one_is_and_are_looked_at_again_until_then() {
    let stored = System::wanting([]).storing("a", 1).storing("b", 2);
    let slow = System { slow: true, ..stored.clone() };
    for (system, expected) in [(slow, Deletion::Asked), (stored, Deletion::Gone)] {
        let bulk = BulkCustomDependent::new(system.clone()).creates().deletes();
        let dependent: Standalone<Map> = bulk.standalone();
        let mut primary = Map::default();
        primary.metadata.name = Some("one".to_owned());
        let primary = Arc::new(primary);
        for removed in [false, true] {
            let context = Offline::<Map>::new(OfflineParts::default()).context(&primary);
            match removed {
                true => assert_eq!(dependent.delete(&primary, &context).await.unwrap(), expected),
                false => drop(dependent.reconcile(&primary, &context).await.unwrap()),
            }
            let again = context.any().remembered().lock().again_after(None);
            assert_eq!(again.is_some(), expected == Deletion::Asked, "removed: {removed}");
        }
    }
}
