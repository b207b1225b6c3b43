//! A partial apply of the primary owns just what it names.

use integration_tests::prelude::*;

const FINALIZER: &str = "testresources.conformance.operator-core.io/finalizer";
const ONE: &str = "PATCH testresources/one -> 200";

/// Applies an annotation that is called like the value of the primary; `third` as well as `second`.
fn script() -> Script {
    Script::new(|_, primary: Arc<TestResource>, _| {
        let name = if primary.spec.value == "first" { "example.com/first" } else { "example.com/second" };
        let part = json!({ "metadata": { "name": primary.name_any(), "annotations": { name: "yes" } } });
        Box::pin(async move { Ok(UpdateControl::apply(part)) })
    })
}

fn change(value: &str) -> Value {
    json!({ "spec": { "value": value } })
}

#[operator_test]
async fn it_owns_what_it_names_and_the_finalizer() -> Result<()> {
    for ssa in [true, false] {
        let scene = Scene::new(if ssa { "partial-apply" } else { "partial-apply-no-ssa" }).await?;
        let script = script();
        let controller = scene.controller(&script).name("sample").cleaner(true);
        let operator = scene.start(controller.use_ssa_to_patch_primary(ssa)).await?;
        scene.create("one", "first").await?;
        let settled = operator.settled().await?;
        assert_eq!(settled.written(), [ONE; 2], "the finalizer, and the part");
        let one = scene.resources.get("one").await?;
        assert_eq!(one.annotations().keys().collect::<Vec<_>>(), ["example.com/first"]);
        assert_eq!(one.finalizers(), [FINALIZER]);
        let entries = entries_of(&one, "sample");
        let applied = entries.iter().find(|(operation, ..)| *operation == "Apply").expect("it was applied");
        assert!(applied.2.contains("f:example.com/first"), "{entries:?}");
        assert!(!applied.2.contains("f:spec"), "a field that the type requires is the user's: {entries:?}");
        assert_eq!(applied.2.contains(FINALIZER), ssa, "as it was added: {entries:?}");

        scene.patch("one", change("second")).await?;
        let settled = operator.settled().await?;
        assert_eq!(settled.written(), [ONE]);
        let one = scene.resources.get("one").await?;
        assert_eq!(
            one.annotations().keys().collect::<Vec<_>>(),
            ["example.com/second"],
            "the first was given up"
        );
        assert_eq!((one.finalizers(), &*one.spec.value), (&[FINALIZER.to_owned()][..], "second"));

        scene.patch("one", change("third")).await?;
        let settled = operator.settled().await?;
        assert_eq!(
            (settled.runs_of(&scene.key("one")), settled.written()),
            (1, Vec::new()),
            "nothing differs"
        );
        scene.delete("one").await?;
        scene.until_gone("one").await?;
        operator.settled().await?;
        assert_eq!(script.cleanups.count(), 1, "the finalizer was kept all the time");
    }
    Ok(())
}

#[operator_test]
async fn without_the_name_of_the_primary_it_is_an_error_that_is_not_retried() -> Result<()> {
    let scene = Scene::new("partial-apply-unnamed").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        let part = match &*primary.name_any() {
            "unnamed" => json!({ "metadata": { "labels": { "of": "nobody" } } }),
            "other" => json!({ "metadata": { "name": "another", "labels": { "of": "another" } } }),
            _ => json!({ "metadata": { "name": primary.name_any() }, "status": { "message": "here" } }),
        };
        Box::pin(async move { Ok(UpdateControl::apply(part)) })
    });
    let operator = scene.start_script(&script).await?;
    for (name, words) in [
        ("unnamed", "has no `metadata.name`; give it the primary's"),
        ("other", "is for `another`; give it the name of the primary"),
        ("status", "has a status; leave that to the function given to `.status(…)`"),
    ] {
        scene.failures.expect(words);
        scene.create(name, "value").await?;
        let settled = operator.settled().await?;
        assert_eq!((settled.runs_of(&scene.key(name)), settled.written()), (1, Vec::new()), "{name}");
    }
    Ok(())
}
