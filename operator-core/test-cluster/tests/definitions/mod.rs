//! Definitions of custom kinds, on the in-process server and on the real one: both are asked the same, and give the same
//! answers, word by word.

pub(crate) mod kinds;
mod kubectl;
mod modules;
mod random;
mod real;
mod refusals;
mod rules;
mod scale;
mod values;
