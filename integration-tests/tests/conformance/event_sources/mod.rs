//! Event sources and what becomes of them, beyond the rows of the list.

mod crd_installed_while_waiting;
mod recreated_primary;
