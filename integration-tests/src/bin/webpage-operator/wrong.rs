//! With mistakes in its declaration.

use operator_core::{OperatorBuilder, prelude::*};
use webpage::{WebPage, dependents::html, styles};

pub(crate) fn operator() -> OperatorBuilder {
    let pages = Controller::of::<WebPage>()
        .name("pages")
        .max_concurrent_reconciles(0)
        .workflow((node(html).event_source("maps"),));
    Operator::builder().register(pages).register(styles::low_level::controller().name("Others"))
}
