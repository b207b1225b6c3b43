//! Nodes whose records are in the other system.

use std::time::Duration;

use kube::ResourceExt as _;
use operator_core::{
    BoxError,
    dependent::{Deletion, External, Found, Records, Token},
    workflow::{
        RecordNode,
        declare::{ManyOf, OneOf},
    },
};

use super::{ExternalSystem, Record};
use crate::{TestObject as _, TestResource};

/// How often the other system is asked.
const PERIOD: Duration = Duration::from_millis(100);

/// One record: with its primary's name and value, each followed by a suffix.
#[derive(Debug)]
pub struct OneRecord {
    system: ExternalSystem,
    suffix: &'static str,
}

/// As many records as the first word of the primary's value says, with the second one as their data: `3 first`.
#[derive(Debug)]
pub struct ManyRecords(ExternalSystem);

impl OneRecord {
    /// A record in `system`; the `suffix` distinguishes it from others of its primary.
    #[must_use]
    pub fn new(system: &ExternalSystem, suffix: &'static str) -> Self {
        Self { system: system.clone(), suffix }
    }

    const fn system(&self) -> &ExternalSystem {
        &self.system
    }
}

impl ManyRecords {
    /// Records in `system`.
    #[must_use]
    pub fn new(system: &ExternalSystem) -> Self {
        Self(system.clone())
    }

    const fn system(&self) -> &ExternalSystem {
        &self.0
    }
}

macro_rules! calls {
    () => {
        type Resource = Record;

        async fn observe(&self, id: &str) -> Result<Option<Record>, BoxError> {
            Ok(self.system().get(id))
        }

        async fn observe_all(&self) -> Result<Vec<(String, Record)>, BoxError> {
            Ok(by_id(self.system().all()))
        }

        async fn find(&self, token: &Token) -> Result<Found<Record>, BoxError> {
            Ok(Found::Records(by_id(self.system().made_for(token.as_str()))))
        }

        async fn create(&self, want: &Record, token: &Token) -> Result<(String, Record), BoxError> {
            let made = self.system().create_for(token.as_str(), &want.name, &want.data)?;
            Ok((made.id.clone(), made))
        }

        /// The system chooses the id.
        fn matches(&self, actual: &Record, want: &Record) -> bool {
            actual.data == want.data
        }

        async fn update(&self, id: &str, _: &Record, want: &Record) -> Result<Record, BoxError> {
            Ok(self.system().update(id, &want.data)?)
        }

        async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
            self.system().delete(id);
            Ok(Deletion::Gone)
        }
    };
}

impl External<TestResource> for OneRecord {
    type Want = Option<Record>;

    fn want(&self, primary: &TestResource) -> Option<Record> {
        let name = format!("{}{}", primary.name_any(), self.suffix);
        Some(Record::wanted(name, format!("{}{}", primary.value(), self.suffix)))
    }

    calls!();
}

impl External<TestResource> for ManyRecords {
    type Want = Result<Vec<(String, Record)>, BoxError>;

    fn want(&self, primary: &TestResource) -> Self::Want {
        let (number, data) = primary.value().split_once(' ').ok_or("a number and the data are needed")?;
        let record = |index| {
            let name = format!("{}-{index}", primary.name_any());
            (name.clone(), Record::wanted(name, data.to_owned()))
        };
        Ok((0..number.parse::<usize>()?).map(record).collect())
    }

    calls!();
}

fn by_id(records: Vec<Record>) -> Vec<(String, Record)> {
    records.into_iter().map(|record| (record.id.clone(), record)).collect()
}

/// A node with one record, read ten times a second, whose id is kept in the primary's status.
pub fn one_record(system: &ExternalSystem, suffix: &'static str) -> RecordNode<TestResource, OneOf<Record>> {
    let field = match suffix.strip_prefix('-') {
        Some(suffix) => format!("recordIds.{suffix}"),
        None => "recordId".to_owned(),
    };
    let record = Records::new(OneRecord::new(system, suffix)).polled(PERIOD);
    record.id_in_status(field).named(format!("record{suffix}"))
}

/// The same, with a config map `<primary>-state` that keeps the record's id.
pub fn one_kept_record(system: &ExternalSystem) -> RecordNode<TestResource, OneOf<Record>> {
    Records::new(OneRecord::new(system, "")).polled(PERIOD).id_in_config_map().named("state")
}

/// Records that are read ten times a second by one call for all primaries, whose ids are kept in the status.
pub fn many_records(system: &ExternalSystem) -> Records<ManyRecords, TestResource> {
    Records::new(ManyRecords::new(system)).polled_together(PERIOD).id_in_status("recordIds")
}

/// Records that are read ten times a second, with a config map `<primary>-ids` that keeps their ids.
pub fn many_kept_records(system: &ExternalSystem) -> RecordNode<TestResource, ManyOf<Record>> {
    Records::new(ManyRecords::new(system)).polled(PERIOD).id_in_config_map().named("ids")
}
