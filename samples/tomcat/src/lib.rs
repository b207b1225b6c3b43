//! Tomcats, and the webapps that they serve: two kinds, two controllers, many to one.
//!
//! ```text
//!   Webapp ──▶ its war, a config map ──▶ Tomcat ──▶ Deployment, Service
//!      ▲   waits until the Tomcat serves        │
//!      └────────── status.wars ◀────────────────┘
//! ```
//!
//! The controllers know nothing of one another but these objects: a [`Webapp`] reads the status of its [`Tomcat`], and a Tomcat
//! reads the config maps that are handed to it.

mod bench;
pub mod tomcat;
pub mod webapp;

use operator_core::{Operator, OperatorBuilder};

pub use bench::{RBAC, workbench};
pub use tomcat::{Tomcat, TomcatSpec, TomcatStatus, War};
pub use webapp::{Webapp, WebappSpec, WebappStatus};

/// The operator.
pub fn operator() -> OperatorBuilder {
    Operator::builder().register(tomcat::controller()).register(webapp::controller())
}
