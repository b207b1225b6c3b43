//! The operator's binary: `mysql-schema run | crd | graph | dev`. `run` takes the server from `DATABASE_URL`; so does `dev`, which
//! otherwise starts one of its own.

use std::process::ExitCode;

use mysql_async::Opts;
use mysql_schema::server::Server;
use operator_core::cli::CommandLine;

const VARIABLE: &str = "DATABASE_URL";

#[tokio::main]
async fn main() -> ExitCode {
    let command = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let mut own = None;
    let server = match (std::env::var(VARIABLE), command.as_deref()) {
        (Ok(url), _) => match Opts::from_url(&url) {
            Ok(server) => server,
            // The url has a password, and the error may repeat it.
            Err(_) => return wrong(&format!("{VARIABLE} is not the url of a server")),
        },
        (Err(_), Some("dev")) => match Server::start().await {
            Ok(server) => own.insert(server).opts(),
            Err(error) => return failed(&error),
        },
        (Err(_), Some("run")) => return wrong(&format!("{VARIABLE} is not set")),
        (Err(_), None) if is_in_pod => return wrong(&format!("{VARIABLE} is not set")),
        // Nothing else connects to a server.
        (Err(_), _) => Opts::default(),
    };
    CommandLine::new(mysql_schema::operator(server)).dev(mysql_schema::workbench()).main().await
}

#[expect(clippy::print_stderr, reason = "it is what a command says")]
fn wrong(what: &str) -> ExitCode {
    eprintln!("✖ {what}");
    eprintln!("  why   it says where schemas are created");
    eprintln!("  next  export {VARIABLE}=mysql://operator:password@host:3306");
    ExitCode::from(78)
}

#[expect(clippy::print_stderr, reason = "it is what a command says")]
fn failed(error: &mysql_schema::server::Error) -> ExitCode {
    eprintln!("✖ could not start a database server");
    eprintln!("  why   {error}");
    eprintln!("  next  export {VARIABLE}=mysql://operator:password@host:3306, to use one that runs");
    ExitCode::FAILURE
}
