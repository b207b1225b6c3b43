//! What others have done to an object of ours, and what is done about it: an apply that is refused, an object without
//! its owner, an object that has to go.

pub(super) mod drift;
pub(super) mod put_back;
pub(super) mod removal;

mod owning;
