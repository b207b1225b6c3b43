use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use operator_core::testing::simulation::{FaultPlan, Sim, check};

    use super::*;

    async fn pods_that_start_late(sim: Sim) {
        let cluster = sim.cluster();
        cluster.in_process_server().expect("it is in this process").vary_watches(7);
        cluster.pods().expect("it is in this process").never_ready("page=one").expect("a selector");
        sim.operator(operator);
        sim.faults(FaultPlan::storm());
        sim.user(async move |user| {
            user.apply(Page::new("one", PageSpec { html: "hello".to_owned(), published: true })).await;
            user.pause(Duration::from_secs(60)).await;
            cluster.pods().expect("it is in this process").release("page=one").expect("a selector");
        });
        sim.settle().await;
        sim.assert_same_as_calm_run();
    }

    #[test]
    fn a_page_whose_pods_start_late_converges() {
        check("a_page_whose_pods_start_late_converges", 20, pods_that_start_late);
    }
}
