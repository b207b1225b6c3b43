//! URLs as Go's `net/url` takes them apart.

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

impl Uri {
    /// Reads an absolute URL or an absolute path, as it stands in a request; the error is Go's.
    pub(in crate::in_process) fn request(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("parse {text:?}: {why}"));
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return wrong("net/url: invalid control character in URL");
        }
        if text.is_empty() {
            return wrong("empty url");
        }
        let mut uri = Self { text: text.to_owned(), ..Self::default() };
        if text == "*" {
            text.clone_into(&mut uri.path);
            return Ok(uri);
        }
        let rest = match scheme(text) {
            Ok((scheme, rest)) => {
                uri.scheme = scheme.to_ascii_lowercase();
                rest
            }
            Err(why) => return wrong(why),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        query.split('#').next().unwrap_or_default().clone_into(&mut uri.query);
        if !rest.starts_with('/') {
            return if uri.scheme.is_empty() { wrong("invalid URI for request") } else { Ok(uri) };
        }
        let mut path = rest;
        if let (false, Some(after)) = (uri.scheme.is_empty(), rest.strip_prefix("//")) {
            let at = after.find('/').unwrap_or(after.len());
            path = &after[at..];
            let authority = &after[..at];
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            if let Err(why) = check_host(host) {
                return wrong(&why);
            }
            host.clone_into(&mut uri.host);
        }
        if let Some(wrong_escape) = wrong_escape(path) {
            return wrong(&format!("invalid URL escape {wrong_escape:?}"));
        }
        uri.path = escaped(path.split('#').next().unwrap_or_default());
        Ok(uri)
    }

    /// The host without its port and brackets.
    pub(in crate::in_process) fn hostname(&self) -> &str {
        match self.host.strip_prefix('[') {
            Some(inner) => inner.split(']').next().unwrap_or_default(),
            None => self.host.rsplit_once(':').map_or(&self.host, |(name, _)| name),
        }
    }

    /// The port; empty if there is none.
    pub(in crate::in_process) fn port(&self) -> &str {
        let after = self.host.rsplit_once(']').map_or(self.host.as_str(), |(_, after)| after);
        after.rsplit_once(':').map_or("", |(_, port)| port)
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

fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme"),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn check_host(host: &str) -> Result<(), String> {
    let port = match host.find('[') {
        Some(0) => {
            let end = host.rfind(']').ok_or_else(|| "missing ']' in host".to_owned())?;
            let inner = host[1..end].split("%25").next().unwrap_or_default();
            if inner.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(
                    "invalid host: ParseAddr(".to_owned() + &format!("{inner:?}): unable to parse IP")
                );
            }
            &host[end + 1..]
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => host.find(':').map_or("", |at| &host[at..]),
    };
    let is_port = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(port) => port.bytes().all(|digit| digit.is_ascii_digit()),
    };
    if !is_port {
        return Err(format!("invalid port {port:?} after host"));
    }
    if let Some(escape) = wrong_escape(host) {
        return Err(format!("invalid URL escape {escape:?}"));
    }
    match host
        .chars()
        .find(|letter| matches!(letter, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}'))
    {
        // The signs `"`, `<` and `>` are allowed in a host.
        Some(letter) if !matches!(letter, '"' | '<' | '>') => {
            Err(format!("invalid character {:?} in host name", letter.to_string()))
        }
        _ => Ok(()),
    }
}

fn wrong_escape(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('%') {
        let start = at + found;
        let digits = bytes.get(start + 1..start + 3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let end = (start..=text.len().min(start + 3)).rev().find(|end| text.is_char_boundary(*end));
            return text.get(start..end.unwrap_or(start));
        }
        at = start + 3;
    }
    None
}

fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*%[]".contains(&byte);
        if plain { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

fn unescaped(text: &str) -> Option<String> {
    if wrong_escape(text).is_some() {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Uri;

    #[test]
    fn urls_are_taken_apart() {
        let uri = Uri::request("https://[::1]:80/with space?k=a&k=b+c#x").unwrap();
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
        ] {
            assert_eq!(Uri::request(text), Err(format!("parse {text:?}: {why}")));
        }
    }
}
