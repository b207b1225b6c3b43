//! Definitions and objects from files.
//!
//! # Guarantees
//! - All files are read before anything is applied: a file that can't be read leaves nothing behind.
//! - An error names the file, and the document in it.

use std::{fs, path::Path};

use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, Patch, PatchParams},
    core::{GroupVersionKind, TypeMeta},
    discovery::{self, Scope},
};
use serde_json::Value;

use test_cluster::read_crds;

use super::{Error, TestCluster};
use crate::resource::ResourceType;

/// The field manager of applied objects.
const MANAGER: &str = "operator-core-testing";

impl TestCluster {
    /// The same as [`install_crds`](Self::install_crds) with the CRDs of YAML or JSON files, each with one or more
    /// documents. All files are read before anything is applied. JOSDK: `LocallyRunOperatorExtension`'s
    /// `withAdditionalCRD`.
    ///
    /// ```no_run
    /// # async fn install(cluster: operator_core::testing::TestCluster) -> anyhow::Result<()> {
    /// // Beside the package's Cargo.toml: that is the working directory of its tests.
    /// cluster.install_crd_files(["deploy/crds.yaml", "tests/gateways.yaml"]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a file can't be read or contains something else than CRDs, and as [`install_crds`](Self::install_crds). The
    /// message names the file.
    pub async fn install_crd_files(
        &self,
        files: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<(), Error> {
        let mut read = Vec::new();
        for file in files {
            let crds = read_crds(&file)?;
            read.push((file.as_ref().display().to_string(), crds));
        }
        for (file, crds) in read {
            self.install_crds(crds).await.map_err(of_file(&file))?;
        }
        Ok(())
    }

    /// Applies the objects of YAML or JSON files, each with one or more documents, in their order, as
    /// [`apply_yaml`](Self::apply_yaml) does. All files are read before anything is applied.
    ///
    /// # Errors
    /// If a file can't be read, one of its documents isn't an object, a kind is not served, or the API server refuses an
    /// object. The message names the file, and the document by its number.
    pub async fn apply_files(
        &self,
        namespace: &str,
        files: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Vec<DynamicObject>, Error> {
        let mut read = Vec::new();
        for file in files {
            let file = file.as_ref().display().to_string();
            let text = fs::read_to_string(&file).map_err(Error::io(format!("read the objects in {file}")))?;
            let objects = objects(&file, &text)?;
            read.push((file, objects));
        }
        let mut applied = Vec::new();
        for (file, objects) in read {
            applied.extend(self.apply(namespace, objects).await.map_err(of_file(&file))?);
        }
        Ok(applied)
    }

    /// Applies the objects of a YAML text with one or more documents, in their order, and returns them as the API
    /// server has stored them. Those that need a namespace and name none get `namespace`.
    ///
    /// # Errors
    /// If the text is not YAML, a document isn't an object, a kind is not served, or the API server refuses an object.
    pub async fn apply_yaml(&self, namespace: &str, yaml: &str) -> Result<Vec<DynamicObject>, Error> {
        self.apply(namespace, objects("the text to apply", yaml)?).await
    }

    /// The same with the content of a file, whose name is part of errors.
    #[cfg(feature = "cli")]
    pub(crate) async fn apply_text(
        &self,
        namespace: &str,
        file: &str,
        yaml: &str,
    ) -> Result<Vec<DynamicObject>, Error> {
        self.apply(namespace, objects(file, yaml)?).await.map_err(of_file(file))
    }

    async fn apply(&self, namespace: &str, objects: Vec<DynamicObject>) -> Result<Vec<DynamicObject>, Error> {
        let client = self.client()?;
        let mut applied = Vec::with_capacity(objects.len());
        for object in objects {
            let types = object.types.clone().unwrap_or_default();
            let namespace = object.metadata.namespace.as_deref().unwrap_or(namespace);
            let api = discovered(&client, &types, namespace).await?;
            let (name, kind) = (object.name_any(), types.kind);
            let result = api.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(&object)).await;
            applied.push(result.map_err(Error::kube(format!("apply {kind} {name}")))?);
        }
        Ok(applied)
    }
}

/// The objects of a type that is known at run time, in this namespace if they have one.
pub(super) fn api(client: &Client, kind: &ResourceType, namespace: &str) -> Api<DynamicObject> {
    match kind.is_namespaced() {
        true => Api::namespaced_with(client.clone(), namespace, &kind.api_resource()),
        false => Api::all_with(client.clone(), &kind.api_resource()),
    }
}

/// For `map_err`: says which file it was, if it was the API server that refused.
fn of_file(file: &str) -> impl FnOnce(Error) -> Error {
    move |error| match error {
        Error::Kube { doing, source } => Error::Kube { doing: format!("{doing} of {file}"), source },
        other => other,
    }
}

/// The objects of a YAML text with one or more documents. Empty documents are skipped, and not counted.
fn objects(what: &str, yaml: &str) -> Result<Vec<DynamicObject>, Error> {
    let invalid = |what: String, message: String| Error::Yaml { what, message };
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(yaml).map_err(|error| invalid(what.to_owned(), error.to_string()))?;
    let documents = (1_u32..).zip(documents).filter(|(_, document)| !document.is_null());
    let objects = documents.map(|(number, document)| {
        object(document).map_err(|message| invalid(format!("document {number} of {what}"), message))
    });
    objects.collect()
}

fn object(document: Value) -> Result<DynamicObject, String> {
    if !document.is_object() {
        return Err("it isn't an object: `apiVersion`, `kind` and `metadata` are needed".to_owned());
    }
    for path in ["/apiVersion", "/kind", "/metadata/name"] {
        if document.pointer(path).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("it has no {}", path.trim_start_matches('/').replace('/', ".")));
        }
    }
    serde_json::from_value(document).map_err(|error| error.to_string())
}

/// The objects of a kind as the server serves it, in this namespace if they have one.
pub(crate) async fn discovered(
    client: &Client,
    types: &TypeMeta,
    namespace: &str,
) -> Result<Api<DynamicObject>, Error> {
    let unknown = format!("find {} {}", types.api_version, types.kind);
    let kind = GroupVersionKind::try_from(types)
        .map_err(|error| Error::Yaml { what: unknown.clone(), message: error.to_string() })?;
    let (resource, capabilities) =
        discovery::pinned_kind(client, &kind).await.map_err(Error::kube(unknown))?;
    Ok(match capabilities.scope {
        Scope::Namespaced => Api::namespaced_with(client.clone(), namespace, &resource),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const TWO: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: { name: one }
data: { a: '1' }
---
---
apiVersion: v1
kind: Namespace
metadata: { name: shop }
";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(text.as_bytes()).expect("it is written");
        file
    }

    #[tokio::test]
    async fn the_objects_of_files_are_applied_in_their_order() {
        let cluster = TestCluster::in_process();
        let applied = cluster.apply_files("default", [file(TWO).path()]).await.expect("they are right");
        let names: Vec<_> = applied.iter().map(ResourceExt::name_any).collect();
        assert_eq!(names, ["one", "shop"]);
        assert_eq!(applied[0].namespace().as_deref(), Some("default"));
    }

    #[tokio::test]
    async fn what_is_no_object_is_told_with_its_file_and_document_and_nothing_is_applied() {
        let cluster = TestCluster::in_process();
        let (right, wrong) = (file(TWO), file(&format!("{TWO}---\nkind: ConfigMap\n")));
        let name = wrong.path().display().to_string();
        let error = cluster.apply_files("default", [right.path(), wrong.path()]).await;
        let error = error.expect_err("the second one is wrong").to_string();
        assert_eq!(error, format!("document 3 of {name} is not valid YAML: it has no apiVersion"));
        let maps: Api<k8s_openapi::api::core::v1::ConfigMap> =
            Api::default_namespaced(cluster.client().expect("a client"));
        assert!(maps.get_opt("one").await.expect("an answer").is_none());
        let missing = cluster.apply_files("default", ["no/such.yaml"]).await.expect_err("it is missing");
        assert_eq!(missing.to_string(), "could not read the objects in no/such.yaml");
    }
}
