use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use kube::{Api, CustomResourceExt, api::PostParams};
    use operator_core::testing::{TestCluster, TestOperator, operator_test};

    use super::*;

    #[operator_test]
    async fn a_page_has_its_map_on_both_servers() -> Result<()> {
        let cluster = TestCluster::shared().await?;
        cluster.install_crds([Page::crd()]).await?;
        let namespace = cluster.namespace("pages").await?;
        let running = TestOperator::start(cluster.connect(operator())).await?;
        let page = Page::new("one", PageSpec { html: "hello".to_owned(), published: false });
        let pages: Api<Page> = Api::namespaced(cluster.client()?, &namespace);
        pages.create(&PostParams::default(), &page).await?;
        running.settled().await?;

        let maps: Api<ConfigMap> = Api::namespaced(cluster.client()?, &namespace);
        let map = maps.get("one-html").await?;
        assert_eq!(map.data.unwrap_or_default()["index.html"], "hello");
        running.stop().await;
        Ok(())
    }
}
