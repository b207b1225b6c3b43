//! The operator's own credentials are in no log at any level, no status, no Event and no metric, in any style,
//! whatever the server answers.

use integration_tests::prelude::*;
use k8s_openapi::api::{
    authentication::v1::TokenRequest,
    core::v1::{Event, ServiceAccount},
};
use operator_core::{
    observe::{Observation, Observer},
    testing::Profile,
};
use webpage::{RBAC, STYLES, WebPage};

use crate::support::until;

/// Writes down what observers are told.
#[derive(Debug)]
struct Notes(LogText);

impl Observer for Notes {
    fn observe(&self, observation: &Observation<'_>) {
        self.0.add(&format!("{observation:?}\n"));
    }
}

#[operator_test(real = "a control plane", flavor = "current_thread")]
async fn the_token_of_the_operator_is_never_shown() -> anyhow::Result<()> {
    let cluster = TestCluster::shared_with(Profile::Controllers).await?;
    cluster.install_crds([WebPage::crd()]).await?;
    cluster.apply_files("default", [RBAC]).await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client()?, "webpage-operator");
    let request: TokenRequest = serde_json::from_value(json!({ "spec": { "audiences": [] } }))?;
    let answer = accounts.create_token_request("webpage-operator", &PostParams::default(), &request).await?;
    let token = answer.status.and_then(|status| status.token).context("a token")?;
    for (style, declare) in STYLES {
        let (log, _guard) = LogText::start();
        let metrics = Numbers::default();
        let mut config = cluster.control_plane()?.config();
        config.auth_info = serde_json::from_value(json!({ "token": token }))?;
        log.add(&format!("{config:?}\n"));
        let faulty = Faulty::of("configmaps");
        faulty.lists([Answer::Instead(401, "Unauthorized".to_owned())]);
        let status =
            |code: u16| Answer::json(code, &json!({ "kind": "Status", "code": code, "message": "no" }));
        faulty.writes([status(500), Answer::Lost, status(409), status(401)]);

        let namespace = cluster.namespace("canary").await?;
        let builder = declare().config(config).transport(faulty.hook()).metrics(metrics.recorder());
        let operator = TestOperator::start_unsynced(builder.observer(Arc::new(Notes(log.clone())))).await?;
        let pages: Api<WebPage> = Api::namespaced(cluster.client()?, &namespace);
        let page = json!({
            "apiVersion": "sample.operator-core.io/v1", "kind": "WebPage",
            "metadata": { "name": "hello" }, "spec": { "html": "<p>Hello</p>" },
        });
        pages.create(&PostParams::default(), &serde_json::from_value(page)?).await?;
        let maps: Api<ConfigMap> = Api::namespaced(cluster.client()?, &namespace);
        until("the config map", async || maps.get_opt("hello-html").await.ok()?.map(drop)).await?;
        until("all bad answers to be given", async || {
            // Each change leads to a further write.
            let patch = json!({ "data": { "index.html": "defaced" } });
            let params = kube::api::PatchParams::default();
            let _ = maps.patch("hello-html", &params, &kube::api::Patch::Merge(patch)).await;
            (faulty.left() == [0; 4]).then_some(())
        })
        .await?;
        operator.settled().await?;
        log.add(&format!("{operator:?} {:?}", operator.unhealthy_sources().await));
        operator.stop().await;
        log.add(&metrics.text());
        log.add(&serde_json::to_string(&pages.list(&ListParams::default()).await?)?);
        let events: Api<Event> = Api::namespaced(cluster.client()?, &namespace);
        log.add(&serde_json::to_string(&events.list(&ListParams::default()).await?)?);

        let text = log.text();
        assert!(text.contains("TRACE") && text.contains("kube_client") && text.contains("hyper"), "{style}");
        let shown: Vec<&str> = text.lines().filter(|line| line.contains(&token)).collect();
        assert!(shown.is_empty(), "{style}: {shown:#?}");
    }
    Ok(())
}
