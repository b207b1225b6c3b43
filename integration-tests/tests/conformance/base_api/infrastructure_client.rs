//! The test's own client is the administrator's, beside an operator that acts as a user with few rights: the client
//! prepares what the operator needs, and may read where the operator is refused.

use integration_tests::prelude::*;
use integration_tests::rights;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

fn user(scene: &Scene) -> String {
    format!("{}-operator", scene.namespace)
}

/// The server's answer to `client` when it asks for all definitions.
async fn refused(client: Client) -> Result<String> {
    let listed = Api::<CustomResourceDefinition>::all(client).list(&ListParams::default()).await;
    Ok(chain_of(&listed.err().context("it may not list definitions")?))
}

fn no_definitions_for(user: &str) -> String {
    format!("User \"{user}\" cannot list resource \"customresourcedefinitions\"")
}

#[operator_test]
async fn the_administrator_prepares_what_the_operator_works_on() -> Result<()> {
    let scene = Scene::new("infrastructure-client").await?;
    let user = user(&scene);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    // Its own client has no more rights than its caches.
    let words = no_definitions_for(&user);
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let (client, words) = (context.client().clone(), words.clone());
        Box::pin(async move {
            let said = refused(client).await?;
            anyhow::ensure!(said.contains(&words), "{said}");
            Ok(UpdateControl::no_update())
        })
    });
    let config = scene.cluster.config_as(&user, &[]);
    let mut calls = Audit::of_user(&scene.cluster, &user).await?;
    let builder = scene.operator().config(config).register(scene.controller(&script));
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert!(scene.resources.get_opt("one").await?.is_some());
    let calls = calls.calls().await?;
    let refusals: Vec<_> = calls.events().iter().filter(|call| call.code == 403).collect();
    assert_eq!(refusals.len(), 1, "{:?}", calls.counts());
    assert_eq!(refusals[0].resource, "customresourcedefinitions");
    Ok(())
}

#[operator_test]
async fn what_the_operator_may_not_see_the_administrator_does() -> Result<()> {
    let scene = Scene::new("infrastructure-client").await?;
    let user = user(&scene);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    let said = refused(scene.cluster.client_as(&user)?).await?;
    assert!(said.contains(&no_definitions_for(&user)), "{said}");
    let definitions = Api::<CustomResourceDefinition>::all(scene.client.clone());
    let definitions = definitions.list(&ListParams::default()).await?;
    assert!(!definitions.items.is_empty());
    Ok(())
}
