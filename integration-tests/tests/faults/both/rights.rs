//! Rights and credentials that are lost while the operator runs, and come back.

use integration_tests::prelude::*;
use integration_tests::rights::{maps, primaries};
use k8s_openapi::api::{authentication::v1::TokenRequest, core::v1::ServiceAccount};
use kube::config::AuthInfo;

use super::{keeper, keeping, kept, says};

#[operator_test]
async fn f27_a_right_that_is_taken_away_is_named_and_needs_no_restart_when_it_comes_back() -> Result<()> {
    let scene = Scene::new("f27").await?;
    scene.failures.expect("(403 Forbidden)");
    let user = format!("{}-operator", scene.namespace);
    scene.grant("primaries", &user, &primaries()).await?;
    scene.grant("reads", &user, &maps(&["get", "list", "watch"])).await?;
    scene.grant("writes", &user, &maps(&["create", "patch"])).await?;
    let script = keeping();
    let config = scene.cluster.config_as(&user, &[]);
    let builder = scene.operator().config(config).register(keeper(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;

    scene.revoke("writes").await?;
    let client = scene.cluster.client_as(&user)?;
    let probe = Api::<ConfigMap>::namespaced(client, &scene.namespace);
    let map = serde_json::from_value(json!({ "metadata": { "name": "probe" } }))?;
    let params = PostParams { dry_run: true, ..PostParams::default() };
    until_refused(403, async || probe.create(&params, &map).await).await?;
    scene.set("one", "second").await?;
    let said = says(&scene, "one", "a right is missing").await?;
    let rule = format!("grant patch on configmaps in namespace {} to {user}", scene.namespace);
    assert!(said.contains(&rule), "{said}");

    scene.grant("writes", &user, &maps(&["create", "patch"])).await?;
    kept(&scene, "one", "second").await?;
    says(&scene, "one", "second").await?;
    operator.settled().await?;
    Ok(())
}

/// A token of the account `operator` that is valid as long as the account exists, and the secret `bound_to`.
pub(super) async fn token(accounts: &Api<ServiceAccount>, bound_to: Option<&Secret>) -> Result<String> {
    let bound_to = bound_to.map(|secret| {
        json!({ "apiVersion": "v1", "kind": "Secret", "name": secret.name_any(), "uid": secret.uid() })
    });
    let request: TokenRequest = serde_json::from_value(json!({
        "spec": {
            "audiences": [],
            "expirationSeconds": 3600,
            "boundObjectRef": bound_to,
        },
    }))?;
    let answer = accounts.create_token_request("operator", &PostParams::default(), &request).await?;
    answer.status.and_then(|status| status.token).context("a token")
}

#[operator_test(real = "a control plane")]
async fn f28_a_token_that_ends_is_replaced_by_the_one_in_its_file() -> Result<()> {
    let scene = Scene::new("f28").await?;
    let user = format!("system:serviceaccount:{}:operator", scene.namespace);
    scene.grant("primaries", &user, &primaries()).await?;
    scene.grant("maps", &user, &maps(&["get", "list", "watch", "create", "patch"])).await?;
    let (accounts, secrets) = (scene.api::<ServiceAccount>(), scene.api::<Secret>());
    let named = |name: &str| json!({ "metadata": { "name": name } });
    accounts.create(&PostParams::default(), &serde_json::from_value(named("operator"))?).await?;
    let secret = async |name: &str| {
        anyhow::Ok(secrets.create(&PostParams::default(), &serde_json::from_value(named(name))?).await?)
    };
    let (first, second) = (secret("first").await?, secret("second").await?);
    let file = tempfile::NamedTempFile::new()?;
    let old_token = token(&accounts, Some(&first)).await?;
    std::fs::write(file.path(), &old_token)?;

    let mut config = scene.cluster.control_plane()?.config();
    let path = file.path().display().to_string();
    config.auth_info = AuthInfo { token_file: Some(path), ..AuthInfo::default() };
    let script = keeping();
    let builder = scene.operator().config(config).register(keeper(&scene, &script)?);
    scene.failures.expect("(401 Unauthorized)");
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;

    std::fs::write(file.path(), token(&accounts, Some(&second)).await?)?;
    secrets.delete("first", &DeleteParams::default()).await?;
    let mut old = scene.cluster.config();
    old.auth_info = serde_json::from_value(json!({ "token": old_token }))?;
    let probe = Api::<ConfigMap>::namespaced(Client::try_from(old)?, &scene.namespace);
    until_refused(401, async || probe.list(&ListParams::default()).await).await?;
    scene.set("one", "last").await?;
    let renewed = tokio::time::timeout(Duration::from_secs(90), kept_at_last(&scene)).await;
    renewed.context("the file was not read again")??;
    operator.settled().await?;
    Ok(())
}

async fn kept_at_last(scene: &Scene) -> Result<()> {
    // Longer than anything else in these tests is waited for: the file is read about once a minute.
    while kept(scene, "one", "last").await.is_err() {}
    Ok(())
}
