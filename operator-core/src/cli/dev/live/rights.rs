//! Whether the operator's account may do what the operator needs from its start.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::{
    Api, Client,
    api::{DynamicObject, PostParams},
};

use super::{Error, failed};
use crate::controller::Controller;

/// How long a rule may take from its write until it counts: the authorizer follows roles by a watch.
const EFFECTIVE: Duration = Duration::from_secs(5);

/// The pause between two checks.
const INTERVAL: Duration = Duration::from_millis(50);

/// The service account that the manifests hold, as the API server calls its user.
pub(super) fn account(manifests: &[DynamicObject]) -> Option<String> {
    let account = manifests
        .iter()
        .find(|object| object.types.as_ref().is_some_and(|types| types.kind == "ServiceAccount"))?;
    let (namespace, name) = (account.metadata.namespace.as_deref()?, account.metadata.name.as_deref()?);
    Some(format!("system:serviceaccount:{namespace}:{name}"))
}

/// Checks the rights that the controllers know they need, and returns their number. `client` acts as `user`.
pub(super) async fn check(client: Client, user: &str, controllers: &[Controller]) -> Result<usize, Error> {
    let wanted: Vec<ResourceAttributes> = controllers.iter().flat_map(attributes).collect();
    let reviews = Api::<SelfSubjectAccessReview>::all(client);
    let mut missing = wanted.clone();
    let deadline = tokio::time::Instant::now() + EFFECTIVE;
    loop {
        let mut still = Vec::new();
        for right in missing {
            if !allowed(&reviews, &right).await? {
                still.push(right);
            }
        }
        missing = still;
        if missing.is_empty() {
            return Ok(wanted.len());
        }
        if tokio::time::Instant::now() >= deadline {
            let missing = missing.iter().map(words).collect();
            return Err(Error::Forbidden { user: user.to_owned(), missing });
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

fn attributes(controller: &Controller) -> Vec<ResourceAttributes> {
    let attributes = controller.access().into_iter().flat_map(|access| {
        let kind = access.resource_type;
        access.verbs.into_iter().map(move |verb| ResourceAttributes {
            group: Some(kind.group().to_owned()),
            resource: Some(kind.plural().to_owned()),
            subresource: access.subresource.map(str::to_owned),
            verb: Some(verb.to_owned()),
            ..ResourceAttributes::default()
        })
    });
    attributes.collect()
}

async fn allowed(reviews: &Api<SelfSubjectAccessReview>, right: &ResourceAttributes) -> Result<bool, Error> {
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(right.clone()),
        ..SelfSubjectAccessReviewSpec::default()
    };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let answer = reviews.create(&PostParams::default(), &review).await;
    let answer = answer.map_err(failed("check the rights of the operator's account"))?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

fn words(right: &ResourceAttributes) -> String {
    let word = |part: &Option<String>| part.clone().unwrap_or_default();
    match &right.subresource {
        Some(subresource) => format!("{} {}/{subresource}", word(&right.verb), word(&right.resource)),
        None => format!("{} {}", word(&right.verb), word(&right.resource)),
    }
}
