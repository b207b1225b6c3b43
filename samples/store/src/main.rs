//! The operator's binary: `store run | crd | graph | dev`.

use std::{process::ExitCode, sync::Arc};

use operator_core::cli::CommandLine;
use store::outside::InMemory;

#[tokio::main]
async fn main() -> ExitCode {
    // A real operator has a client of the store's administration here.
    let outside = Arc::new(InMemory::with_keys(3000));
    CommandLine::new(store::operator(outside)).dev(store::workbench()).main().await
}
