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
    use operator_core::testing::{
        Gate, TestCluster, TestOperator, eventually,
        faults::{Faults, Rule, Verb},
    };

    use super::*;

    #[tokio::test]
    async fn a_page_that_goes_in_the_middle_of_a_run_leaves_nothing() -> Result<()> {
        let cluster = TestCluster::in_process();
        cluster.install_crds([Page::crd()]).await?;
        let namespace = cluster.namespace("pages").await?;
        let gate = Gate::new();
        let held = Faults::new([Rule::on(Verb::Apply).resource("configmaps").nth(1).held_at(&gate)]);
        let connected = cluster.connect(operator()).transport(held.hook());
        let (audited, mut audit) = cluster.audited(connected).await?;
        let running = TestOperator::start(audited).await?;

        let page = Page::new("one", PageSpec { html: "hello".to_owned(), published: false });
        let pages: Api<Page> = Api::namespaced(cluster.client()?, &namespace);
        pages.create(&PostParams::default(), &page).await?;
        gate.arrived().await?;
        // The run stands before its first write, and the page is deleted meanwhile.
        pages.delete("one", &DeleteParams::default()).await?;
        gate.let_through(1);
        running.settled().await?;

        let maps: Api<ConfigMap> = Api::namespaced(cluster.client()?, &namespace);
        eventually("the end of the map", async || {
            Ok(maps.get_opt("one-html").await?.is_none().then_some(()))
        })
        .await?;
        assert!(audit.calls().await?.counts().contains_key("patch configmaps"));
        Ok(())
    }
}
