//! Components on both servers: two in each run, with different ends, so that neither says what is the other's.

mod examples;
mod foreign;
mod gates;
mod kinds;
mod requests;
mod stand;
mod starts;
mod steps;
