//! The sources outside the cluster, with paused time, against another system that a test makes up.

mod cache;
mod handles;
mod inbound;
mod model;
mod per_resource;
mod polling;
mod world;
