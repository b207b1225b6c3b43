//! URLs as Go's `net/url` takes them apart.

use crate::in_process::values::quoted;

/// The parts of a URL that rules can ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::in_process) struct Uri {
    pub(in crate::in_process) scheme: String,
    /// With the port; an IPv6 address in brackets.
    pub(in crate::in_process) host: String,
    /// As it was written, or escaped.
    pub(in crate::in_process) path: String,
    /// As it was written.
    pub(in crate::in_process) query: String,
    /// The whole text.
    pub(in crate::in_process) text: String,
}

/// Which part of a URL is unescaped: each has signs of its own that need no escape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    /// The zone of an IPv6 address.
    Zone,
    Other,
}

impl Uri {
    /// Reads an absolute URL or an absolute path, as it stands in a request; the error is Go's.
    pub(in crate::in_process) fn request(text: &str) -> Result<Self, String> {
        Self::parse(text, true).map_err(|why| format!("parse {}: {why}", quoted(text)))
    }

    /// The same, with a fragment, which isn't in requests.
    pub(in crate::in_process) fn url(text: &str) -> Result<Self, String> {
        Self::request(text)?;
        let (begin, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut uri = Self::parse(begin, false).map_err(|why| format!("parse {}: {why}", quoted(begin)))?;
        unescape(fragment, Part::Other).map_err(|why| format!("parse {}: {why}", quoted(text)))?;
        text.clone_into(&mut uri.text);
        Ok(uri)
    }

    fn parse(text: &str, is_request: bool) -> Result<Self, String> {
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text.is_empty() && is_request {
            return Err("empty url".to_owned());
        }
        let mut uri = Self { text: text.to_owned(), ..Self::default() };
        if text == "*" {
            text.clone_into(&mut uri.path);
            return Ok(uri);
        }
        let (scheme, rest) = scheme(text)?;
        uri.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        query.clone_into(&mut uri.query);
        if !rest.starts_with('/') {
            if !uri.scheme.is_empty() {
                return Ok(uri);
            }
            if is_request {
                return Err("invalid URI for request".to_owned());
            }
            if rest.split('/').next().is_some_and(|first| first.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        let may_have_host = !uri.scheme.is_empty() || !is_request && !rest.starts_with("///");
        if let Some(after) = rest.strip_prefix("//").filter(|_| may_have_host) {
            let at = after.find('/').unwrap_or(after.len());
            path = &after[at..];
            uri.host = authority(&uri.scheme, &after[..at])?;
        }
        uri.path = escaped(path, &unescape(path, Part::Other)?);
        Ok(uri)
    }

    /// The host without its port and brackets.
    pub(in crate::in_process) fn hostname(&self) -> &str {
        match (self.host.rsplit_once(':'), self.host.split_once(']')) {
            (None, _) => &self.host,
            (Some(_), Some((inner, _))) => inner.strip_prefix('[').unwrap_or(inner),
            (Some((name, _)), None) => name,
        }
    }

    /// The port; empty if there is none.
    pub(in crate::in_process) fn port(&self) -> &str {
        match (self.host.split_once("]:"), self.host.contains(']')) {
            (Some((_, port)), _) => port,
            (None, true) => "",
            (None, false) => self.host.rsplit_once(':').map_or("", |(_, port)| port),
        }
    }

    /// The parameters of the query, by name, in the order of their names.
    pub(in crate::in_process) fn parameters(&self) -> std::collections::BTreeMap<String, Vec<String>> {
        let mut all = std::collections::BTreeMap::<_, Vec<String>>::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(name), Some(value)) = (unescaped(name), unescaped(value)) {
                all.entry(name).or_default().push(value);
            }
        }
        all
    }
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

/// The host of an authority, with its port; what is in front of it must be readable.
fn authority(scheme: &str, authority: &str) -> Result<String, String> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let host = self::host(scheme, host)?;
    let Some(user) = user else { return Ok(host) };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(letter);
    if !user.chars().all(is_plain) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    unescape(user, Part::Other)?;
    Ok(host)
}

fn host(scheme: &str, host: &str) -> Result<String, String> {
    match host.rfind('[') {
        Some(0) => {
            let end = host.rfind(']').ok_or_else(|| "missing ']' in host".to_owned())?;
            let (inner, port) = (&host[1..end], &host[end + 1..]);
            check_port(port)?;
            let zone = inner.find("%25").unwrap_or(inner.len());
            let address = unescape(&inner[..zone], Part::Host)?;
            let zone = unescape(&inner[zone..], Part::Zone)?;
            let whole = format!("{address}{zone}");
            let (plain, zone) =
                whole.split_once('%').map_or((&*whole, None), |(plain, zone)| (plain, Some(zone)));
            let is_readable = match plain.parse::<std::net::IpAddr>() {
                Ok(address) => address.is_ipv6() && zone != Some("") || address.is_ipv4() && zone.is_none(),
                Err(_) => false,
            };
            if !is_readable {
                return Err(format!("invalid host: ParseAddr({}): unable to parse IP", quoted(&whole)));
            }
            if plain.parse::<std::net::Ipv4Addr>().is_ok() {
                return Err("invalid IP-literal".to_owned());
            }
            return Ok(format!("[{whole}]{port}"));
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Several colons are something that only schemes other than these have.
    let strict = matches!(scheme, "http" | "https");
    if let Some(colon) = if strict { host.find(':') } else { host.rfind(':') } {
        check_port(&host[colon..])?;
    }
    unescape(host, Part::Host)
}

fn check_port(port: &str) -> Result<(), String> {
    let is_port = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(port) => port.bytes().all(|digit| digit.is_ascii_digit()),
    };
    if is_port { Ok(()) } else { Err(format!("invalid port {} after host", quoted(port))) }
}

/// Whether a host may have a sign as it is.
fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// A text without its escapes; the error is Go's.
fn unescape(text: &str, part: Part) -> Result<String, String> {
    let (bytes, mut out) = (text.as_bytes(), Vec::with_capacity(text.len()));
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'%' {
            if part != Part::Other && byte.is_ascii() && !is_of_host(*byte) {
                let sign = quoted(&char::from(*byte).to_string());
                return Err(format!("invalid character {sign} in host name"));
            }
            out.push(*byte);
            at += 1;
            continue;
        }
        let end = (at..=text.len().min(at + 3)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(at);
        let escape = &text[at..end];
        let value = escape.get(1..3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        // In a host, only what isn't ASCII is escaped; in a zone, only what could stand there as it is.
        let value = value.filter(|value| match part {
            Part::Host => *value >= 0x80 || escape == "%25",
            Part::Zone => escape == "%25" || *value == b' ' || is_of_host(*value),
            Part::Other => true,
        });
        let Some(value) = value else { return Err(format!("invalid URL escape {}", quoted(escape))) };
        out.push(value);
        at += 3;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A path as it was written, if all of it could stand there; otherwise what it means, escaped anew.
fn escaped(path: &str, meaning: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte);
    if path.bytes().all(|byte| plain(byte) || b"!'()*%[]".contains(&byte)) {
        return path.to_owned();
    }
    let mut out = String::with_capacity(path.len());
    for byte in meaning.bytes() {
        if plain(byte) { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

/// A part of a query without its escapes.
fn unescaped(text: &str) -> Option<String> {
    unescape(&text.replace('+', " "), Part::Other).ok()
}

#[cfg(test)]
mod tests {
    use super::Uri;

    #[test]
    fn urls_are_taken_apart() {
        let uri = Uri::url("https://[::1]:80/with space?k=a&k=b+c#x").unwrap();
        assert_eq!((uri.hostname(), uri.port(), &*uri.host), ("::1", "80", "[::1]:80"));
        assert_eq!((&*uri.scheme, &*uri.path), ("https", "/with%20space"));
        assert_eq!(uri.parameters()["k"], ["a", "b c"]);
        assert_eq!(Uri::request("/path").unwrap().host, "");
        assert_eq!(Uri::request("mailto:x").unwrap().scheme, "mailto");
    }

    #[test]
    fn what_is_no_url_of_a_request_is_refused() {
        for (text, why) in [
            ("", "empty url"),
            ("host/path", "invalid URI for request"),
            (":x", "missing protocol scheme"),
            ("http://a:b", "invalid port \":b\" after host"),
            ("/%zz", "invalid URL escape \"%zz\""),
            ("http://%41", "invalid URL escape \"%41\""),
            ("http://a b/", "invalid character \" \" in host name"),
            ("http://#@x", "net/url: invalid userinfo"),
            ("http://a:1:2", "invalid port \":1:2\" after host"),
            ("http://[1.2.3.4]", "invalid IP-literal"),
        ] {
            assert_eq!(Uri::request(text), Err(format!("parse {text:?}: {why}")));
        }
    }
}
