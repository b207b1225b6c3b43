use std::error::Error as _;

use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::BoxError;

use super::*;

fn with_version(version: &str) -> ConfigMap {
    let data = [("version".to_owned(), version.to_owned())];
    ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
}

fn is_on(constraint: &str, version: &str) -> Result<bool, Permanent> {
    feature(constraint, |map: &ConfigMap| &map.data.as_ref().expect("data")["version"])(&with_version(
        version,
    ))
}

#[test]
fn a_version_fulfils_a_constraint_or_does_not() {
    let rows = [
        (">=1.8, <2", "1.8.0", true),
        (">=1.8, <2", "1.99.3", true),
        (">=1.8, <2", "1.7.9", false),
        (">=1.8, <2", "2.0.0", false),
        // As in Cargo, a pre-release is met only by who names one of that version.
        (">=1.8, <2", "1.9.0-rc.1", false),
        (">=1.9.0-rc.1", "1.9.0-rc.2", true),
        ("1.8", "1.12.0", true),
        ("=1.8", "1.9.0", false),
        ("*", "0.1.0", true),
    ];
    for (constraint, version, expected) in rows {
        assert_eq!(
            is_on(constraint, version).expect("both are right"),
            expected,
            "{constraint} of {version}"
        );
    }
}

#[test]
fn what_is_not_a_version_or_a_constraint_is_an_error_that_names_it() {
    let rows = [
        (">=1.8, <2", "1.9", "`1.9` isn't a version, such as `1.8.0`"),
        (">=1.8, <2", "v1.9.0", "`v1.9.0` isn't a version, such as `1.8.0`"),
        (">=1.8, <2", "", "`` isn't a version, such as `1.8.0`"),
        ("at least 1.8", "1.9.0", "`at least 1.8` isn't a constraint for versions, such as `>=1.8, <2`"),
        ("", "1.9.0", "`` isn't a constraint for versions, such as `>=1.8, <2`"),
    ];
    for (constraint, version, message) in rows {
        let error = is_on(constraint, version).expect_err("one of them is wrong");
        assert_eq!(error.to_string(), message);
        let inner = error.get_ref().downcast_ref::<FeatureError>().expect("its type is kept");
        assert!(inner.source().is_some(), "{inner:?}");
        // A retry can't help, which the error says through any box.
        assert!(BoxError::from(error).is::<Permanent>());
    }
}
