//! Every write of the library, and the decision whether one is needed.

pub mod matcher;
