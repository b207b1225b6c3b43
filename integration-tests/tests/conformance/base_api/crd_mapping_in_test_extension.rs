//! A test's cluster gets definitions by the paths of their files, besides those that are values.

use std::path::PathBuf;

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

const GROUP: &str = "crd-mapping.conformance.operator-core.io";

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/conformance/base_api/crds", name].iter().collect()
}

/// A definition that is a value, with the property `bar`.
fn value() -> CustomResourceDefinition {
    let schema = json!({ "type": "object", "properties": { "bar": { "type": "string" } } });
    let version =
        json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
    let names = json!({ "plural": "values", "singular": "value", "kind": "Value" });
    let definition = json!({
        "metadata": { "name": format!("values.{GROUP}") },
        "spec": { "group": GROUP, "scope": "Cluster", "names": names, "versions": [version] },
    });
    from_json(&definition).expect("a definition")
}

/// The names of the properties that the definition of `plural` has on the server.
async fn properties(cluster: &TestCluster, plural: &str) -> Result<Option<Vec<String>>> {
    let definitions = Api::<CustomResourceDefinition>::all(cluster.client()?);
    let Some(found) = definitions.get_opt(&format!("{plural}.{GROUP}")).await? else { return Ok(None) };
    let schema = found.spec.versions.into_iter().next().and_then(|version| version.schema);
    let schema = schema.and_then(|schema| schema.open_api_v3_schema).context("it has a schema")?;
    Ok(Some(schema.properties.into_iter().flatten().map(|(name, _)| name).collect()))
}

#[operator_test]
async fn files_and_values_are_installed_and_served() -> Result<()> {
    let cluster = TestCluster::shared().await?;
    cluster.install_crd_files([file("two.yaml"), file("third.yaml")]).await?;
    cluster.install_crds([value()]).await?;
    for (plural, property) in [("firsts", "foo"), ("seconds", "foo2"), ("thirds", "foo3"), ("values", "bar")]
    {
        assert_eq!(properties(&cluster, plural).await?, Some(vec![property.to_owned()]), "{plural}");
    }
    // Its objects can be made at once.
    let namespace = cluster.namespace("crd-mapping").await?;
    let first = format!("apiVersion: {GROUP}/v1\nkind: First\nmetadata: {{ name: one }}\nfoo: yes it is\n");
    let applied = cluster.apply_yaml(&namespace, &first).await?;
    assert_eq!(applied[0].data["foo"], "yes it is");
    Ok(())
}

#[operator_test]
async fn what_is_wrong_is_told_with_its_file() -> Result<()> {
    let cluster = TestCluster::shared().await?;
    // What is said of these files; the last one's name stands for its path.
    let wrong = async |names: &[&str]| {
        let files: Vec<_> = names.iter().map(|name| file(name)).collect();
        let error = cluster.install_crd_files(&files).await.err().context("it is wrong")?;
        let last = files.last().context("a file")?.display().to_string();
        Ok::<_, anyhow::Error>(chain_of(&error).replace(&last, names[names.len() - 1]))
    };
    let kinds = "its apiVersion is v1, and its kind Pod; \
                 apiextensions.k8s.io/v1 and CustomResourceDefinition are needed";
    let expected = format!("document 2 of pod.yaml is no custom resource definition: {kinds}");
    assert_eq!(wrong(&["pod.yaml"]).await?, expected);
    assert_eq!(properties(&cluster, "unseens").await?, None, "the document before it is not applied");

    let said = wrong(&["unused.yaml", "no-such.yaml"]).await?;
    assert!(said.starts_with("could not read the CRDs in no-such.yaml: No such file"), "{said}");
    assert_eq!(properties(&cluster, "unused").await?, None, "nor is the file before it");

    let said = wrong(&["not-stored.yaml"]).await?;
    assert!(
        said.starts_with(&format!("could not apply the CRD refused.{GROUP} of not-stored.yaml: ")),
        "{said}"
    );
    assert!(said.contains("storage version"), "{said}");
    Ok(())
}
