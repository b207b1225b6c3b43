//! The differences between a definition in the cluster and a type of primaries.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};

use super::schema;
use crate::{controller::Mistake, resource::ResourceType};

/// The way to make the definition in the cluster this operator's.
const APPLY: &str =
    "the definition of this version: the operator's command `crd`, applied by `kubectl apply -f -`";

/// The definition doesn't exist.
pub(super) fn missing(name: &str) -> Mistake {
    Mistake::new(
        format!("definition `{name}`: it doesn't exist"),
        "without a definition the server doesn't serve objects of that kind",
        APPLY,
    )
}

/// All differences. `own` is the definition that belongs to the type of the primaries, if there is one.
pub(super) fn differences(
    kind: &ResourceType,
    own: Option<&CustomResourceDefinition>,
    live: &CustomResourceDefinition,
) -> Vec<Mistake> {
    let name = kind.full_name();
    let mut mistakes = Vec::new();
    let mut differs = |what: String, why: String| {
        mistakes.push(Mistake::new(format!("definition `{name}`: {what}"), why, APPLY));
    };
    if own.is_some() || live.spec.scope == "Namespaced" || !kind.is_namespaced() {
        let scope = if kind.is_namespaced() { "Namespaced" } else { "Cluster" };
        if live.spec.scope != scope {
            differs(
                format!("its scope is `{}`, and the type's is `{scope}`", live.spec.scope),
                "the operator would look for objects where there are none".to_owned(),
            );
        }
    }
    if live.spec.names.kind != kind.kind() {
        differs(
            format!("its kind is `{}`, and the type's is `{}`", live.spec.names.kind, kind.kind()),
            "the server refuses objects of another kind".to_owned(),
        );
    }
    let served = live.spec.versions.iter().find(|version| version.name == kind.version() && version.served);
    let Some(served) = served else {
        let versions: Vec<&str> = live
            .spec
            .versions
            .iter()
            .filter(|version| version.served)
            .map(|version| &*version.name)
            .collect();
        differs(
            format!("version `{}` is not served", kind.version()),
            match versions.is_empty() {
                true => "no version is".to_owned(),
                false => format!("only `{}`", versions.join("`, `")),
            },
        );
        return mistakes;
    };
    let own = own.and_then(|own| own.spec.versions.iter().find(|version| version.name == kind.version()));
    let Some(own) = own else { return mistakes };
    if has_status(own) && !has_status(served) {
        differs(
            format!("version `{}` has no subresource `status`", kind.version()),
            "the operator could write no status".to_owned(),
        );
    }
    let paths = schema::differences(&schema_of(own), &schema_of(served));
    if !paths.is_empty() {
        differs(
            format!("version `{}` has another schema at `{}`", kind.version(), paths.join("`, `")),
            "the server may drop or refuse what the operator writes there".to_owned(),
        );
    }
    mistakes
}

fn has_status(version: &CustomResourceDefinitionVersion) -> bool {
    version.subresources.as_ref().is_some_and(|subresources| subresources.status.is_some())
}

fn schema_of(version: &CustomResourceDefinitionVersion) -> serde_json::Value {
    let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref());
    // A schema is data, which can always be written.
    schema.and_then(|schema| serde_json::to_value(schema).ok()).unwrap_or_default()
}
