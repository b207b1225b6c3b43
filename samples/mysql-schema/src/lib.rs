//! Schemas in a MariaDB or MySQL, each with a user whose password is in a Secret.
//!
//! ```text
//!   MySqlSchema ──▶ credentials, a Secret ──▶ Databases: schema and user in the server
//!                   generated once            looked at in each period
//! ```
//!
//! [`schema`] is the kind and its controller, [`database`] the work in the server. [`server`] is only for tests and for
//! `dev`: it starts a server of its own.

mod bench;
pub mod database;
pub mod schema;
pub mod server;

use std::time::Duration;

use mysql_async::Opts;
use operator_core::{Operator, OperatorBuilder};

pub use bench::{RBAC, workbench};
pub use database::{Database, Databases};
pub use schema::{Encoding, MySqlSchema, MySqlSchemaSpec, MySqlSchemaStatus};

/// How often each schema is checked in the server.
pub const PERIOD: Duration = Duration::from_secs(10);

/// The operator, whose schemas are in this server. It connects when there is something to do.
pub fn operator(server: Opts) -> OperatorBuilder {
    Operator::builder().register(schema::controller(Databases::new(server), PERIOD))
}
