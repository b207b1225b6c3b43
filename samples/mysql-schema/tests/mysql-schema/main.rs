//! The sample, tested as a whole against a real server: its life on both API servers, crashes before and after each
//! write and each statement, and outages of the server. Time is real here: the server knows no other.

mod commands;
mod crashes;
mod gateway;
mod life;
mod outage;
mod scene;
