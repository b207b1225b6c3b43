//! What others do to a set, and how it goes on.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Event;
use operator_core::{BoxError, Objects, Wire as _, dependent::Adoption};

use super::{addon, done, named};

const KINDS: &str = "operator-core.io/kinds";

#[operator_test]
async fn a_lost_annotation_is_written_again_and_nothing_else_happens() -> Result<()> {
    let scene = Scene::new("bundles-annotation").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((addon,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "c1 s1").await?;
    operator.settled().await?;
    // What is left of a kind of which nothing is wanted any more is known from memory.
    let lost = json!({ "metadata": { "annotations": { KINDS: null } }, "spec": { "value": "c1" } });
    scene.patch("one", lost).await?;
    let expected =
        ["DELETE secrets/s1 -> 200", "PATCH testresources/one -> 200", "PATCH testresources/one -> 200"];
    assert_eq!(done(&operator.settled().await?), expected, "the kinds, and then one kind less");
    let kinds = scene.resources.get("one").await?.annotations().get(KINDS).cloned();
    assert_eq!(kinds.as_deref(), Some(r#"{"script/addon":["ConfigMap"]}"#));
    Ok(())
}

#[operator_test]
async fn an_empty_set_is_a_mistake_where_something_exists() -> Result<()> {
    let scene = Scene::new("bundles-empty").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((addon,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "c1").await?;
    operator.settled().await?;
    scene.failures.expect("the set is empty, although objects of it exist");
    scene.patch("one", json!({ "spec": { "value": "" } })).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    assert!(scene.api::<ConfigMap>().get_opt("c1").await?.is_some());
    scene.patch("one", json!({ "spec": { "value": "c1" } })).await?;
    operator.settled().await?;
    Ok(())
}

/// One object whose content is that of the primary, in a namespace that all primaries share.
fn wants_one(primary: &TestResource) -> Objects {
    let mut objects = Objects::new();
    let data = Some([("by".to_owned(), primary.name_any())].into());
    objects.push(ConfigMap { metadata: named("shared"), data, ..ConfigMap::default() });
    objects
}

#[operator_test]
async fn of_two_primaries_that_want_one_object_the_second_gets_it_when_the_first_goes() -> Result<()> {
    let scene = Scene::new("bundles-two").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((wants_one.adopt(Adoption::IfUnowned),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    operator.settled().await?;
    scene.failures.expect("ConfigMap bundles-two");
    scene.create("two", "").await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let by = async || {
        Ok::<_, anyhow::Error>(maps.get("shared").await?.data.and_then(|data| data.get("by").cloned()))
    };
    assert_eq!(by().await?.as_deref(), Some("one"));
    scene.delete("one").await?;
    eventually("the object of the second", async || {
        Ok((by().await.ok().flatten().as_deref() == Some("two")).then_some(()))
    })
    .await?;
    operator.settled().await?;
    Ok(())
}

/// The map of a set with fields that somebody else has made before.
fn overriding(primary: &TestResource) -> Objects {
    let mut objects = Objects::new();
    let data = Some([("ours".to_owned(), primary.spec.value.clone())].into());
    let map = ConfigMap { metadata: named("before"), data, ..ConfigMap::default() };
    let map = objects.push(map).adopt(Adoption::IfUnowned);
    if primary.spec.value == "all" {
        map.override_fields();
    }
    objects
}

#[operator_test]
async fn fields_that_kubectl_has_made_go_where_the_policy_says_so() -> Result<()> {
    let scene = Scene::new("bundles-override").await?;
    let maps = scene.api::<ConfigMap>();
    let theirs = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "before" }, "data": { "theirs": "1" },
    });
    let by_kubectl = PatchParams::apply("kubectl-client-side-apply");
    maps.patch("before", &by_kubectl, &Patch::Apply(theirs)).await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((overriding,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let data = async || {
        let data = maps.get("before").await?.data.unwrap_or_default();
        Ok::<_, anyhow::Error>(data.into_keys().collect::<Vec<_>>())
    };
    scene.create("one", "some").await?;
    operator.settled().await?;
    assert_eq!(data().await?, ["ours", "theirs"], "merged");
    scene.patch("one", json!({ "spec": { "value": "all" } })).await?;
    operator.settled().await?;
    assert_eq!(data().await?, ["ours"], "what kubectl has made is ours, and isn't wanted");
    let asked = json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "1" } } });
    scene.patch("one", asked).await?;
    assert!(operator.settled().await?.requests.is_empty());
    Ok(())
}

/// As `kubectl get -o yaml` shows it.
fn exported(primary: &TestResource) -> Result<Objects, BoxError> {
    Ok(Objects::from_yaml(&format!(
        "
apiVersion: v1
kind: Secret
metadata:
  name: exported
  uid: 5cba7b3e-0000-0000-0000-000000000000
  resourceVersion: '17'
  generation: 4
  creationTimestamp: '2026-01-01T00:00:00Z'
  managedFields: [{{manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {{}}}}]
stringData: {{password: {}}}
",
        primary.spec.value
    ))?)
}

#[operator_test]
async fn a_manifest_that_was_exported_is_applied_and_texts_of_a_secret_are_compared() -> Result<()> {
    let scene = Scene::new("bundles-exported").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((exported,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;
    scene.create("one", "a").await?;
    assert!(done(&operator.settled().await?).contains(&"PATCH secrets/exported -> 201".to_owned()));
    let secrets = scene.api::<Secret>();
    let password = async || {
        let data = secrets.get("exported").await?.data.unwrap_or_default();
        Ok::<_, anyhow::Error>(data.into_values().map(|value| value.0).collect::<Vec<_>>())
    };
    assert_eq!(password().await?, [b"a"]);
    let other = json!({ "stringData": { "password": "theirs" } });
    secrets.patch("exported", &PatchParams::default(), &Patch::Merge(other)).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH secrets/exported -> 200"]);
    assert_eq!(password().await?, [b"a"]);
    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH secrets/exported -> 200"]);
    assert_eq!(password().await?, [b"b"]);
    operator.stop().await;
    let operator = scene.start(controller()).await?;
    assert!(operator.settled().await?.requests.is_empty());
    Ok(())
}

/// Objects of three kinds with one name.
fn namesakes(primary: &TestResource) -> Result<Objects, BoxError> {
    let objects = ["kind: ConfigMap", "kind: Secret", "kind: Service\nspec: {ports: [{port: 80}]}"];
    let value = &primary.spec.value;
    let document = |kind: &str| {
        format!("---\napiVersion: v1\nmetadata: {{name: same, labels: {{value: {value}}}}}\n{kind}\n")
    };
    Ok(Objects::from_yaml(&objects.map(document).concat())?)
}

/// What is remembered of the last write of one was once that of its namesakes, so that repairs became ever slower.
#[operator_test]
async fn objects_with_one_name_are_repaired_at_once_and_go_on_their_own() -> Result<()> {
    let scene = Scene::new("bundles-namesakes").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((namesakes,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "a").await?;
    operator.settled().await?;
    let theirs = Patch::Merge(json!({ "metadata": { "labels": { "value": "theirs" } } }));
    let (maps, secrets) = (scene.api::<ConfigMap>(), scene.api::<Secret>());
    for round in 0..4 {
        maps.patch("same", &PatchParams::default(), &theirs).await?;
        assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/same -> 200"], "round {round}");
        secrets.patch("same", &PatchParams::default(), &theirs).await?;
        assert_eq!(operator.settled().await?.written(), ["PATCH secrets/same -> 200"], "round {round}");
    }
    let held = json!({ "metadata": { "finalizers": ["example.com/held"] } });
    maps.patch("same", &PatchParams::default(), &Patch::Merge(held)).await?;
    operator.settled().await?;
    scene.delete("one").await?;
    let settled = operator.settled().await?;
    let reads: Vec<_> = settled.requests.iter().map(ToString::to_string).collect();
    assert!(!reads.iter().any(|line| line.starts_with("GET secrets/")), "{reads:?}");
    maps.patch("same", &PatchParams::default(), &Patch::Merge(json!({ "metadata": { "finalizers": null } })))
        .await?;
    scene.until_gone("one").await?;
    Ok(())
}

/// A map with the first word, which can't be changed if the second one says so, and a Secret if that does.
fn noted(primary: &TestResource) -> Objects {
    let (value, word) = primary.spec.value.split_once(' ').unwrap_or((&primary.spec.value, ""));
    let data = Some([("value".to_owned(), value.to_owned())].into());
    let immutable = (word == "fixed").then_some(true);
    let mut objects = Objects::new();
    objects.push(ConfigMap { metadata: named("map"), data, immutable, ..ConfigMap::default() });
    if word == "secret" {
        objects.push(Secret { metadata: named("secret"), ..Secret::default() });
    }
    objects
}

#[operator_test]
async fn events_on_its_objects_say_what_became_of_them_unless_the_primary_says_no() -> Result<()> {
    let scene = Scene::new("bundles-events").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((noted,)).records_events(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "a secret").await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "b fixed" } })).await?;
    operator.settled().await?;
    scene.failures.expect("field is immutable when `immutable` is set");
    scene.patch("one", json!({ "spec": { "value": "c fixed" } })).await?;
    operator.settled().await?;
    let said = async || -> Result<Vec<String>> {
        let mut said = Vec::new();
        for event in scene.api::<Event>().list(&ListParams::default()).await? {
            let (of, reason) = (event.involved_object, event.reason.unwrap_or_default());
            let mut message = event.message.unwrap_or_default();
            if event.type_.as_deref() == Some("Warning") {
                message.truncate(20);
            }
            let (kind, name) = (of.kind.unwrap_or_default(), of.name.unwrap_or_default());
            said.push(format!("{kind} {name} {reason} {}: {message}", event.count.unwrap_or_default()));
        }
        said.retain(|line| !line.starts_with("TestResource"));
        said.sort_unstable();
        Ok(said)
    };
    let primary = format!("TestResource {}/one", scene.namespace);
    let expected = [
        format!("ConfigMap map Created 1: created for {primary}"),
        format!("ConfigMap map Updated 2: updated for {primary}"),
        "ConfigMap map WriteError ".to_owned(),
        format!("Secret secret Created 1: created for {primary}"),
        format!("Secret secret Deleted 1: deleted for {primary}"),
    ];
    eventually("the Events", async || {
        let said = said().await?;
        let are_there =
            said.len() == 5 && said.iter().zip(&expected).all(|(said, one)| said.starts_with(one));
        Ok(are_there.then_some(()))
    })
    .await?;

    let said_before = said().await?;
    let annotations = json!({ "operator-core.io/disable-events": "true" });
    let quiet = json!({ "metadata": { "annotations": annotations }, "spec": { "value": "b secret" } });
    scene.patch("one", quiet).await?;
    operator.settled().await?;
    assert!(scene.api::<Secret>().get_opt("secret").await?.is_some());
    operator.stop().await;
    assert_eq!(said().await?, said_before);
    Ok(())
}
