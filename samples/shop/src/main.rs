//! The operator's binary: `shop run | crd | graph | dev`.

use std::{process::ExitCode, sync::Arc};

use operator_core::cli::CommandLine;
use shop::outside::InMemory;

#[tokio::main]
async fn main() -> ExitCode {
    // A real operator has a client of the office here.
    let office = Arc::new(InMemory::default());
    CommandLine::new(shop::operator(office)).dev(shop::workbench()).main().await
}
