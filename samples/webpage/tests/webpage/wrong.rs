//! The sample's operator, with mistakes in its declaration.

use std::process::ExitCode;

use operator_core::prelude::*;
use webpage::{WebPage, dependents::html, styles};

#[tokio::main]
async fn main() -> ExitCode {
    let pages = Controller::of::<WebPage>()
        .name("pages")
        .max_concurrent_reconciles(0)
        .workflow((node(html).event_source("maps"),));
    Operator::builder().register(pages).register(styles::low_level::controller().name("Others")).main().await
}
