use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use operator_core::testing::simulation::assert_eventually_stable;

    use super::*;

    #[tokio::test]
    async fn a_page_is_stable() {
        let page = Page::new("one", PageSpec { html: "hello".to_owned(), published: true });
        assert_eventually_stable(operator, page).await;
    }
}
