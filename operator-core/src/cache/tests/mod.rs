//! Tests of the whole module.

mod model;
mod recorder;
mod server;
mod watching;
