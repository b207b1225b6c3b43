use operator_core::OperatorBuilder;

fn operator() -> OperatorBuilder {
    let pages = Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status);
    Operator::builder().register(pages)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::jiff::{SignedDuration, Timestamp};
    use kube::{
        Api, CustomResourceExt,
        api::{Patch, PatchParams, PostParams},
    };
    use operator_core::testing::{InProcessServer, TestCluster, TestOperator};
    use tokio::time::Instant;

    use super::*;

    const NOTHING_RUNS: &str = "web: not ready: 0/1 updated replicas available";

    /// A cluster that does what the test says, in virtual time: a deadline of ten minutes costs nothing.
    struct Scene {
        cluster: TestCluster,
        running: TestOperator,
        pages: Api<Page>,
        webs: Api<Deployment>,
    }

    impl Scene {
        async fn new() -> Result<Self> {
            let start = Instant::now();
            let clock = move || {
                let passed = SignedDuration::try_from(start.elapsed()).unwrap_or_default();
                Timestamp::UNIX_EPOCH + passed
            };
            let cluster = TestCluster::of_server(InProcessServer::with_clock(clock));
            cluster.install_crds([Page::crd()]).await?;
            let namespace = cluster.namespace("pages").await?;
            let running = TestOperator::start(cluster.connect(operator())).await?;
            let client = cluster.client()?;
            let (pages, webs) =
                (Api::namespaced(client.clone(), &namespace), Api::namespaced(client, &namespace));
            Ok(Self { cluster, running, pages, webs })
        }

        async fn publish(&self) -> Result<()> {
            let page = Page::new("one", PageSpec { html: "hello".to_owned(), published: true });
            self.pages.create(&PostParams::default(), &page).await?;
            Ok(())
        }

        /// Does what `kubectl rollout restart` does.
        async fn restart(&self) -> Result<()> {
            let template = json!({ "metadata": { "annotations": { "restarted": "once" } } });
            let patch = Patch::Merge(json!({ "spec": { "template": template } }));
            self.webs.patch("one-web", &PatchParams::default(), &patch).await?;
            Ok(())
        }

        /// Why the page isn't ready when the operator has nothing left to do; none if it is ready.
        async fn lacks(&self) -> Result<Option<String>> {
            self.running.settled().await?;
            let status = self.pages.get("one").await?.status.unwrap_or_default();
            let ready = status.conditions.into_iter().find(|condition| condition.type_ == "Ready");
            let ready = ready.expect("a page says whether it is ready");
            let why = ready.message.split(';').next().unwrap_or_default().to_owned();
            Ok((ready.status != "True").then_some(why))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_waits_for_pods_that_do_not_start() -> Result<()> {
        let scene = Scene::new().await?;
        scene.cluster.pods()?.hold("page=one")?;
        scene.publish().await?;
        assert_eq!(scene.lacks().await?.as_deref(), Some(NOTHING_RUNS));
        scene.cluster.pods()?.release("page=one")?;
        assert_eq!(scene.lacks().await?, None);
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_whose_pods_crash_is_ready_when_they_run_again() -> Result<()> {
        let scene = Scene::new().await?;
        scene.cluster.pods()?.crash_loop("page=one")?;
        scene.publish().await?;
        assert_eq!(scene.lacks().await?.as_deref(), Some(NOTHING_RUNS));
        scene.cluster.pods()?.release("page=one")?;
        // They are started again after 10 s at first, and after 5 min at last.
        tokio::time::sleep(Duration::from_secs(5 * 60)).await;
        assert_eq!(scene.lacks().await?, None);
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_has_no_place_on_a_full_node() -> Result<()> {
        let scene = Scene::new().await?;
        scene.cluster.in_process_server()?.node().full();
        scene.publish().await?;
        assert_eq!(scene.lacks().await?.as_deref(), Some(NOTHING_RUNS));
        scene.cluster.in_process_server()?.node().release();
        assert_eq!(scene.lacks().await?, None);
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_that_fails_is_told_and_the_address_stays() -> Result<()> {
        let scene = Scene::new().await?;
        scene.publish().await?;
        assert_eq!(scene.lacks().await?, None);
        scene.cluster.pods()?.never_ready("page=one")?;
        scene.restart().await?;
        let wait = "web: not ready: 1 more than the 1 wanted replicas to terminate";
        assert_eq!(scene.lacks().await?.as_deref(), Some(wait));
        tokio::time::sleep(Duration::from_secs(11 * 60)).await;
        let failed = "web: not ready: progress deadline exceeded";
        assert_eq!(scene.lacks().await?.as_deref(), Some(failed));
        let status = scene.pages.get("one").await?.status.unwrap_or_default();
        assert_eq!(status.address.as_deref(), Some("one-address"), "the old pods go on");
        scene.cluster.pods()?.release("page=one")?;
        assert_eq!(scene.lacks().await?, None);
        Ok(())
    }
}
