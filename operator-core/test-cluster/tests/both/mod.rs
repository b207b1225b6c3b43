//! The same requests to the in-process server and to a real one: the answers are equal, word by word.
//!
//! Identities, versions, times and addresses are masked. All differences of a test are told at once.

mod accounts;
mod admission;
mod events;
mod field;
mod quota;
mod rights;
mod served;
mod services;
mod stored;
mod subresources;
mod warnings;

use crate::harness::{
    both::{Both, real, send},
    masks::masked,
};
