//! Amounts of resources, and the names of resources.

use super::{errors::Errors, names, path::Path};
use crate::in_process::fields::{nanos, written};

/// An amount in billionths; nothing for what can't be read, which has been refused before.
pub(in crate::in_process) fn amount(quantity: &str) -> i128 {
    nanos(quantity).unwrap_or_default()
}

/// An amount that must not be negative.
pub(in crate::in_process) fn not_negative(errors: &mut Errors, path: &Path<'_>, quantity: &str) {
    if amount(quantity) < 0 {
        errors.invalid(path, quantity, "must be greater than or equal to 0");
    }
}

/// An amount of a resource: some are counted in whole numbers.
pub(in crate::in_process) fn of(errors: &mut Errors, path: &Path<'_>, resource: &str, quantity: &str) {
    not_negative(errors, path, quantity);
    // What is less than a thousandth counts as one.
    let thousandths = amount(quantity).div_euclid(1_000_000) + i128::from(amount(quantity) % 1_000_000 > 0);
    if is_counted(resource) && thousandths % 1000 != 0 {
        errors.invalid(path, quantity, "must be an integer");
    }
}

const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

const MEASURED: [&str; 11] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "storage",
    "requests.storage",
];

fn is_counted(resource: &str) -> bool {
    COUNTED.contains(&resource) || is_extended(resource)
}

/// Whether Kubernetes itself knows a resource.
fn is_native(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}

/// Whether a resource is one that a device plugin or an administrator has added.
fn is_extended(resource: &str) -> bool {
    !is_native(resource)
        && !resource.starts_with("requests.")
        && names::qualified(&format!("requests.{resource}")).is_empty()
}

/// Whether a resource is huge pages of some size.
pub(in crate::in_process) fn is_huge_pages(resource: &str) -> bool {
    resource.starts_with("hugepages-")
}

/// Whether more of a resource may be allowed than is asked for.
pub(in crate::in_process) fn may_be_overcommitted(resource: &str) -> bool {
    is_native(resource) && !is_huge_pages(resource)
}

/// What is wrong with an amount of huge pages.
pub(in crate::in_process) fn huge_pages(resource: &str, quantity: &str) -> Option<String> {
    let size = nanos(resource.strip_prefix("hugepages-")?).ok().filter(|size| *size > 0);
    let divisible = size.is_some_and(|size| amount(quantity) % size == 0);
    (!divisible).then(|| format!("{quantity} is not positive integer multiple of {resource}"))
}

/// The name of a resource.
fn name(errors: &mut Errors, path: &Path<'_>, resource: &str) -> bool {
    let wrong = names::qualified(resource);
    errors.all_invalid(path, resource, &wrong);
    if !wrong.is_empty() {
        return false;
    }
    let quota = resource.starts_with("hugepages-") || resource.starts_with("requests.hugepages-");
    let known = COUNTED.contains(&resource) || MEASURED.contains(&resource) || quota;
    if !resource.contains('/') && !known {
        errors.invalid(path, resource, "must be a standard resource type or fully qualified");
    }
    known || resource.contains('/')
}

/// The name of a resource that containers use.
pub(in crate::in_process) fn container_resource(errors: &mut Errors, path: &Path<'_>, resource: &str) {
    name(errors, path, resource);
    if resource.matches('/').count() == 0 {
        let known = matches!(resource, "cpu" | "memory" | "ephemeral-storage") || is_huge_pages(resource);
        if !known {
            errors.invalid(path, resource, "must be a standard resource for containers");
        }
    } else if !is_native(resource) && !is_extended(resource) {
        errors.invalid(path, resource, "doesn't follow extended resource name standard");
    }
}

/// The name of a resource that a quota limits.
pub(in crate::in_process) fn quota_resource(errors: &mut Errors, path: &Path<'_>, resource: &str) {
    name(errors, path, resource);
    if !resource.contains('/') && !is_of_quotas(resource) {
        errors.invalid(path, resource, "must be a standard resource for quota");
    }
}

/// Whether Kubernetes itself knows a resource of quotas.
pub(in crate::in_process) fn is_of_quotas(resource: &str) -> bool {
    let pages = is_huge_pages(resource) || resource.starts_with("requests.hugepages-");
    pages || COUNTED.contains(&resource) || MEASURED.contains(&resource) && resource != "storage"
}

/// The name of any resource.
pub(in crate::in_process) fn any_resource(errors: &mut Errors, path: &Path<'_>, resource: &str) {
    name(errors, path, resource);
}

/// The name of a resource that a pod as a whole uses.
pub(in crate::in_process) fn pod_resource(errors: &mut Errors, path: &Path<'_>, resource: &str) {
    if name(errors, path, resource) && !matches!(resource, "cpu" | "memory") && !is_huge_pages(resource) {
        errors.not_supported(path, resource, &["cpu", "hugepages-", "memory"]);
    }
}

/// An amount in the form that another one has.
pub(in crate::in_process) fn written_like(other: &str, amount: i128) -> String {
    written(other, amount)
}
