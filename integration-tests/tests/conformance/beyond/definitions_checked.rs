//! An operator that checks the definitions of its primaries at its start: all differences are reported together, and nothing runs.

use integration_tests::prelude::*;
use integration_tests::rights;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_core::Error;

const NAME: &str = "definition `latetestresources.late.conformance.operator-core.io`";

/// Applies the definition as it was changed, and waits until the server has taken it.
async fn apply(scene: &Scene<LateTestResource>, change: impl Fn(&mut Value)) -> Result<()> {
    let mut definition = serde_json::to_value(LateTestResource::crd())?;
    change(&mut definition);
    let definitions = Api::<CustomResourceDefinition>::all(scene.client.clone());
    let ours = PatchParams::apply("integration-tests").force();
    definitions.patch(LateTestResource::crd_name(), &ours, &Patch::Apply(definition)).await?;
    eventually("the definition to be established", async || {
        let conditions = definitions.get(LateTestResource::crd_name()).await?.status.and_then(|it| it.conditions);
        let established = |it: &&k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionCondition| {
            it.type_ == "Established" && it.status == "True"
        };
        Ok(conditions.iter().flatten().find(established).map(drop))
    })
    .await
}

/// The differences that the start reports, each in one line, and whether rights are missing.
async fn told(operator: &Operator) -> Result<(Vec<String>, bool)> {
    let started = operator.start().await;
    assert!(started.is_err(), "it starts");
    match started {
        Err(Error::Definitions { mistakes, forbidden }) => {
            let told = mistakes.iter().map(|mistake| format!("{}: {}", mistake.what(), mistake.why()));
            Ok((told.collect(), forbidden))
        }
        other => bail!("{other:?}"),
    }
}

fn checked<K>(scene: &Scene<K>, script: &Script<K>) -> Result<Operator>
where
    K: integration_tests::TestObject + Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let controller = script.defined().name("checked").namespaces([&scene.namespace]);
    Ok(scene.operator().check_definitions_at_start(true).register(controller).build()?)
}

#[operator_test]
async fn all_that_differs_is_told_at_once() -> Result<()> {
    let (_turn, scene) = Scene::late("definitions-differ").await?;
    let script = Script::<LateTestResource>::idle();
    let operator = checked(&scene, &script)?;
    let missing = format!(
        "{NAME}: it doesn't exist: without a definition the server doesn't serve objects of that kind"
    );
    assert_eq!(told(&operator).await?, (vec![missing], false));

    apply(&scene, |definition| {
        definition["spec"]["scope"] = json!("Cluster");
        let version = &mut definition["spec"]["versions"][0];
        version["subresources"] = json!({});
        let properties = &mut version["schema"]["openAPIV3Schema"]["properties"];
        properties["spec"]["properties"] = json!({ "other": { "type": "string" } });
        properties["spec"]["required"] = json!(["other"]);
        properties["status"]["properties"]["message"]["type"] = json!("integer");
    })
    .await?;
    let differences = [
        "its scope is `Cluster`, and the type's is `Namespaced`: the operator would look for objects where there are none",
        "version `v1` has no subresource `status`: the operator could write no status",
        "version `v1` has another schema at `.spec`, `.spec.value`, `.status.message`: the server may drop or refuse what the \
         operator writes there",
    ];
    let expected = differences.map(|difference| format!("{NAME}: {difference}"));
    assert_eq!(told(&operator).await?, (expected.into(), false));
    assert_eq!(operator.http_address().await, None, "it doesn't run");
    assert_eq!(script.runs.count(), 0);
    Ok(())
}

#[operator_test]
async fn one_that_fits_is_read_once_and_one_that_is_not_served_keeps_it_from_starting() -> Result<()> {
    let (_turn, scene) = Scene::late("definitions-served").await?;
    let script = Script::<LateTestResource>::idle();
    apply(&scene, |definition| {
        let versions = &mut definition["spec"]["versions"];
        let mut second = versions[0].clone();
        second["name"] = json!("v2");
        versions[0]["served"] = json!(false);
        versions[0]["storage"] = json!(false);
        *versions = json!([versions[0], second]);
    })
    .await?;
    let expected = format!("{NAME}: version `v1` is not served: only `v2`");
    assert_eq!(told(&checked(&scene, &script)?).await?, (vec![expected], false));

    // More than the type has is no difference.
    apply(&scene, |definition| {
        let versions = &mut definition["spec"]["versions"];
        let mut second = versions[0].clone();
        second["name"] = json!("v2");
        second["storage"] = json!(false);
        let schema = &mut versions[0]["schema"]["openAPIV3Schema"];
        schema["properties"]["spec"]["properties"]["further"] = json!({ "type": "string" });
        *versions = json!([versions[0], second]);
    })
    .await?;
    for checks in [true, false] {
        let controller = script.defined().name("checked").namespaces([&scene.namespace]);
        let operator = scene.operator().check_definitions_at_start(checks).register(controller);
        let operator = TestOperator::start(operator).await?;
        let reads = format!("GET customresourcedefinitions/{} -> 200", LateTestResource::crd_name());
        let requests = operator.settled().await?.requests;
        let reads = requests.iter().filter(|request| request.to_string() == reads).count();
        assert_eq!(reads, usize::from(checks), "{requests:?}");
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn without_the_right_to_read_it_the_start_says_which_rule_is_missing() -> Result<()> {
    let scene = Scene::new("definitions-rights").await?;
    let user = format!("{}-operator", scene.namespace);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    let script = Script::<TestResource>::idle();
    let controller = script.defined().name("checked").namespaces([&scene.namespace]);
    let operator = scene.operator().config(scene.cluster.config_as(&user, &[])).register(controller);
    let operator = operator.check_definitions_at_start(true).build()?;
    let Err(Error::Definitions { mistakes, forbidden }) = operator.start().await else { bail!("it starts") };
    let told = mistakes.to_string();
    assert!(forbidden && told.lines().count() == 3, "{told}");
    for part in ["testresources.conformance.operator-core.io", "customresourcedefinitions", "verbs: [get]"] {
        assert!(told.contains(part), "{told}");
    }
    Ok(())
}

/// Without the check, the first write of a status says what is missing, and not that the object is.
#[operator_test(flavor = "current_thread")]
async fn a_status_that_is_not_served_is_told_as_such() -> Result<()> {
    for applies in [true, false] {
        let (log, _guard) = LogCapture::start();
        let (_turn, scene) = Scene::late("definition-without-status").await?;
        scene.failures.allow("lacks `subresources");
        apply(&scene, |definition| {
            let version = &mut definition["spec"]["versions"][0];
            version.as_object_mut().expect("a version").remove("subresources");
        })
        .await?;
        let script = Script::<LateTestResource>::new(|_, _: Arc<LateTestResource>, _| {
            Box::pin(async { Ok(Said::status(said("written".to_owned()))) })
        });
        let controller = script.controller().name("told").use_ssa_to_patch_primary(applies);
        let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
        scene.create("one", "first").await?;
        let told = eventually("a warning", async || {
            let lines = log.lines(tracing::Level::WARN).into_iter().map(|line| format!("{line:?}"));
            Ok(lines.into_iter().find(|line| line.contains("LateTestResource") && line.contains("404")))
        })
        .await?;
        assert!(told.contains("its definition lacks `subresources: { status: {} }`"), "{told}");
        assert!(!told.contains("not found"), "{told}");
        operator.stop().await;
    }
    Ok(())
}
