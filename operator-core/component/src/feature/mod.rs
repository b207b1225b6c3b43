//! A version of the primary as a condition.

#[cfg(test)]
mod tests;

use operator_core::Permanent;
use semver::{Version, VersionReq};

/// Why it can't be told whether a feature is wanted.
#[derive(Debug, thiserror::Error)]
pub enum FeatureError {
    /// The constraint of a [`feature`] is wrong. It is in the code.
    #[error("`{constraint}` isn't a constraint for versions, such as `>=1.8, <2`")]
    Constraint {
        /// The constraint.
        constraint: String,
        /// What is wrong with it.
        source: semver::Error,
    },
    /// The version that a primary has isn't one.
    #[error("`{version}` isn't a version, such as `1.8.0`")]
    Version {
        /// The version.
        version: String,
        /// What is wrong with it.
        source: semver::Error,
    },
}

/// A condition for `only_if`, of a node or of a component: met if the version that `version` takes from the primary fulfils the
/// constraint. Constraints are those of Cargo, such as `>=1.8, <2`; a version has three parts and may have a pre-release, which
/// fulfils only a constraint that names one of the same version.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Service};
/// use operator_component::feature;
/// use operator_core::{Wire, Workflow};
///
/// fn cache(_: &ConfigMap) -> Service {
///     Service::default()
/// }
///
/// fn version(map: &ConfigMap) -> &str {
///     map.data.as_ref().and_then(|data| data.get("version")).map_or("0.0.0", String::as_str)
/// }
///
/// let workflow = Workflow::builder().nodes((cache.only_if(feature(">=1.8, <2", version)),));
/// # let _: operator_core::workflow::WorkflowBuilder<ConfigMap> = workflow;
/// ```
///
/// # Errors
/// The condition's: a [`FeatureError`] that names the constraint or version that isn't one. It is [`Permanent`], as only a change of
/// the code or of the primary helps. Of a component it is the reason `FeatureGateError`.
pub fn feature<P, F>(
    constraint: &str,
    version: F,
) -> impl Fn(&P) -> Result<bool, Permanent> + Send + Sync + use<P, F> + 'static
where
    P: 'static,
    F: for<'p> Fn(&'p P) -> &'p str + Send + Sync + 'static,
{
    let constraint = constraint.to_owned();
    move |primary| {
        let wanted = VersionReq::parse(&constraint).map_err(|source| {
            let error = FeatureError::Constraint { constraint: constraint.clone(), source };
            Permanent::new(error).because("InvalidConstraint")
        })?;
        let version = version(primary);
        let version = Version::parse(version).map_err(|source| {
            let error = FeatureError::Version { version: version.to_owned(), source };
            Permanent::new(error).because("InvalidVersion")
        })?;
        Ok(wanted.matches(&version))
    }
}
