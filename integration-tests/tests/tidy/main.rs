//! The rules of the repository that a machine can check: which module may use which, which names a pure file may use,
//! which lints all crates have, how large the library may be, that tests share their types, and that no row of the
//! conformance list or of the list of faults is forgotten.

mod book;
mod breaks;
mod budget;
mod components;
mod crashes;
mod faults;
mod features;
mod imports;
mod josdk;
mod layers;
mod links;
mod lints;
mod log_lines;
mod modules;
mod named;
mod names;
mod public;
mod purity;
mod rows;
mod scenes;
mod seeds;
mod servers;
mod sources;
mod test_cluster;
mod text;
mod types;
mod vocabulary;
