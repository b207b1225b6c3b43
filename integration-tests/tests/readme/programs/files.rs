use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use kube::Api;
    use operator_core::testing::{TestCluster, TestOperator};

    use super::*;

    #[tokio::test]
    async fn the_pages_of_a_shop_get_their_children() -> Result<()> {
        let cluster = TestCluster::in_process();
        cluster.install_crd_files(["tests/pages.yaml"]).await?;
        let made = cluster.apply_files("default", ["tests/shop.yaml"]).await?;
        assert_eq!(made.len(), 3);
        let running = TestOperator::start(cluster.connect(operator())).await?;
        running.settled().await?;

        let maps: Api<ConfigMap> = Api::namespaced(cluster.client()?, "shop");
        assert_eq!(maps.get("prices-html").await?.data.unwrap_or_default()["index.html"], "cheap");
        assert_eq!(maps.get("somebody-elses").await?.data.unwrap_or_default()["a"], "1");
        Ok(())
    }
}
