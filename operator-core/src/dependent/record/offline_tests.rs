//! The whole work on a record, without a cluster: its id follows from its primary.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use k8s_openapi::api::core::v1::ConfigMap as Map;
use parking_lot::Mutex;

use super::{External, NotMade, Records, Token};
use crate::{
    dependent::{Deletion, Standalone, want::Want},
    reconciler::{BoxError, Offline, OfflineParts},
    results::{Operation, Secondary},
};

/// A system outside the cluster: numbers by id. A negative number is refused.
#[derive(Clone, Debug, Default)]
struct Numbers {
    stored: Arc<Mutex<BTreeMap<String, i32>>>,
    wanted: Option<i32>,
    /// Deletions are only requested, and take time.
    slow: bool,
    /// How often `want` was called.
    asked: Arc<AtomicUsize>,
}

impl Numbers {
    fn wanting(number: i32) -> Self {
        Self { wanted: Some(number), ..Self::default() }
    }

    fn storing(self, number: i32) -> Self {
        self.stored.lock().insert("one".to_owned(), number);
        self
    }

    fn stored(&self) -> Vec<i32> {
        self.stored.lock().values().copied().collect()
    }

    fn standalone(&self) -> Standalone<Map> {
        let name = |map: &Map| map.metadata.name.clone().unwrap_or_default();
        Records::new(self.clone()).id_of(name).standalone()
    }
}

impl External<Map> for Numbers {
    type Resource = i32;
    type Want = Result<Want<i32>, BoxError>;

    fn want(&self, _: &Map) -> Self::Want {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.wanted.map(Want::Is).ok_or_else(|| "nobody knows".into())
    }

    async fn observe(&self, id: &str) -> Result<Option<i32>, BoxError> {
        Ok(self.stored.lock().get(id).copied())
    }

    async fn create(&self, want: &i32, _: &Token) -> Result<(String, i32), BoxError> {
        if *want < 0 {
            return Err(NotMade::because("there is no such number").into());
        }
        self.stored.lock().insert("one".to_owned(), *want);
        Ok(("one".to_owned(), *want))
    }

    async fn update(&self, id: &str, _: &i32, want: &i32) -> Result<i32, BoxError> {
        self.stored.lock().insert(id.to_owned(), *want);
        Ok(*want)
    }

    async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
        if self.slow {
            return Ok(Deletion::Asked);
        }
        self.stored.lock().remove(id);
        Ok(Deletion::Gone)
    }
}

fn primary() -> Arc<Map> {
    let mut primary = Map::default();
    primary.metadata.name = Some("one".to_owned());
    Arc::new(primary)
}

/// The operations of `N` reconciles in one run of the primary.
async fn reconciles<const N: usize>(numbers: &Numbers) -> Result<[Vec<(Operation, i32)>; N], BoxError> {
    let (dependent, primary) = (numbers.standalone(), primary());
    let context = Offline::<Map>::new(OfflineParts::default()).context(&primary);
    let mut all = [const { Vec::new() }; N];
    for done in &mut all {
        let result = dependent.reconcile(&primary, &context).await?;
        let number = |(what, of): &(Operation, Secondary)| Some((*what, *of.get::<i32>()?));
        *done = result.operations().iter().filter_map(number).collect();
        assert_eq!(done.len(), result.operations().len());
    }
    Ok(all)
}

#[tokio::test]
async fn a_single_record_is_created_found_and_changed() {
    let done = reconciles::<2>(&Numbers::wanting(1)).await.unwrap();
    assert_eq!(done, [[(Operation::Created, 1)], [(Operation::Matched, 1)]]);
    let other = Numbers::wanting(2).storing(1);
    assert_eq!(reconciles(&other).await.unwrap(), [[(Operation::Updated, 2)]]);
    assert_eq!(other.stored(), [2]);
}

#[tokio::test]
async fn what_is_wanted_is_asked_once_in_a_run_and_nothing_is_done_where_nobody_knows() {
    let numbers = Numbers::wanting(1);
    reconciles::<2>(&numbers).await.unwrap();
    assert_eq!(numbers.asked.load(Ordering::Relaxed), 1);
    let unknown = Numbers::default().storing(1);
    assert_eq!(reconciles::<1>(&unknown).await.unwrap_err().to_string(), "nobody knows");
    assert_eq!(unknown.stored(), [1]);
}

#[tokio::test]
async fn the_error_of_a_single_record_is_its_own() {
    let error = reconciles::<1>(&Numbers::wanting(-1)).await.unwrap_err();
    assert!(error.is::<NotMade>());
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("there is no such number"));
}

#[tokio::test]
async fn a_record_that_goes_slowly_is_looked_at_again_until_it_is_gone() {
    let stored = Numbers::wanting(1).storing(1);
    let slow = Numbers { slow: true, ..stored.clone() };
    for (numbers, expected) in [(slow, Deletion::Asked), (stored, Deletion::Gone)] {
        let (dependent, primary) = (numbers.standalone(), primary());
        let context = Offline::<Map>::new(OfflineParts::default()).context(&primary);
        assert_eq!(dependent.delete(&primary, &context).await.unwrap(), expected);
        let again = context.any().remembered().lock().again_in;
        assert_eq!(again.is_some(), expected == Deletion::Asked);
        assert_eq!(numbers.stored().is_empty(), expected == Deletion::Gone);
    }
}
