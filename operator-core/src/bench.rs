//! The parts of the engine that benches and tests of the engine hold by themselves. For nobody else: what is here changes
//! with the engine, without a word.

pub use crate::{
    dependent::matcher::{configured::Written, merge::merged, ssa::matches_applied},
    operations::matcher::matches_owned_fields,
    processor::machine::{Effect, Input, Machine, MachineConfig, Outcome, Run, RunId},
    workflow::{
        graph::Graph,
        plan::{Checked, Fate, Plan, Reconciled, Removed, Step},
    },
};
