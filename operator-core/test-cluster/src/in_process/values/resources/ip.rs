//! Addresses and ranges of addresses, as fields have them that are older than the rules for them. Pure.

use std::net::{IpAddr, Ipv4Addr};

use super::super::{errors::Errors, names, path::Path};

/// An address that may have zeros in front of its numbers.
pub(super) fn lenient(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let numbers: Option<Vec<u8>> = text.split('.').map(number).collect();
    let octets: [u8; 4] = numbers?.try_into().ok()?;
    Some(IpAddr::V4(Ipv4Addr::from(octets)))
}

fn number<N: TryFrom<u32>>(text: &str) -> Option<N> {
    let right = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    N::try_from(text.parse().ok().filter(|_| right)?).ok()
}

fn is_mapped(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// An address. One that was there before is not looked at again.
pub(super) fn address(errors: &mut Errors, path: &Path<'_>, text: &str, old: &[&str]) -> bool {
    if old.contains(&text) {
        return true;
    }
    let wrong = match lenient(text) {
        None => "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        Some(_) if text.parse::<IpAddr>().is_err() => "must not have leading 0s",
        Some(address) if is_mapped(&address) => "must not be an IPv4-mapped IPv6 address",
        Some(_) => return true,
    };
    errors.invalid(path, text, wrong);
    false
}

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    first: u128,
    bits: u32,
    of: u32,
}

impl Range {
    /// Whether another range is a part of this one, and smaller.
    pub(super) fn has_part(&self, other: &Self) -> bool {
        self.of == other.of && self.bits < other.bits && self.masked(other.first) == self.first
    }

    fn masked(&self, address: u128) -> u128 {
        let free = self.of - self.bits;
        if free >= 128 { 0 } else { address >> free << free }
    }
}

fn bits_of(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

/// The range that a text means, and whether its address has more bits than the range.
fn parsed(text: &str) -> Option<(Range, bool)> {
    let (address, bits) = text.split_once('/')?;
    let (all, of) = bits_of(lenient(address)?);
    let bits = number::<u32>(bits).filter(|bits| *bits <= of)?;
    let range = Range { first: all, bits, of };
    let first = range.masked(all);
    Some((Range { first, ..range }, first != all))
}

/// A range of addresses, read if possible. One that was there before is not looked at again.
pub(super) fn range(errors: &mut Errors, path: &Path<'_>, text: &str, old: &[&str]) -> Option<Range> {
    let found = parsed(text);
    if old.contains(&text) {
        return found.map(|(range, _)| range);
    }
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let has_zeros = address.parse::<IpAddr>().is_err() || bits.len() > 1 && bits.starts_with('0');
    let wrong = match found {
        None => "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        Some(_) if has_zeros => "must not have leading 0s in IP or prefix length",
        Some(_) if lenient(address).is_some_and(|address| is_mapped(&address)) => {
            "must not have an IPv4-mapped IPv6 address"
        }
        Some((_, true)) => "must not have bits set beyond the prefix length",
        Some((range, false)) => return Some(range),
    };
    errors.invalid(path, text, wrong);
    found.map(|(range, _)| range)
}

/// An address that isn't one of those with a meaning of their own.
pub(super) fn ordinary(errors: &mut Errors, path: &Path<'_>, text: &str) {
    let Some(address) = lenient(text) else { return };
    if address.is_unspecified() {
        errors.invalid(path, text, &format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        errors.invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (link, group) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(address) => (address.is_unicast_link_local(), address.segments()[0] & 0xff0f == 0xff02),
    };
    if link {
        errors.invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if group {
        let detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
        errors.invalid(path, text, detail);
    }
}

/// The name of a host in a status, which must not be an address.
pub(super) fn host(errors: &mut Errors, path: &Path<'_>, host: &str) {
    errors.all_invalid(path, host, &names::dns_subdomain(host));
    if lenient(host).is_some() {
        errors.invalid(path, host, "must be a DNS name, not an IP address");
    }
}
