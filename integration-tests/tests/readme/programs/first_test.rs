use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use kube::{Api, CustomResourceExt, api::PostParams};
    use operator_core::testing::{TestCluster, TestOperator};

    use super::*;

    #[tokio::test]
    async fn a_published_page_gets_an_address() -> Result<()> {
        let cluster = TestCluster::in_process();
        cluster.install_crds([Page::crd()]).await?;
        let namespace = cluster.namespace("pages").await?;
        let running = TestOperator::start(cluster.connect(operator())).await?;

        let pages: Api<Page> = Api::namespaced(cluster.client()?, &namespace);
        let spec = PageSpec { html: "hello".to_owned(), published: true };
        pages.create(&PostParams::default(), &Page::new("one", spec)).await?;
        running.settled().await?;

        let status = pages.get("one").await?.status.expect("a status");
        assert_eq!(status.address.as_deref(), Some("one-address"));
        Ok(())
    }
}
