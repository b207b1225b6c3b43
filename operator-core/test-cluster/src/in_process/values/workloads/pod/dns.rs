//! Names and addresses that pods use.

use serde_json::Value;

use crate::in_process::values::{
    addresses,
    errors::Errors,
    names,
    path::Path,
    read::{at, count, flag, items, part, text},
};

/// How pods resolve names.
pub(super) fn config(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    let (config, policy) = (part(spec, "dnsConfig"), text(spec, "dnsPolicy"));
    if policy == "None" {
        match config {
            None => return errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None"),
            Some(config) if count(config, "nameservers") == 0 => {
                let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
                return errors.required(&path.child("nameservers"), detail);
            }
            Some(_) => {}
        }
    }
    let Some(config) = config else { return };
    let servers = path.child("nameservers");
    if count(config, "nameservers") > 3 {
        errors.invalid(&servers, at(config, "nameservers"), "must not have more than 3 nameservers");
    }
    for (index, server) in items(config, "nameservers") {
        addresses::address(errors, &servers.index(index), server.as_str().unwrap_or_default());
    }
    let (searches, list) = (path.child("searches"), at(config, "searches"));
    if count(config, "searches") > 32 {
        errors.invalid(&searches, list, "must not have more than 32 search paths");
    }
    let length: usize = items(config, "searches")
        .filter_map(|(_, search)| search.as_str())
        .map(|search| search.len() + 1)
        .sum();
    if length > 2049 {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        errors.invalid(&searches, list, detail);
    }
    for (index, search) in items(config, "searches") {
        let search = search.as_str().unwrap_or_default();
        if search != "." {
            let search = search.strip_suffix('.').unwrap_or(search);
            errors.all_invalid(&searches.index(index), search, &with_underscores(search));
        }
    }
    for (index, option) in items(config, "options") {
        if text(option, "name").is_empty() {
            errors.required(&path.child("options").index(index), "must not be empty");
        }
    }
}

/// A domain name whose parts may have underscores.
fn with_underscores(name: &str) -> Vec<String> {
    let part = |part: &str| {
        let part = part.strip_prefix('_').unwrap_or(part);
        let end =
            |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        end(part.bytes().next()) && end(part.bytes().next_back()) && part.bytes().all(inner)
    };
    let mut wrong = Vec::new();
    if name.len() > 253 {
        wrong.push("must be no more than 253 characters".to_owned());
    }
    if !name.split('.').all(part) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', \
                    and must start and end with an alphanumeric character";
        let label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
        wrong.push(names::mismatch(rule, &format!("{label}(\\.{label})*"), &["example.com"]));
    }
    wrong
}

/// The name that a pod has for itself.
pub(super) fn hostname(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    if part(spec, "hostnameOverride").is_none() {
        return;
    }
    let (path, name) = (path.child("hostnameOverride"), text(spec, "hostnameOverride"));
    if flag(spec, "setHostnameAsFQDN") {
        errors.forbidden(&path, "may not be specified when setHostnameAsFQDN is true");
    }
    if flag(spec, "hostNetwork") {
        errors.forbidden(&path, "may not be specified when hostNetwork is true");
    }
    if name.len() > 64 {
        errors.too_long(&path, 64);
    }
    errors.all_invalid(&path, name, &names::dns_subdomain(name));
}

/// Names that are written into the hosts file of a pod.
pub(super) fn aliases(errors: &mut Errors, path: &Path<'_>, spec: &Value) {
    for (index, alias) in items(spec, "hostAliases") {
        let path = path.index(index);
        addresses::address(errors, &path.child("ip"), text(alias, "ip"));
        let list = path.child("hostnames");
        for (index, name) in items(alias, "hostnames") {
            let name = name.as_str().unwrap_or_default();
            errors.all_invalid(&list.index(index), name, &names::dns_subdomain(name));
        }
    }
}
