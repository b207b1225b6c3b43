//! Tests of the whole module.

mod model;
mod panics;
mod recorder;
mod server;
mod watching;
