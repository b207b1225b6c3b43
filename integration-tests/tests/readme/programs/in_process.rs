use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use kube::{
        Api, CustomResourceExt,
        api::{DeleteParams, PostParams},
    };
    use operator_core::testing::{TestCluster, TestOperator};

    use super::*;

    #[tokio::test]
    async fn a_map_that_somebody_deletes_is_made_again() -> Result<()> {
        let cluster = TestCluster::in_process();
        cluster.install_crds([Page::crd()]).await?;
        let namespace = cluster.namespace("pages").await?;
        let running = TestOperator::start(cluster.connect(operator())).await?;
        let page = Page::new("one", PageSpec { html: "hello".to_owned(), published: false });
        let pages: Api<Page> = Api::namespaced(cluster.client()?, &namespace);
        pages.create(&PostParams::default(), &page).await?;
        running.settled().await?;

        let maps: Api<ConfigMap> = Api::namespaced(cluster.client()?, &namespace);
        maps.delete("one-html", &DeleteParams::default()).await?;
        let settled = running.settled().await?;
        assert!(settled.written().contains(&"PATCH configmaps/one-html -> 201".to_owned()));
        Ok(())
    }
}
