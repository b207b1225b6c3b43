//! The operator's binary: `webpage run | crd | graph | dev`.

use std::process::ExitCode;

use operator_core::cli::CommandLine;

#[tokio::main]
async fn main() -> ExitCode {
    CommandLine::styles(webpage::STYLES).dev(webpage::workbench()).main().await
}
