//! A web page as a Kubernetes object: its html in a config map, an nginx that serves it, a service and, if it is
//! exposed, an ingress.
//!
//! The same operator is written in three [`styles`], which share [`page`](WebPage), children and rights.

mod bench;
mod children;
pub mod dependents;
mod error;
mod page;
pub mod styles;

pub use bench::{RBAC, workbench};
pub use error::WebPageError;
pub use page::{WebPage, WebPageSpec, WebPageStatus};
pub use styles::STYLES;
