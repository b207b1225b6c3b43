//! Fixtures shared by the conformance tests: a test resource, a scene to play in, a record of runs.
//!
//! Each test has a namespace of its own, and a custom resource in an API group of its own, so that all of them run at the
//! same time on one control plane. Tests wait on conditions, with [`eventually`] or with the operator's `settled()`.

mod audit;
mod dependent;
mod external;
mod faulty;
mod intercept;
mod log;
mod public_items;
mod record;
mod relist;
mod rights;
mod scene;
mod script;
mod test_resource;
mod workflows;
mod writing;

pub use audit::{Audit, Calls};
pub use dependent::{
    Counted, Wanted, accepted, map_of, meta_of, standalone, untyped_map, values_in, wanted, wanted_map, wish,
    workflow_of, workflow_of_one,
};
pub use external::{ExternalSystem, ManyRecords, OneRecord, Record, state_map};
pub use faulty::{Answer, Faulty};
pub use intercept::{before, lose_answer};
pub use log::{Fields, Line, LogCapture, LogText};
pub use public_items::{PublicItem, public_items, second_paths};
pub use record::{RecordedRun, RunGuard, RunRecord};
pub use relist::Relist;
pub use rights::until_refused;
pub use scene::{DEADLINE, Scene, eventually};
pub use script::{Gate, Script, config_map, value_of};
pub use test_resource::{TestObject, TestStatus};
pub use workflows::{Child, Outcomes, looking_on};
pub use writing::{chain_of, fresh, once_before, owners, said};
