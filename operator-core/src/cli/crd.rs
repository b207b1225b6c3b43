//! `crd`: the custom resource definitions as YAML. Pure: no cluster, no clock, equal output for equal input.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{CrdArgs, Error, ExitStatus, output::Output};

pub(super) fn crd(
    crds: &[CustomResourceDefinition],
    args: &CrdArgs,
    output: Output,
) -> Result<ExitStatus, Error> {
    let text = yaml(crds)?;
    let Some(path) = &args.check else {
        output.out(&text);
        return Ok(ExitStatus::Success);
    };
    let found = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.clone(), source })?;
    if found == text { Ok(ExitStatus::Success) } else { Err(Error::Stale { path: path.clone() }) }
}

/// All definitions, one document each.
fn yaml(crds: &[CustomResourceDefinition]) -> Result<String, Error> {
    if crds.is_empty() {
        return Err(Error::NoCrd);
    }
    let documents: Result<Vec<String>, _> = crds.iter().map(serde_saphyr::to_string).collect();
    Ok(documents.map_err(|error| Error::Yaml(error.to_string()))?.join("---\n"))
}
