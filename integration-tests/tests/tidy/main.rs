//! The rules of the house that a machine can check: which module may use which, what a pure file may name, which lints all
//! crates have, that tests share their types, and that no row of the conformance list or of the list of faults is
//! forgotten.

mod assertions;
mod crashes;
mod faults;
mod features;
mod josdk;
mod kept;
mod layers;
mod links;
mod lints;
mod log_lines;
mod plan;
mod public;
mod purity;
mod review;
mod rows;
mod scenes;
mod seeds;
mod servers;
mod sources;
mod switched;
mod test_cluster;
mod text;
mod types;
mod vocabulary;
