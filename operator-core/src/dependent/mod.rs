//! What a primary has made for it: its dependent resources.

pub mod matcher;
