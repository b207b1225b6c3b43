//! Tests of the whole module.

mod bounded;
mod followers;
mod indexes;
pub(crate) mod known;
mod lists;
#[cfg(target_os = "linux")]
mod memory;
mod model;
mod order;
mod panics;
pub(super) mod recorder;
mod scene;
mod selectors;
mod server;
mod sharing;
mod streaming;
mod trouble;
pub(super) mod typed;
mod undecodable;
mod watching;
mod windows;
