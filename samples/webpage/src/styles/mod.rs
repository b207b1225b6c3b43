//! One operator, written in three ways. They do the same, with the same rights, and pass the same tests.

pub mod low_level;
pub mod managed;
pub mod standalone;

use kube::CustomResourceExt;
use operator_core::{Operator, OperatorBuilder};

use crate::WebPage;

/// How an operator is declared.
pub type Declare = fn() -> OperatorBuilder;

/// The styles by their names; the first is the one to start with.
pub const STYLES: [(&str, Declare); 3] = [
    ("managed", || operator().register(managed::controller())),
    ("standalone", || operator().register(standalone::controller())),
    ("low-level", || operator().register(low_level::controller())),
];

fn operator() -> OperatorBuilder {
    Operator::builder().crd(WebPage::crd())
}
