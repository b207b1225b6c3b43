//! Addresses, networks and URLs.

use std::{net::IpAddr, sync::Arc};

use super::super::value::{Error, Result, Val};
use crate::in_process::go::{address::masked, uri::Uri};

pub(super) fn apply<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    Some(match (function, values) {
        ("ip", [Val::String(text)]) => ip(text).map(Val::Ip).map_err(Error::new),
        ("isIP", [Val::String(text)]) => Ok(Val::Bool(ip(text).is_ok())),
        ("ip.isCanonical", [Val::String(text)]) => {
            ip(text).map(|address| Val::Bool(address.to_string() == **text)).map_err(Error::new)
        }
        ("family", [Val::Ip(address)]) => Ok(Val::Int(if address.is_ipv4() { 4 } else { 6 })),
        ("isUnspecified", [Val::Ip(address)]) => Ok(Val::Bool(address.is_unspecified())),
        ("isLoopback", [Val::Ip(address)]) => Ok(Val::Bool(address.is_loopback())),
        ("isLinkLocalMulticast", [Val::Ip(address)]) => Ok(Val::Bool(is_link_local_multicast(*address))),
        ("isLinkLocalUnicast", [Val::Ip(address)]) => Ok(Val::Bool(is_link_local(*address))),
        ("isGlobalUnicast", [Val::Ip(address)]) => Ok(Val::Bool(is_global(*address))),
        ("cidr", [Val::String(text)]) => {
            cidr(text).map(|(address, length)| Val::Cidr(address, length)).map_err(|why| {
                Error::new(format!("network address parse error during conversion from string: {why}"))
            })
        }
        ("isCIDR", [Val::String(text)]) => Ok(Val::Bool(cidr(text).is_ok())),
        ("ip", [Val::Cidr(address, _)]) => Ok(Val::Ip(*address)),
        ("prefixLength", [Val::Cidr(_, length)]) => Ok(Val::Int((*length).into())),
        ("masked", [Val::Cidr(address, length)]) => Ok(Val::Cidr(masked(*address, *length), *length)),
        ("containsIP", [Val::Cidr(network, length), Val::Ip(address)]) => {
            Ok(Val::Bool(contains(*network, *length, *address)))
        }
        ("containsIP", [Val::Cidr(network, length), Val::String(text)]) => {
            ip(text).map(|address| Val::Bool(contains(*network, *length, address))).map_err(Error::new)
        }
        ("containsCIDR", [Val::Cidr(network, length), Val::Cidr(address, other)]) => {
            Ok(Val::Bool(length <= other && contains(*network, *length, masked(*address, *other))))
        }
        ("containsCIDR", [Val::Cidr(network, length), Val::String(text)]) => cidr(text)
            .map(|(address, other)| {
                Val::Bool(*length <= other && contains(*network, *length, masked(address, other)))
            })
            .map_err(|why| {
                Error::new(format!("network address parse error during conversion from string: {why}"))
            }),
        ("url", [Val::String(text)]) => Uri::url(text)
            .map(|url| Val::Url(Arc::new(url)))
            .map_err(|why| Error::new(format!("URL parse error during conversion from string: {why}"))),
        ("isURL", [Val::String(text)]) => Ok(Val::Bool(Uri::request(text).is_ok())),
        ("getScheme", [Val::Url(url)]) => Ok(Val::text(url.scheme.as_str())),
        ("getHost", [Val::Url(url)]) => Ok(Val::text(url.host.as_str())),
        ("getHostname", [Val::Url(url)]) => Ok(Val::text(url.hostname())),
        ("getPort", [Val::Url(url)]) => Ok(Val::text(url.port())),
        ("getEscapedPath", [Val::Url(url)]) => Ok(Val::text(url.path.as_str())),
        ("getQuery", [Val::Url(url)]) => {
            let entries = url.parameters().into_iter().filter_map(|(name, values)| {
                let key = Val::text(name);
                Some((key.key()?, (key, Val::list(values.into_iter().map(Val::text).collect()))))
            });
            Ok(Val::Map(Arc::new(entries.collect())))
        }
        _ => return None,
    })
}

fn ip(text: &str) -> std::result::Result<IpAddr, String> {
    let address: IpAddr = match text.parse() {
        Ok(address) => address,
        Err(_) if text.contains('%') => {
            return Err(format!("IP address {text:?} with zone value is not allowed"));
        }
        Err(_) => {
            return Err(format!(
                "IP Address {text:?} parse error during conversion from string: ParseAddr({text:?}): unable to parse IP"
            ));
        }
    };
    match address {
        IpAddr::V6(inner) if inner.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
        }
        address => Ok(address),
    }
}

fn cidr(text: &str) -> std::result::Result<(IpAddr, u8), String> {
    let no = |why: &str| format!("netip.ParsePrefix({text:?}): {why}");
    let (address, length) = text.rsplit_once('/').ok_or_else(|| no("no '/'"))?;
    let address: IpAddr =
        address.parse().map_err(|_| no(&format!("ParseAddr({address:?}): unable to parse IP")))?;
    if let IpAddr::V6(inner) = address
        && inner.to_ipv4_mapped().is_some()
    {
        return Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"));
    }
    let is_number = !length.is_empty() && length.bytes().all(|digit| digit.is_ascii_digit());
    let plain = is_number && (length.len() == 1 || !length.starts_with('0'));
    let bits: u8 = match length.parse() {
        Ok(bits) if plain => bits,
        _ => return Err(no(&format!("bad bits after slash: {length:?}"))),
    };
    if bits > if address.is_ipv4() { 32 } else { 128 } {
        return Err(no("prefix length out of range"));
    }
    Ok((address, bits))
}

fn contains(network: IpAddr, length: u8, address: IpAddr) -> bool {
    network.is_ipv4() == address.is_ipv4() && masked(network, length) == masked(address, length)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_global(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !broadcast
        && !address.is_unspecified()
        && !address.is_loopback()
        && !address.is_multicast()
        && !is_link_local(address)
}
