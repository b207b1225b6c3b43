//! Fixtures shared by the conformance tests: a test resource, a scene to play in, a record of runs.
//!
//! Each test has a namespace of its own, so that all of them run at the same time on one control plane. They share two
//! custom resources, [`TestResource`] and [`ClusterTestResource`], so that all that is generic over a primary is compiled once,
//! here. What has no namespace is told apart by its name. A test that changes a definition, or begins without it, has one in
//! an API group of its own, by [`test_resource!`].
//!
//! Tests wait on conditions, with [`eventually`] or with the operator's `settled()`.

mod audit;
mod cluster;
mod dependent;
mod external;
mod faulty;
mod intercept;
mod log;
mod record;
mod relist;
mod rights;
mod scene;
mod script;
mod test_resource;
mod workflows;
mod writing;

pub use audit::{Audit, Calls};
pub use cluster::{cluster, cluster_with};
pub use dependent::{
    Counted, Wanted, accepted, map_of, meta_of, standalone, untyped_map, values_in, wanted, wanted_map, wish,
    workflow_of, workflow_of_one,
};
pub use external::{
    ExternalSystem, ManyRecords, OneRecord, Record, many_kept_records, many_records, one_kept_record,
    one_record,
};
pub use faulty::{Answer, Faulty};
pub use intercept::{before, lose_answer};
pub use log::{Fields, Line, LogCapture, LogText};
pub use record::{RecordedRun, RunGuard, RunRecord};
pub use relist::Relist;
pub use rights::until_refused;
pub use scene::{DEADLINE, Scene, eventually};
pub use script::{Gate, Script, config_map, value_of};
pub use test_resource::{
    ClusterTestResource, ClusterTestResourceSpec, GROUP, TestObject, TestResource, TestResourceSpec,
    TestStatus, shared_crds,
};
pub use workflows::{Child, Outcomes, looking_on};
pub use writing::{chain_of, fresh, once_before, owners, said};
