//! The command at work, which needs the feature `testing`.

mod actor;
mod command;
mod feed;
mod lines;
mod nodes;
mod objects;
mod once;
mod play;
mod rights;
mod server;
mod stage;
mod table;

use super::{Readiness, Scenario, Step, Target, Workbench, fixture, ready, step};
use crate::cli::{Error, ExitStatus};
pub(in crate::cli) use command::dev;
use command::failed;
