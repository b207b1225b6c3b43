//! The addresses of Services and their families. Pure.
//!
//! The cluster has addresses of IPv4 only, as a cluster has by default.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::{
    super::{
        errors::Errors,
        path::Path,
        read::{at, count, items, text},
    },
    ip,
    service::SPEC,
};
use crate::in_process::failure::Cause;

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const CHANGED: &str = "may not change once set";

/// Whether a Service has no address, on purpose.
pub(super) fn is_headless(spec: &Value) -> bool {
    at(spec, "clusterIPs").as_array().is_some_and(|addresses| *addresses == [json!("None")])
}

fn texts<'v>(spec: &'v Value, field: &str) -> Vec<&'v str> {
    items(spec, field).map(|(_, one)| one.as_str().unwrap_or_default()).collect()
}

fn family(address: &str) -> &'static str {
    match ip::lenient(address) {
        Some(IpAddr::V6(_)) => "IPv6",
        _ => "IPv4",
    }
}

/// A list as Go shows one that is empty or absent.
fn list(spec: &Value, field: &str) -> Value {
    at(spec, field).clone()
}

/// How addresses, families and the policy about them belong together.
pub(super) fn related(spec: &Value, before: &Value, errors: &mut Errors) {
    if text(spec, "type") == "ExternalName" {
        return;
    }
    let path = SPEC.child("clusterIPs");
    let (one, all, shown) = (text(spec, "clusterIP"), texts(spec, "clusterIPs"), list(spec, "clusterIPs"));
    match (one, all.first()) {
        ("", None) => {}
        ("", Some(_)) => errors.invalid(&path, &shown, "must be empty when `clusterIP` is not specified"),
        (_, None) => errors.required(&path, ""),
        (one, Some(first)) if one != *first => {
            errors.invalid(&path, &shown, "first value must match `clusterIP`");
        }
        _ => {}
    }
    let families = texts(spec, "ipFamilies");
    for (index, family) in families.iter().enumerate() {
        let all = SPEC.child("ipFamilies");
        if !FAMILIES.contains(family) {
            errors.not_supported(&all.index(index), *family, &FAMILIES);
        }
        if families[..index].contains(family) {
            errors.duplicate(&all.index(index), *family);
        }
    }
    const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    if let Some(policy) = at(spec, "ipFamilyPolicy").as_str().filter(|policy| !POLICIES.contains(policy)) {
        errors.not_supported(&SPEC.child("ipFamilyPolicy"), policy, &POLICIES);
    }
    let (known, mut malformed) = (texts(before, "clusterIPs"), false);
    for (index, address) in all.iter().enumerate() {
        if index == 0 && *address == "None" {
            if all.len() > 1 {
                malformed = true;
                errors.invalid(&path, &shown, "'None' must be the first and only value");
            }
            continue;
        }
        malformed |= !ip::address(errors, &path.index(index), address, &known);
    }
    if all.len() > 2 {
        errors.invalid(&path, &shown, "may only hold up to 2 values");
    }
    if malformed {
        return;
    }
    if all.len() > 1 && !(all.len() == 2 && family(all[0]) != family(all[1])) {
        errors.invalid(&path, &shown, "may specify no more than one IP for each IP family");
    }
    if !is_headless(spec) {
        for (index, (address, wanted)) in all.iter().zip(&families).enumerate() {
            if FAMILIES.contains(wanted) && family(address) != *wanted {
                let detail = format!("expected an {wanted} value as indicated by `ipFamilies[{index}]`");
                errors.invalid(&path.index(index), *address, &detail);
            }
        }
    }
}

/// What is wrong with addresses and families before any are allocated, which is looked at before all other fields.
pub(in crate::in_process) fn initial(spec: &Value, before: &Value) -> Vec<Cause> {
    let mut errors = Errors::default();
    if text(spec, "type") == "ExternalName" || is_settled(spec, before) {
        return Vec::new();
    }
    related(spec, before, &mut errors);
    if !errors.is_empty() {
        return errors.into_causes();
    }
    let (policy_path, policy) = (SPEC.child("ipFamilyPolicy"), text(spec, "ipFamilyPolicy"));
    let (addresses, families) = (texts(spec, "clusterIPs"), texts(spec, "ipFamilies"));
    if policy == "SingleStack" {
        // Those that were there before are reduced to one.
        for (what, field) in [("cluster IPs", "clusterIPs"), ("IP families", "ipFamilies")] {
            if count(spec, field) == 2 && at(spec, field) != at(before, field) {
                let detail = format!(
                    "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                );
                errors.invalid(&policy_path, policy, &detail);
            }
        }
    }
    if policy != "SingleStack" {
        for (what, field) in [("cluster IP", "clusterIPs"), ("IP family", "ipFamilies")] {
            if (1..count(before, field)).contains(&count(spec, field)) {
                let detail = format!("must be 'SingleStack' to release the secondary {what}");
                errors.invalid(&policy_path, policy, &detail);
            }
        }
    }
    let all = SPEC.child("clusterIPs");
    for (index, address) in addresses.iter().enumerate().take_while(|(_, address)| **address != "None") {
        if index >= families.len() && family(address) == "IPv6" {
            let shown = list(spec, "clusterIPs");
            errors.invalid(&all.index(index), &shown, "IPv6 is not configured on this cluster");
        }
    }
    if !errors.is_empty() || text(spec, "clusterIP") == "None" && count(spec, "selector") == 0 {
        return errors.into_causes();
    }
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        errors.invalid(&policy_path, policy, detail);
    }
    let all = SPEC.child("ipFamilies");
    for (index, family) in families.iter().enumerate().filter(|(_, family)| **family == "IPv6") {
        errors.invalid(&all.index(index), *family, "not configured on this cluster");
    }
    errors.into_causes()
}

/// Whether a change leaves all of it as it was decided before.
fn is_settled(spec: &Value, before: &Value) -> bool {
    const FIELDS: [&str; 3] = ["ipFamilyPolicy", "clusterIPs", "ipFamilies"];
    text(before, "ipFamilyPolicy") == "PreferDualStack"
        && FIELDS.iter().all(|field| at(spec, field) == at(before, field))
}

/// What is wrong with an address that a Service asks for. A dry run looks at nothing but the range.
pub(in crate::in_process) fn allocated(
    spec: &Value,
    address: &str,
    is_taken: bool,
    dry_run: bool,
) -> Option<Cause> {
    let IpAddr::V4(wanted) = ip::lenient(address)? else { return None };
    let is_in_range = match wanted.octets() {
        [10, 96, 0, 0] | [10, 96, 255, 255] => false,
        octets => octets.starts_with(&[10, 96]),
    };
    let why = match (is_in_range, dry_run) {
        (true, false) if is_taken => "provided IP is already allocated".to_owned(),
        (true, _) => return None,
        (false, false) => "the provided network does not match the current range".to_owned(),
        (false, true) => {
            format!(
                "the provided IP ({wanted}) is not in the valid range. The range of valid IPs is 10.96.0.0/16"
            )
        }
    };
    let mut errors = Errors::default();
    let shown = list(spec, "clusterIPs");
    errors.invalid(&SPEC.child("clusterIPs"), &shown, &format!("failed to allocate IP {address}: {why}"));
    errors.into_causes().into_iter().next()
}

/// What a change may not do to addresses and families.
pub(super) fn kept(spec: &Value, before: &Value, errors: &mut Errors) {
    if [spec, before].iter().any(|spec| text(spec, "type") == "ExternalName") {
        return;
    }
    let (headless, was_headless) = (is_headless(spec), is_headless(before));
    if !(headless && was_headless) {
        let released = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        list_kept(spec, before, "clusterIPs", ("primary clusterIP can not be unset", released), errors);
    }
    if !headless && !was_headless {
        let released = "must be set to 'SingleStack' when releasing the secondary ipFamily";
        list_kept(spec, before, "ipFamilies", ("primary ipFamily can not be unset", released), errors);
    }
}

fn list_kept(
    spec: &Value,
    before: &Value,
    field: &str,
    (unset, released): (&str, &str),
    errors: &mut Errors,
) {
    let all: Path<'_> = SPEC.child(field);
    let (new, old) = (texts(spec, field), texts(before, field));
    let shown = list(spec, field);
    let addresses = list(spec, "clusterIPs");
    if new.len() == old.len() {
        for (index, _) in new.iter().zip(&old).enumerate().filter(|(_, (new, old))| new != old) {
            let index = if field == "clusterIPs" { index } else { 0 };
            errors.invalid(&all.index(index), &shown, CHANGED);
        }
        return;
    }
    if new.len() < old.len() && count(spec, "clusterIPs") == 0 {
        errors.invalid(&all.index(0), &shown, unset);
    }
    if let (Some(new), Some(old)) = (new.first(), old.first())
        && new != old
    {
        errors.invalid(&all.index(0), &addresses, CHANGED);
    }
    let policy = at(spec, "ipFamilyPolicy");
    if new.len() < old.len() && new.len() == 1 && policy != "SingleStack" {
        errors.invalid(&SPEC.child("ipFamilyPolicy"), policy, released);
    }
}
