//! A dependent in a namespace other than its primary's: marked by annotations, because an owner reference would be
//! misinterpreted, and is refused.

use integration_tests::prelude::*;
use operator_core::{Node, One, WatchScope};

fn map_in(namespace: &str) -> Node<TestResource, One<ConfigMap>> {
    let (to, scope) = (namespace.to_owned(), WatchScope::Namespaces([namespace.to_owned()].into()));
    wanted("map", move |primary: &TestResource| {
        let mut map = map_of(primary, "a", &primary.spec.value);
        map.metadata.namespace = Some(to.clone());
        map
    })
    .informer(InformerEventSource::new().namespaces(scope))
}

#[operator_test]
async fn it_is_created_updated_and_deleted_in_the_other_namespace() -> Result<()> {
    let scene = Scene::new("different-namespace").await?;
    let other = scene.cluster.namespace("different-namespace-other").await?;
    let workflow = workflow_of_one(map_in(&other).without_owner())?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    let maps = Api::<ConfigMap>::namespaced(scene.client.clone(), &other);
    let holds = async |expected: Option<&str>| {
        eventually("the other namespace's config map", async || {
            Ok((values_in(&maps).await?.get("one-a").map(String::as_str) == expected).then_some(()))
        })
        .await
    };
    scene.create("one", "first").await?;
    holds(Some("first")).await?;
    scene.set("one", "second").await?;
    holds(Some("second")).await?;
    maps.delete("one-a", &kube::api::DeleteParams::default()).await?;
    operator.settled().await?;
    holds(Some("second")).await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    holds(None).await
}

#[operator_test]
async fn an_owner_reference_across_namespaces_is_refused_with_the_fix() -> Result<()> {
    let scene = Scene::new("different-namespace").await?;
    scene.failures.expect("an owner can't own an object in another namespace");
    let errors = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&errors);
    let script = Script::idle().on_error(move |_, _, error| {
        noted.lock().push(error.to_string());
    });
    let workflow = workflow_of_one(map_in("default"))?;
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), [""; 0]);
    let expected = "an owner can't own an object in another namespace; write `.without_owner()`";
    assert!(errors.lock().iter().any(|error| error.contains(expected)), "{:?}", errors.lock());
    Ok(())
}
