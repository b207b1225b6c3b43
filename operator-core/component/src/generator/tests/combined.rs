//! Manifests, closures, and what changes them.

use super::*;

static SHOP: Manifests = crate::manifests!("tests-data/manifests");

fn addon(cx: &RenderContext<'_, ConfigMap>) -> Result<Objects, Permanent> {
    if cx.parameters()["broken"] == true {
        return Err(Permanent::new("broken"));
    }
    let mut map = cx.primary().clone();
    map.data = Some([("parameters".to_owned(), cx.parameters().to_string())].into());
    Ok(vec![map].into())
}

#[tokio::test]
async fn manifests_are_in_the_order_of_their_paths() {
    let primary = primary();
    let objects = SHOP.generate(&RenderContext::of(&primary)).await.expect("they are objects");
    assert_eq!(
        format!("{objects:?}"),
        r#"["Namespace shop", "ServiceAccount shop/reader", "Role shop/reader"]"#
    );
}

#[tokio::test]
async fn a_manifest_without_objects_names_its_file_and_place() {
    let manifests = Manifests::embedded(&[
        ("a.yaml", "apiVersion: v1\nkind: Secret\n"),
        ("b.yaml", "# first\n---\napiVersion: v1\nstringData: { password: hidden }\n"),
    ]);
    let primary = primary();
    let error = manifests.generate(&RenderContext::of(&primary)).await.expect_err("it has no kind");
    assert_eq!(error.to_string(), "b.yaml: document 1, line 3: there is no text in `kind`");
    assert!(is_permanent(&*error));
}

#[tokio::test]
async fn closures_and_functions_are_generators() {
    let primary = primary();
    let cx = RenderContext::of(&primary).with_parameters(json!({ "a": 1 }));
    let objects = addon.generate(&cx).await.expect("objects");
    assert_eq!(json_of(&objects)[0]["data"]["parameters"], r#"{"a":1}"#);
    let none = |_: &RenderContext<'_, ConfigMap>| Ok::<_, BoxError>(Objects::new());
    assert!(none.generate(&cx).await.expect("objects").is_empty());
    let error = addon.generate(&cx.with_parameters(json!({ "broken": true }))).await;
    assert!(is_permanent(&*error.expect_err("it is broken")));
}

#[tokio::test]
async fn parameters_are_changed_before_and_objects_after() {
    fn combined() -> impl Generator<ConfigMap> {
        addon
            .map_parameters(|cx: &RenderContext<'_, ConfigMap>| {
                Ok::<_, BoxError>(json!({ "before": cx.parameters(), "name": cx.name() }))
            })
            .map_objects(|mut objects, cx: &RenderContext<'_, ConfigMap>| {
                for object in &mut objects {
                    object.metadata.name = Some(format!("{}-{}", cx.name(), cx.parameters()["a"]));
                }
                Ok::<_, BoxError>(objects)
            })
    }
    let primary = primary();
    let cx = RenderContext::of(&primary).with_parameters(json!({ "a": 1 }));
    let objects = json_of(&combined().generate(&cx).await.expect("objects"));
    assert_eq!(objects[0]["data"]["parameters"], r#"{"before":{"a":1},"name":"web"}"#);
    assert_eq!(
        objects[0]["metadata"]["name"], "web-1",
        "the objects' function has the context's own parameters"
    );
}

#[tokio::test]
async fn what_changes_a_generator_may_fail() {
    let primary = primary();
    let cx = RenderContext::of(&primary);
    let before =
        shop_copy().map_parameters(|_: &RenderContext<'_, ConfigMap>| Err::<Value, _>("no parameters"));
    assert_eq!(before.generate(&cx).await.expect_err("it fails").to_string(), "no parameters");
    let after =
        shop_copy().map_objects(|_, _: &RenderContext<'_, ConfigMap>| Err::<Objects, _>("no objects"));
    assert_eq!(after.generate(&cx).await.expect_err("it fails").to_string(), "no objects");
    assert_eq!(Generator::<ConfigMap>::identity(&after), Generator::<ConfigMap>::identity(&SHOP));
}

fn shop_copy() -> Manifests {
    crate::manifests!("tests-data/manifests")
}

#[test]
fn the_identity_is_that_of_the_files() {
    let identity = |manifests: &Manifests| Generator::<ConfigMap>::identity(manifests);
    let of = Manifests::embedded;
    let all = [
        identity(&of(&[("a.yaml", "b"), ("c.yaml", "")])),
        identity(&of(&[("a.yaml", "bc.yaml"), ("", "")])),
        identity(&of(&[("a.yaml", "b")])),
        identity(&SHOP),
    ];
    for (at, one) in all.iter().enumerate() {
        assert_eq!(one.len(), 64);
        assert!(!all[..at].contains(one), "{at}");
    }
    assert_eq!(Generator::<ConfigMap>::identity(&addon), "", "a function has none");
}
