use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use operator_core::testing::simulation::{FaultPlan, Sim, check};

    use super::*;

    const THERE_BEFORE: &str = "\
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: somebody-elses, namespace: shop }
data: { a: '1' }
";

    async fn a_shop(sim: Sim) {
        sim.cluster().apply_yaml("default", THERE_BEFORE).await.expect("the manifests are right");
        sim.operator(operator);
        sim.faults(FaultPlan::storm());
        sim.user(async |user| {
            let owner = user.in_namespace("shop");
            owner.apply(Page::new("one", PageSpec { html: "hello".to_owned(), published: true })).await;
            let guest = owner.acting_as("guest", &[]);
            let refused = guest.try_delete::<Page>("one").await;
            assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 403));
        });
        sim.settle().await;
        sim.assert_same_as_calm_run();
    }

    #[test]
    fn the_pages_of_a_shop_converge() {
        check("the_pages_of_a_shop_converge", 20, a_shop);
    }
}
