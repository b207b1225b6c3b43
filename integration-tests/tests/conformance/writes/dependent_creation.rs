//! A dependent is never created twice, and no other owner's object is mistaken for it.

use http::Method;
use integration_tests::prelude::*;
use operator_core::workflow::Operation;

/// Fails if the dependent says in the first run that it has done something else. The echo of a write whose answer was lost is
/// anybody's, so that a second run may follow.
fn expecting(operation: Operation) -> Script {
    Script::new(move |number, _, context| {
        Box::pin(async move {
            let run = context.so_far()?;
            let done = node_of(&run, "a").reconciled.as_ref().map(|done| done.operation());
            assert!(number > 1 || done == Some(operation), "{done:?}");
            Ok(UpdateControl::no_update())
        })
    })
}

#[operator_test]
async fn a_creation_without_an_answer_is_looked_up_instead_of_repeated() -> Result<()> {
    let scene = Scene::new("dependent-creation").await?;
    for (name, ssa, method, path) in [
        ("applied", true, Method::PATCH, "/configmaps/applied-a"),
        ("posted", false, Method::POST, "/configmaps"),
    ] {
        let script = expecting(Operation::Created);
        let map = wanted_map("a").use_ssa(ssa).without_owner();
        let workflow = workflow_of_one(map)?;
        let operator =
            scene.start_through(lose_answer(method.clone(), path), scene.managed(&script, &workflow)).await?;
        scene.create(name, "first").await?;
        let settled = operator.settled().await?;
        let failed = |run: &RecordedRun| run.attempt.is_some();
        assert!(!script.runs.of(name).iter().any(failed), "the run that created it has not failed");
        let creations = settled.written().into_iter().filter(|write| write.starts_with(method.as_str()));
        assert_eq!(
            creations.filter(|write| write.contains("configmaps")).count(),
            1,
            "{:?}",
            settled.written()
        );
        scene.until_nothing_is_left_of(name).await?;
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn an_object_of_ours_that_comes_in_between_is_used() -> Result<()> {
    let scene = Scene::new("dependent-creation").await?;
    let others = scene.clone();
    let script = expecting(Operation::Updated);
    let workflow = workflow_of_one(wanted_map("a"))?;
    let hook = once_before(Method::PATCH, "/configmaps/one-a", move || {
        let scene = others.clone();
        Box::pin(async move {
            let one = scene.resources.get("one").await?;
            let mut map = map_of(&one, "a", "from another replica");
            map.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
            let replica = PostParams { field_manager: Some("script".to_owned()), ..PostParams::default() };
            scene.api::<ConfigMap>().create(&replica, &map).await?;
            Ok(())
        })
    });
    let operator = scene.start_through(hook, scene.managed(&script, &workflow)).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    operator.settled().await?;
    assert!(script.runs.of("one").iter().all(|run| run.attempt.is_none()), "no run has failed");
    Ok(())
}

#[operator_test]
async fn an_object_that_others_have_put_in_its_place_is_not_changed() -> Result<()> {
    let scene = Scene::new("dependent-creation").await?;
    scene.failures.expect("exists already");
    let others = scene.clone();
    let errors = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&errors);
    let script = Script::idle().on_error(move |_, _, error| {
        noted.lock().push(error.to_string());
    });
    let first = scene.start_managed(&script, &workflow_of_one(wanted_map("a"))?).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    first.stop().await;

    let hook = once_before(Method::PATCH, "/configmaps/one-a", move || {
        let scene = others.clone();
        Box::pin(async move {
            let (one, maps) = (scene.resources.get("one").await?, scene.api::<ConfigMap>());
            maps.delete("one-a", &DeleteParams::default()).await?;
            maps.create(&PostParams::default(), &map_of(&one, "a", "theirs")).await?;
            Ok(())
        })
    });
    let controller = scene.managed(&script, &workflow_of_one(wanted_map("a"))?);
    let operator = scene.start_through(hook, controller).await?;
    scene.set("one", "second").await?;
    operator.settled().await?;
    scene.until_values([("one-a", "theirs")]).await?;
    let errors = errors.lock();
    assert!(errors.iter().any(|error| error.contains("exists already, and it names no owner")), "{errors:?}");
    Ok(())
}
