//! Runs over random graphs, with random answers that come in a random order.
//!
//! `scenario` makes and drives them, `model` says naively what should come out.

mod cleanup;
mod examples;
mod model;
mod order;
mod reconcile;
mod scenario;

use super::{wait::Wait, *};
use crate::workflow::{Graph, NodeId, Word};
use model::Model;
use scenario::{Answers, Event, Kind, Scenario, Trace, orders, scenarios};

/// Random runs of each property.
const CASES: u32 = 2_000;
