//! The operator's binary: `webpage run | crd | dev`.

use std::process::ExitCode;

use operator_core::cli::CommandLine;

#[tokio::main]
async fn main() -> ExitCode {
    CommandLine::new(webpage::operator()).dev(webpage::workbench()).main().await
}
