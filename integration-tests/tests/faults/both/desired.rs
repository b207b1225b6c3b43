//! Desired states that come, go, make no sense and come again, and people who edit the operator's objects.

use integration_tests::prelude::*;

use super::says;

/// As many config maps as the primary's value says; a value without a number is an error.
async fn counting(scene: &Scene) -> Result<TestOperator> {
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            ensure!(primary.spec.value.starts_with(|c: char| c.is_ascii_digit()), "the value is no number");
            Ok(Said::status(said(&*primary.spec.value)))
        })
    })
    .on_error(|_, _, error| said(error.to_string()));
    let workflow = workflow_of_one(node(counted_maps))?;
    scene.start_managed(&script, &workflow).await
}

/// The existing objects, without the parts that differ each time.
async fn state(scene: &Scene) -> Result<BTreeMap<String, Value>> {
    let mut state = BTreeMap::new();
    for map in scene.api::<ConfigMap>().list(&ListParams::default()).await? {
        let owners: Vec<_> = map.owner_references().iter().map(|owner| owner.name.clone()).collect();
        if !owners.is_empty() {
            state
                .insert(map.name_any(), json!([owners, map.data, map.meta().labels, map.meta().annotations]));
        }
    }
    state.insert("status".to_owned(), json!(scene.resources.get("one").await?.status));
    Ok(state)
}

/// Gives the primary another value, and waits for the end of the consequences.
async fn change(scene: &Scene, operator: &TestOperator, value: &str) -> Result<BTreeMap<String, Value>> {
    scene.set("one", value).await?;
    let words = if value.starts_with(|c: char| c.is_ascii_digit()) { value } else { "no number" };
    says(scene, "one", words).await?;
    operator.settled().await?;
    state(scene).await
}

#[operator_test]
async fn f38_whatever_came_between_the_same_spec_leads_to_the_same_state() -> Result<()> {
    let scene = Scene::new("f38").await?;
    scene.failures.expect("the value is no number");
    let operator = counting(&scene).await?;
    scene.create("one", "3 first").await?;
    says(&scene, "one", "3 first").await?;
    operator.settled().await?;
    let first = state(&scene).await?;
    assert_eq!(first.len(), 4, "{first:?}");
    for between in ["3 second", "0 none", "invalid", "5 more", "1 fewer"] {
        let other = change(&scene, &operator, between).await?;
        assert_ne!(other, first, "{between}");
        assert_eq!(change(&scene, &operator, "3 first").await?, first, "after {between}");
    }
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), Vec::<String>::new(), "and then nothing is written any more");
    Ok(())
}

#[operator_test]
async fn f39_what_hands_delete_and_edit_at_random_is_restored() -> Result<()> {
    let scene = Scene::new("f39").await?;
    let operator = counting(&scene).await?;
    scene.create("one", "5 kept").await?;
    says(&scene, "one", "5 kept").await?;
    operator.settled().await?;
    let before = state(&scene).await?;
    let maps = scene.api::<ConfigMap>();
    // A linear congruence is random enough for hands, and the same each time.
    let mut random = 39_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let touched = |error: kube::Error| match error {
        // It is gone at the moment, by one of the last strokes.
        kube::Error::Api(status) if status.code == 404 => Ok(()),
        error => Err(error),
    };
    for stroke in 0..100 {
        let name = format!("one-{}", next(5));
        let edit = match next(3) {
            0 => {
                maps.delete(&name, &DeleteParams::default()).await.map(drop).or_else(touched)?;
                continue;
            }
            1 => json!({ "data": { "value": format!("defaced {stroke}") } }),
            _ => json!({ "data": null }),
        };
        maps.patch(&name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop).or_else(touched)?;
    }
    eventually("everything to be as it was", async || Ok((state(&scene).await? == before).then_some(())))
        .await?;
    operator.settled().await?;
    assert_eq!(state(&scene).await?, before);
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), Vec::<String>::new());

    // Who takes the owner away leaves the labels, and the other way round: either says whose it is.
    let unowned = json!({ "metadata": { "ownerReferences": null } });
    maps.patch("one-0", &PatchParams::default(), &Patch::Merge(unowned)).await?;
    let unlabelled = json!({ "metadata": { "labels": null, "annotations": null } });
    maps.patch("one-1", &PatchParams::default(), &Patch::Merge(unlabelled)).await?;
    eventually("everything to be as it was", async || Ok((state(&scene).await? == before).then_some(())))
        .await?;
    operator.settled().await?;
    Ok(())
}
