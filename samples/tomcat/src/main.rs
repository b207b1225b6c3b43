//! The operator's binary: `tomcat run | crd | graph | dev`.

use std::process::ExitCode;

use operator_core::cli::CommandLine;

#[tokio::main]
async fn main() -> ExitCode {
    CommandLine::new(tomcat::operator()).dev(tomcat::workbench()).main().await
}
