//! A function without a workflow that wants no object, or leaves an existing one alone.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::prelude::*;

use super::{a_map, says};

fn page(primary: &TestResource) -> Want<ConfigMap> {
    if says(primary, "hold") {
        return Want::hold("Odd", "the value is odd");
    }
    if says(primary, "none") {
        return Want::none("there is no page");
    }
    a_map(primary).into()
}

#[operator_test]
async fn a_dependent_by_itself_is_removed_where_none_is_wanted_and_left_alone_on_hold() -> Result<()> {
    let scene = Scene::new("standing").await?;
    let dependent = page.standalone();
    let (called, told) = (dependent.clone(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&told);
    let script = Script::new(move |_, primary: Arc<TestResource>, cx| {
        let (dependent, noted) = (called.clone(), Arc::clone(&noted));
        Box::pin(async move {
            let result = dependent.reconcile(&primary, cx).await.map_err(anyhow::Error::from_boxed)?;
            noted.lock().push(result.operations().len());
            Ok(UpdateControl::no_update())
        })
    });
    let operator = scene.start(scene.controller(&script).dependent(&dependent)).await?;
    let maps = scene.api::<ConfigMap>();
    let value = async || {
        let map = maps.get_opt("one-page").await?;
        anyhow::Ok(map.and_then(|map| map.data?.remove("value")))
    };
    let written_with = async |value: &str| {
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        let written = operator.settled().await?.written();
        anyhow::Ok((written, told.lock().last().copied()))
    };

    scene.create("one", "none").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "there is nothing to remove");
    assert_eq!(written_with("hold").await?, (vec![], Some(0)), "nor to hold");
    let created = vec!["PATCH configmaps/one-page -> 201".to_owned()];
    assert_eq!(written_with("first").await?, (created.clone(), Some(1)));
    assert_eq!(written_with("hold second").await?, (vec![], Some(0)));
    assert_eq!(value().await?.as_deref(), Some("first"), "what is held stays as it was");
    let deleted = vec!["DELETE configmaps/one-page -> 200".to_owned()];
    assert_eq!(written_with("none").await?, (deleted, Some(0)));
    assert_eq!(value().await?, None);
    assert_eq!(written_with("third").await?, (created, Some(1)));
    Ok(())
}
