//! IP addresses, networks and MAC addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address as Go's old parser read it: leading zeros are allowed.
pub(in crate::in_process) fn sloppy_ip(text: &str) -> Option<IpAddr> {
    if let Some((before, last)) = text.rsplit_once(':') {
        if !last.contains('.') {
            return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
        }
        let last = sloppy_ipv4(last)?;
        return format!("{before}:{last}").parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    sloppy_ipv4(text).map(IpAddr::V4)
}

fn sloppy_ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut bytes = [0; 4];
    let mut parts = text.split('.');
    for byte in &mut bytes {
        let part = parts.next()?;
        if part.is_empty() || !part.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        *byte = part.parse().ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(bytes))
}

/// A network as Go's old parser read it.
pub(in crate::in_process) fn sloppy_cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address = sloppy_ip(address)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    if length.is_empty() || length.len() > 3 || !length.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let length: u8 = length.parse().ok()?;
    (length <= most).then_some((address, length))
}

/// Whether a text is a hardware address: six, eight or twenty bytes, with signs between them or without.
pub(in crate::in_process) fn is_mac(text: &str) -> bool {
    let hex = |part: &str, width: usize| part.len() == width && part.bytes().all(|b| b.is_ascii_hexdigit());
    let of = |sign: char, width: usize, counts: [usize; 3]| {
        let parts: Vec<&str> = text.split(sign).collect();
        counts.contains(&parts.len()) && parts.iter().all(|part| hex(part, width))
    };
    let plain = [12, 16, 40].iter().any(|width| hex(text, *width));
    plain || of(':', 2, [6, 8, 20]) || of('-', 2, [6, 8, 20]) || of('.', 4, [3, 4, 10])
}

/// An address without the bits after a prefix.
pub(in crate::in_process) fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or_default();
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or_default();
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_read() {
        assert_eq!(sloppy_ip("010.0.0.1"), Some(IpAddr::from([10, 0, 0, 1])));
        assert!(
            sloppy_ip("10.0.0").is_none() && sloppy_ip("1.2.3.256").is_none() && sloppy_ip("::1").is_some()
        );
        assert!(sloppy_cidr("10.0.0.0/33").is_none() && sloppy_cidr("2001:db8::/32").is_some());
        assert!(
            is_mac("0123456789ab")
                && is_mac("01:23:45:67:89:ab")
                && is_mac("0123.4567.89ab")
                && !is_mac("01:23:45:67:89")
        );
        assert_eq!(masked(IpAddr::from([10, 1, 2, 3]), 8), IpAddr::from([10, 0, 0, 0]));
    }
}
