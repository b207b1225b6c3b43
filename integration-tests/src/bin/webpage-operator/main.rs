//! The sample `webpage`, for the tests of its process: as it is, with mistakes in its declaration, or with a finalizer and code
//! that never comes to an end. The variable `VARIANT` says which.

mod cleaning;
mod wrong;

use std::{env, process::ExitCode};

use operator_core::cli::CommandLine;

#[tokio::main]
async fn main() -> ExitCode {
    match env::var("VARIANT").as_deref() {
        Ok("wrong") => wrong::operator().main().await,
        Ok("cleaning") => CommandLine::styles(cleaning::STYLES).main().await,
        _ => CommandLine::styles(webpage::STYLES).dev(webpage::workbench()).main().await,
    }
}
