//! Components on both servers: two in each run, with different ends, so that neither says what is the other's.

mod foreign;
mod gates;
mod kinds;
mod stand;
mod starts;
mod steps;
