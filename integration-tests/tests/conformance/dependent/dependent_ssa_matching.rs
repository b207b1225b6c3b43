//! A dependent that is applied under a field manager of the user's choice: nothing is sent while only others' fields
//! change, a change of the spec makes one write, and the additions of others stay.

use integration_tests::prelude::*;

#[operator_test]
async fn only_a_change_of_what_is_desired_is_written() -> Result<()> {
    let scene = Scene::new("dependent-ssa-matching").await?;
    let workflow = workflow_of_one(wanted_map("a"))?;
    let controller = scene.managed(&Script::idle(), &workflow).field_manager("of-our-own");
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 201"]);
    let maps = scene.api::<ConfigMap>();
    let managers: Vec<_> = maps.get("one-a").await?.metadata.managed_fields.into_iter().flatten().collect();
    assert!(matches!(&managers[..], [one] if one.manager.as_deref() == Some("of-our-own")), "{managers:?}");

    let added = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "added": "by others" } });
    maps.patch("one-a", &PatchParams::apply("others"), &Patch::Apply(added)).await?;
    let ignored = operator.settled().await?;
    assert_eq!((ignored.runs_of(&scene.key("one")), ignored.requests.len()), (1, 0));

    scene.set("one", "second").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    let expected = BTreeMap::from([("added", "by others"), ("value", "second")]);
    let data = maps.get("one-a").await?.data.unwrap_or_default();
    assert_eq!(data.iter().map(|(key, value)| (&**key, &**value)).collect::<BTreeMap<_, _>>(), expected);
    Ok(())
}
