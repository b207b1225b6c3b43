//! The operator's binary: `addon run | crd | graph | dev`.

use std::process::ExitCode;

use operator_core::cli::CommandLine;

#[tokio::main]
async fn main() -> ExitCode {
    CommandLine::new(addon::operator()).dev(addon::workbench()).main().await
}
