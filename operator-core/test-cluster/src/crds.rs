//! Reads custom resource definitions from files, applies them, and waits until they are served.

use std::{fs, path::Path, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams},
    core::GroupVersionKind,
};
use serde_json::Value;

use crate::{
    error::Error,
    looks::{Look, until},
};

/// The field manager for server-side apply.
const MANAGER: &str = "test-cluster";

/// How long a CRD may take until it is served. Under load the API server needs several seconds.
const SERVED: Duration = Duration::from_secs(60);

/// What a document of a file of CRDs says of itself.
const KIND: (&str, &str) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");

/// Reads the CRDs of a YAML or JSON file with one or more documents, in their order. Empty documents are skipped.
///
/// # Errors
/// If the file can't be read, is not YAML, has no document, or has one that is not a CRD. The message names the file,
/// and the document by its number.
pub fn read_crds(file: impl AsRef<Path>) -> Result<Vec<CustomResourceDefinition>, Error> {
    let file = file.as_ref().display().to_string();
    let text = fs::read_to_string(&file).map_err(Error::io(format!("read the CRDs in {file}")))?;
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text)
        .map_err(|error| Error::Yaml { what: file.clone(), message: error.to_string() })?;
    let documents = documents.into_iter().filter(|document| !document.is_null());
    let crds = (1..).zip(documents).map(|(number, document): (u32, _)| {
        definition(document)
            .map_err(|message| Error::NotACrd { what: format!("document {number} of {file}"), message })
    });
    let crds = crds.collect::<Result<Vec<_>, _>>()?;
    if crds.is_empty() {
        return Err(Error::NotACrd { what: file, message: "there is no document in it".to_owned() });
    }
    Ok(crds)
}

fn definition(document: Value) -> Result<CustomResourceDefinition, String> {
    let text = |field: &str| document[field].as_str().unwrap_or("nothing").to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if (&*version, &*kind) != KIND {
        return Err(format!(
            "its apiVersion is {version}, and its kind {kind}; {} and {} are needed",
            KIND.0, KIND.1
        ));
    }
    let crd: CustomResourceDefinition =
        serde_json::from_value(document).map_err(|error| error.to_string())?;
    let name = format!("{}.{}", crd.spec.names.plural, crd.spec.group);
    match crd.metadata.name.as_deref() {
        Some(said) if said == name => Ok(crd),
        said => Err(format!(
            "its name is {}; {name} is needed, its plural and its group",
            said.unwrap_or("missing")
        )),
    }
}

/// Applies a CRD and waits until its objects can be listed in every served version: on any API server.
///
/// # Errors
/// If the API server refuses the CRD, or doesn't serve it within a minute.
pub async fn install_crd(client: &Client, crd: &CustomResourceDefinition) -> Result<(), Error> {
    let name = crd.name_any();
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    crds.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(crd))
        .await
        .map_err(Error::kube(format!("apply the CRD {name}")))?;
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        let names = &crd.spec.names;
        let kind = GroupVersionKind::gvk(&crd.spec.group, &version.name, &names.kind);
        let api = Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, &names.plural));
        served(&api, &name).await?;
    }
    Ok(())
}

/// Waits until a list succeeds. It isn't enough that a CRD is `Established`: its path returns 404 for a moment longer,
/// and then 429 as long as its storage is being initialized.
async fn served(api: &Api<DynamicObject>, name: &str) -> Result<(), Error> {
    let look = async || match api.list(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(Look::Found(())),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 429 | 503) => {
            Ok(Look::NotYet(Some(status.message)))
        }
        Err(error) => Err(Error::kube(format!("list the objects of the CRD {name}"))(error)),
    };
    until(&format!("the CRD {name} is"), SERVED, look).await
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: tests.crd.example }
spec:
  group: crd.example
  names: { plural: tests, kind: Test }
  scope: Namespaced
  versions: []
";

    /// What reading this text says, whose file is called `FILE`.
    fn read(text: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("crds.yaml");
        fs::write(&file, text).expect("it can be written");
        match read_crds(&file) {
            Ok(crds) => Ok(crds.iter().map(ResourceExt::name_any).collect()),
            Err(error) => Err(error.to_string().replace(&file.display().to_string(), "FILE")),
        }
    }

    #[test]
    fn all_documents_are_read_and_empty_ones_are_none() {
        let second = GOOD.replace("tests", "others");
        let both = format!("# first\n---\n{GOOD}---\n# nothing\n---\n{second}---\n");
        assert_eq!(read(&both), Ok(vec!["tests.crd.example".to_owned(), "others.crd.example".to_owned()]));
        let json = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
            {"name":"a.b"},"spec":{"group":"b","names":{"plural":"a","kind":"A"},"scope":"Cluster","versions":[]}}"#;
        assert_eq!(read(json), Ok(vec!["a.b".to_owned()]));
    }

    #[test]
    fn what_is_wrong_is_told_with_file_and_document() {
        let wrong = |text: &str| read(text).expect_err(text);
        for nothing in ["", "# nothing\n---\n"] {
            assert_eq!(wrong(nothing), "FILE is no custom resource definition: there is no document in it");
        }
        let pod = format!("{GOOD}---\napiVersion: v1\nkind: Pod\n");
        assert_eq!(
            wrong(&pod),
            "document 2 of FILE is no custom resource definition: its apiVersion is v1, and its kind Pod; \
             apiextensions.k8s.io/v1 and CustomResourceDefinition are needed"
        );
        assert!(wrong("just words").ends_with(
            "its apiVersion is nothing, and its kind nothing; \
             apiextensions.k8s.io/v1 and CustomResourceDefinition are needed"
        ));
        assert_eq!(
            wrong(&GOOD.replace("scope: Namespaced", "scope: 1")),
            "document 1 of FILE is no custom resource definition: invalid type: integer `1`, expected a string"
        );
        assert_eq!(
            wrong(&GOOD.replace("name: tests.crd", "name: tests.others")),
            "document 1 of FILE is no custom resource definition: its name is tests.others.example; \
             tests.crd.example is needed, its plural and its group"
        );
        assert!(wrong(&format!("{GOOD}: [")).starts_with("FILE is not valid YAML: "));
        let missing = read_crds("no/such.yaml").expect_err("there is none");
        assert_eq!(missing.to_string(), "could not read the CRDs in no/such.yaml");
    }
}
