//! One operator, written in three ways. They do the same, with the same rights, and pass the same tests.

pub mod low_level;
pub mod managed;
pub mod standalone;

use operator_core::{Operator, OperatorBuilder};

/// How an operator is declared.
pub type Declare = fn() -> OperatorBuilder;

/// The styles by their names; the first is the one to start with.
pub const STYLES: [(&str, Declare); 3] = [
    ("managed", || Operator::builder().register(managed::WebPages)),
    ("standalone", || Operator::builder().register(standalone::controller())),
    ("low-level", || Operator::builder().register(low_level::controller())),
];
