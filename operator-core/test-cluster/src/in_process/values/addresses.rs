//! Addresses of IP.

use std::net::IpAddr;

use super::{errors::Errors, path::Path};

/// An address in one of its usual forms.
pub(in crate::in_process) fn address(errors: &mut Errors, path: &Path<'_>, value: &str) {
    match value.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            errors.invalid(path, value, "must not be an IPv4-mapped IPv6 address");
        }
        Ok(_) => {}
        Err(_) if has_zeros_in_front(value) => errors.invalid(path, value, "must not have leading 0s"),
        Err(_) => {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.invalid(path, value, detail);
        }
    }
}

/// Whether it would be an address if there were fewer zeros.
fn has_zeros_in_front(value: &str) -> bool {
    let part = |part: &str| {
        let short = part.trim_start_matches('0');
        if short.is_empty() && !part.is_empty() { "0".to_owned() } else { short.to_owned() }
    };
    let shorter: Vec<String> = value.split('.').map(part).collect();
    shorter.join(".").parse::<std::net::Ipv4Addr>().is_ok()
}
