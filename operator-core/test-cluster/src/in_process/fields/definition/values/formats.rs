//! The formats of texts that the real server checks; all others are ignored there, too.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::flag;
use crate::in_process::go::{address, duration, uri::Uri};

/// The formats of texts, without their hyphens.
const TEXTS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// The format of a schema that the real server keeps, whatever it is for.
pub(super) fn named(schema: &Value) -> Option<&str> {
    let format = schema.get("format").and_then(Value::as_str).filter(|format| !format.is_empty())?;
    let union = flag(schema, "x-kubernetes-int-or-string");
    let known = match schema.get("type").and_then(Value::as_str).filter(|_| !union).unwrap_or_default() {
        "" | "string" => is_text(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    };
    known.then_some(format)
}

fn is_text(format: &str) -> bool {
    TEXTS.contains(&format.replace('-', "").as_str())
}

/// Whether the real server knows a format of a text.
pub(in crate::in_process) fn is_known(schema: &Value) -> bool {
    named(schema).is_some() || schema.get("format").and_then(Value::as_str).unwrap_or_default().is_empty()
}

/// The format that a text must have.
pub(super) fn of(schema: &Value) -> Option<&str> {
    named(schema).filter(|format| is_text(format))
}

/// Whether a text has a format.
pub(in crate::in_process) fn is_valid(format: &str, text: &str) -> bool {
    let matches = |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|regex| regex.is_match(text));
    match format.replace('-', "").as_str() {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "uri" => Uri::request(text).is_ok(),
        "email" => is_email(text),
        "hostname" => matches(&HOSTNAME) && text.len() <= 255 && text.split('.').all(|part| part.len() <= 63),
        "ipv4" => text.contains('.') && address::sloppy_ip(text).is_some(),
        "ipv6" => text.contains(':') && text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => address::sloppy_cidr(text).is_some(),
        "mac" => address::is_mac(text),
        "uuid" => is_uuid(text, None, false),
        "uuid3" => is_uuid(text, Some(b'3'), false),
        "uuid4" => is_uuid(text, Some(b'4'), true),
        "uuid5" => is_uuid(text, Some(b'5'), true),
        "isbn" => is_isbn(text, 10) || is_isbn(text, 13),
        "isbn10" => is_isbn(text, 10),
        "isbn13" => is_isbn(text, 13),
        "creditcard" => is_credit_card(text),
        "ssn" => text.len() == 11 && matches(&SSN),
        "hexcolor" => matches(&HEX_COLOR),
        "rgbcolor" => matches(&RGB_COLOR),
        "byte" => matches(&BASE64),
        "date" => is_date(text),
        "duration" => duration::parse_loosely(text).is_some(),
        "datetime" => is_date_time(text),
        "k8sshortname" => text.len() <= 63 && is_name(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_name),
        _ => true,
    }
}

macro_rules! regex {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());
    };
}

regex!(
    HOSTNAME,
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
);
regex!(SSN, r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$");
regex!(HEX_COLOR, r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$");
regex!(
    RGB_COLOR,
    r"^rgb\([\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*,[\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*,[\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*\)$"
);
regex!(BASE64, r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$");
regex!(TIME, r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
regex!(
    CREDIT_CARD,
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$"
);

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.is_ascii()
        && text.parse::<jiff::civil::Date>().is_ok()
        && text.as_bytes()[4] == b'-'
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some(found) = TIME.as_ref().and_then(|regex| regex.captures(time)) else { return false };
    is_date(date) && &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

/// Small letters, digits and, between them, hyphens.
fn is_name(text: &str) -> bool {
    let inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_uuid(text: &str, version: Option<u8>, variant: bool) -> bool {
    // Each hyphen may be missing.
    let mut rest = text.as_bytes();
    for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 && rest.first() == Some(&b'-') {
            rest = &rest[1..];
        }
        let Some((part, after)) = rest.split_at_checked(length) else { return false };
        let wrong_version = at == 2 && version.is_some_and(|version| part[0] != version);
        let wrong_variant = at == 3 && variant && !b"89abAB".contains(&part[0]);
        if wrong_version || wrong_variant || !part.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

fn is_isbn(text: &str, length: usize) -> bool {
    let clean: String =
        text.chars().filter(|letter| !matches!(letter, '-' | ' ' | '\t' | '\n' | '\r' | '\x0c')).collect();
    let digits: Vec<u32> = clean.chars().filter_map(|letter| letter.to_digit(10)).collect();
    if clean.chars().count() != length {
        return false;
    }
    if length == 13 {
        let sum: u32 =
            digits.iter().zip([1, 3].into_iter().cycle()).take(12).map(|(digit, by)| digit * by).sum();
        return digits.len() == 13 && digits[12] == (10 - sum % 10) % 10;
    }
    let last = match (clean.ends_with('X'), digits.len()) {
        (true, 9) => 10,
        (false, 10) => digits[9],
        _ => return false,
    };
    let sum: u32 = digits.iter().take(9).zip(1..).map(|(digit, by)| digit * by).sum();
    (sum + 10 * last).is_multiple_of(11)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(digit - b'0') * if at % 2 == 1 { 2 } else { 1 };
            if digit >= 10 { digit % 10 + 1 } else { digit }
        })
        .sum();
    CREDIT_CARD.as_ref().is_some_and(|regex| regex.is_match(&digits)) && sum.is_multiple_of(10)
}

/// An address, alone or in angle brackets after a name.
fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let address = match text.strip_suffix('>') {
        Some(inner) => match inner.rsplit_once('<') {
            Some((_, address)) => address,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_atom = |letter: char| {
        letter.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(letter) || !letter.is_ascii()
    };
    let atoms = |text: &str| text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atom));
    let quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
    let literal = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']'));
    let domain = match literal {
        Some(literal) => literal.parse::<std::net::IpAddr>().is_ok(),
        None => atoms(domain),
    };
    (quoted || atoms(local)) && domain
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn formats_are_those_of_the_real_server() {
        for (format, right, wrong) in [
            ("uri", "https://a.b/c", "a b"),
            ("email", "A <a@b.c>", "a@"),
            ("hostname", "a-b.example.com", "-a.com"),
            ("ipv4", "10.0.0.01", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0"),
            ("mac", "01-23-45-67-89-ab", "01:23"),
            ("uuid", "123e4567e89b12d3a456426614174000", "123e4567"),
            ("uuid4", "123E4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
            ("isbn", "978-0321751041", "978-0321751042"),
            ("isbn10", "0321751043", "0321751044"),
            ("creditcard", "4111-1111-1111-1111", "4111-1111-1111-1112"),
            ("ssn", "111-22-3333", "111223333"),
            ("hexcolor", "#FFf", "#ff"),
            ("rgbcolor", "rgb(0, 100,255)", "rgb(0,256,0)"),
            ("byte", "AAE=", "AAE"),
            ("date", "2024-02-29", "2023-02-29"),
            ("date-time", "2024-01-01T00:00:00.5+01:00", "2024-01-01T24:00:00Z"),
            ("duration", "3 days", "soon"),
        ] {
            assert!(is_valid(format, right), "{format} {right}");
            assert!(!is_valid(format, wrong), "{format} {wrong}");
        }
    }
}
