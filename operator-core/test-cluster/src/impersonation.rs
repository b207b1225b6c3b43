//! Requests as another user.

use kube::Config;

/// The configuration for another user than the administrator, who impersonates `user`.
pub(crate) fn acting_as(mut config: Config, user: &str, groups: &[&str]) -> Config {
    config.auth_info.impersonate = Some(user.to_owned());
    config.auth_info.impersonate_groups =
        (!groups.is_empty()).then(|| groups.iter().map(|group| (*group).to_owned()).collect());
    config
}
