//! The thin shell around the machine: one channel in, one sleep, one task per run.

mod handle;
mod run_task;
mod task;

#[cfg(test)]
mod gauges_tests;
#[cfg(test)]
mod tests;

pub(crate) use handle::Processor;
pub(crate) use run_task::HandedOut;
pub(crate) use task::{ProcessorTask, RunExecutor};
