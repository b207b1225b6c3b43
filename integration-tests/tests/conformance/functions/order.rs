//! Three children in order, without a reconciler.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::prelude::*;

use super::{a_map, a_secret};

fn html(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn keys(_: &TestResource) -> Option<Secret> {
    Some(a_secret())
}

fn web(primary: &TestResource) -> Result<ConfigMap> {
    Ok(a_map(primary))
}

#[operator_test]
async fn a_controller_of_functions_needs_no_reconciler() -> Result<()> {
    let scene = Scene::new("functions-order").await?;
    let controller =
        Controller::of::<TestResource>().workflow((web.after(keys).after(html), keys.after(html), html));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "first").await?;
    let created = operator.settled().await?;
    let expected = [
        "PATCH configmaps/one-html -> 201",
        "PATCH secrets/one-keys -> 201",
        "PATCH configmaps/one-web -> 201",
    ];
    assert_eq!(created.written(), expected, "and no finalizer: the cluster collects them");
    assert_eq!(created.runs_of(&scene.key("one")), 1, "own writes cause no run");

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let changed = operator.settled().await?;
    let expected = ["PATCH configmaps/one-html -> 200", "PATCH configmaps/one-web -> 200"];
    assert_eq!(changed.written(), expected, "only what differs");

    scene.patch("one", json!({ "metadata": { "labels": { "somebody": "else" } } })).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "a run that changes nothing");
    Ok(())
}
