//! Default names and namespaces.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use sha2::{Digest, Sha256};

use crate::resource::{ObjectKey, digits};

/// The maximum length of a DNS label.
const LONGEST: usize = 63;

/// The number of digits in the hash after a name that had to be changed.
const DIGITS: usize = 8;

/// Adds a missing name or namespace to a wanted object: the namespace is the primary's, and the name consists of those of
/// the primary and the node. `only`: it is the node's only object, so it needs no name that distinguishes it from others.
pub(crate) fn complete(
    meta: &mut ObjectMeta,
    namespaced: bool,
    primary: &ObjectKey,
    node: &str,
    only: bool,
) -> Result<(), &'static str> {
    if meta.name.as_deref().unwrap_or_default().is_empty() {
        if !only {
            return Err("each of several objects needs a name of its own, in `metadata.name`");
        }
        meta.name = Some(default_name(primary.name(), node));
    }
    if !namespaced || meta.namespace.as_deref().is_some_and(|namespace| !namespace.is_empty()) {
        return Ok(());
    }
    match primary.namespace() {
        Some(namespace) => meta.namespace = Some(namespace.to_owned()),
        None => {
            return Err("its primary has no namespace, so it needs one of its own, in `metadata.namespace`");
        }
    }
    Ok(())
}

/// `page-web` for the primary `page` and the node `web`: a DNS label. If dots had to be replaced, or the name would be
/// too long, a hash keeps names apart that would otherwise be equal.
fn default_name(primary: &str, node: &str) -> String {
    let plain = format!("{primary}-{node}").to_lowercase();
    let label: String = plain.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let label = label.trim_end_matches('-');
    // An underscore is a hyphen in any function's name.
    if label.len() <= LONGEST && label == plain.replace('_', "-") {
        return label.to_owned();
    }
    let hash = digits(Sha256::digest(&plain), DIGITS);
    let kept: String = label.chars().take(LONGEST - DIGITS - 1).collect();
    format!("{}-{hash}", kept.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_primary_and_node() {
        assert_eq!(default_name("page", "web"), "page-web");
        assert_eq!(default_name("page", "of_team"), "page-of-team");
        assert_eq!(default_name("page", "Records"), "page-records");
    }

    #[test]
    fn what_had_to_be_changed_is_told_apart_by_a_hash() {
        let (dots, hyphens) = (default_name("a.b", "web"), default_name("a-b", "web"));
        assert!(dots.starts_with("a-b-web-") && dots != hyphens, "{dots}");
        let long = default_name(&"a".repeat(100), "web");
        assert_eq!(long.len(), LONGEST);
        assert_ne!(long, default_name(&"a".repeat(100), "html"));
        for name in [dots, long, default_name("a", "größe"), default_name("a", "_")] {
            let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(allowed) && !name.ends_with('-'), "{name}");
        }
    }

    #[test]
    fn what_is_said_stays() {
        let said = || ObjectMeta {
            name: Some("mine".to_owned()),
            namespace: Some("bank".to_owned()),
            ..ObjectMeta::default()
        };
        let (primary, everywhere) =
            (ObjectKey::namespaced("shop", "page"), ObjectKey::cluster_scoped("page"));
        let completed = |mut meta: ObjectMeta, namespaced, primary: &ObjectKey, only| {
            complete(&mut meta, namespaced, primary, "web", only).map(|()| (meta.namespace, meta.name))
        };
        let found =
            |namespace: Option<&str>, name: &str| Ok((namespace.map(str::to_owned), Some(name.to_owned())));
        assert_eq!(completed(said(), true, &primary, true), found(Some("bank"), "mine"));
        assert_eq!(completed(ObjectMeta::default(), true, &primary, true), found(Some("shop"), "page-web"));
        assert_eq!(completed(ObjectMeta::default(), false, &primary, true), found(None, "page-web"));
        assert!(
            completed(ObjectMeta::default(), true, &primary, false).is_err_and(|why| why.contains("name"))
        );
        assert!(completed(ObjectMeta::default(), true, &everywhere, true).is_err());
        assert_eq!(completed(said(), true, &everywhere, true), found(Some("bank"), "mine"));
    }
}
