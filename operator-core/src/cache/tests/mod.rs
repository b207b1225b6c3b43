//! Tests of the whole module.

mod recorder;
mod server;
mod watching;
