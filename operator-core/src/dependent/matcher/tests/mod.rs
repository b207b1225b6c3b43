//! The matchers on objects as a real API server stores them.

mod beside;
mod cases;
mod configured;
mod generic;
mod lasting;
mod merge;
mod property;
mod sanitize;
