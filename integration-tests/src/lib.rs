//! Fixtures shared by the conformance tests: test resources, a scene, a record of runs.
//!
//! Each test has a namespace of its own, so that all of them run at the same time on one control plane. They share
//! their custom resources, because everything generic over a primary is then compiled once, here: [`TestResource`], and
//! [`ClusterTestResource`], whose objects are distinguished by their names. Tests that begin without a definition,
//! change it, or delete it, take turns with a [`LateTestResource`].
//!
//! Tests wait on conditions, with [`eventually`] or with the operator's `settled()`.

mod assertions;
mod audit;
#[cfg(doctest)]
mod book;
mod cluster;
mod command;
mod dependent;
mod elsewhere;
mod external;
mod failures;
mod faulty;
mod held;
mod intercept;
mod json;
mod late;
mod log;
mod numbers;
mod opaque;
mod package;
pub mod prelude;
mod public_items;
mod random;
mod record;
pub mod rights;
mod said;
mod scene;
mod script;
mod stand;
mod test_resource;
mod weight;
mod workflows;
mod writing;

pub use assertions::{Assertions, assertions};
pub use cluster::{cluster, cluster_with, cluster_with_shards};
pub use command::command;
pub use dependent::{
    accepted, count_and_value, counted_maps, map_of, meta_of, standalone, untyped_map, values_in, wanted,
    wanted_map, wanted_map_of, wish, workflow_of, workflow_of_one,
};
pub use elsewhere::Elsewhere;
pub use external::{
    EachWord, ExternalSystem, ManyRecords, OneRecord, Record, Word, Words, many_kept_records, many_records,
    one_kept_record, one_record, words_in,
};
pub use failures::Failures;
pub use faulty::{Answer, Faulty};
pub use held::Held;
pub use intercept::{before, lose_answer};
pub use json::from_json;
pub use late::Turn;
pub use log::{Fields, LogText};
pub use numbers::Numbers;
pub use opaque::opaque_versions;
pub use operator_core::testing::{Audit, Calls, Gate, LogCapture, LogLine as Line, Relist};
pub use package::{Package, PackageSpec, PackageStatus};
pub use public_items::{PublicItem, public_items, second_paths};
pub use random::Random;
pub use record::{RecordedRun, RunGuard, RunRecord};
pub use rights::until_refused;
pub use said::{Answers, Said};
pub use scene::{DEADLINE, Scene, eventually};
pub use script::{Script, config_map, value_of};
pub use stand::{Stand, StandSpec, StandStatus};
pub use test_resource::{
    ClusterTestResource, ClusterTestResourceSpec, GROUP, LateTestResource, LateTestResourceSpec,
    NumberedTestResource, NumberedTestResourceSpec, TestObject, TestResource, TestResourceSpec, TestStatus,
    late_in_two_versions, statuses_serialized,
};
pub use weight::{Rooms, product_lines, rooms, rust_files};
pub use workflows::{Child, Outcomes, Switch, looking_on, node_of};
pub use writing::{before_the_first, chain_of, entries_of, fresh, once_before, owners, said};
