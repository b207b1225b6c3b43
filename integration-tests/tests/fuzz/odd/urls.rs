//! Addresses (URLs) in rules and formats: whether they are ones, and what they consist of.

use integration_tests::prelude::*;

use super::{Ask, Story, definition, object, path_of};

const REQUESTS: usize = 60;

pub(super) fn story(random: &mut Random, _: &str) -> Story {
    let kind = "Url";
    let rule = |rule: &str, message: &str| json!({"rule": rule, "messageExpression": message});
    let part = |part: &str| {
        let rule = rule("!isURL(self)", &format!("url(self).{part}()"));
        json!({"type": "string", "maxLength": 200, "x-kubernetes-validations": [rule]})
    };
    let schema = json!({"type": "object", "properties": {
        "is": {"type": "string", "maxLength": 200, "x-kubernetes-validations": [rule("isURL(self)", "'no URL'")]},
        "scheme": part("getScheme"), "host": part("getHost"), "name": part("getHostname"), "port": part("getPort"),
        "path": part("getEscapedPath"),
        "uri": {"type": "string", "format": "uri"},
        "mac": {"type": "string", "format": "mac"}, "cidr": {"type": "string", "format": "cidr"},
        "time": {"type": "string", "format": "date-time"}, "ipv6": {"type": "string", "format": "ipv6"},
    }});
    let path = format!("{}?dryRun=All", path_of(kind));
    let asks = (0..REQUESTS).map(|_| {
        let (field, text) = match random.below(10) {
            0..3 => ("is", url(random)),
            3..6 => (random.pick(&["scheme", "host", "name", "port", "path"]), url(random)),
            6..8 => ("uri", url(random)),
            8 => {
                let forms = [
                    "01:23:45:67:89:ab",
                    "0123456789ab",
                    "0123.4567.89ab",
                    "01-23-45-67-89-AB",
                    "0123456789abcdef",
                    "01:23-45:67:89:ab",
                    "0123456789abc",
                ];
                ("mac", random.pick(&forms).to_owned())
            }
            _ => {
                let forms = [
                    "2024-01-01T00:00:00Z",
                    "2024-01-01t00:00:00z",
                    "2024-01-01T00:00:00+24:00",
                    "2024-01-01 00:00:00Z",
                    "2024-01-01T00:00:60Z",
                ];
                ("time", random.pick(&forms).to_owned())
            }
        };
        Ask::new("POST", path.clone(), &object(kind, "one", &json!({field: text})))
    });
    let asks = asks.collect();
    Story { definition: Some(definition(kind, &schema, &json!({}))), is_shared: true, asks }
}

fn url(random: &mut Random) -> String {
    const WHOLE: [&str; 16] = [
        "",
        "*",
        "/",
        "x",
        "a:b",
        "mailto:a@b",
        "//host/x",
        "///x",
        "http://#%blah$#@",
        "http://%41",
        "http://u ser@x/",
        "http://x/%zz",
        "/a#%zz",
        "http:",
        "://x",
        "http://[fe80::1%25en0]:80/",
    ];
    if random.chance(20) {
        return random.pick(&WHOLE).to_owned();
    }
    let scheme = random.pick(&[
        "http://",
        "https://",
        "HTTP://",
        "ftp://",
        "postgres://",
        "http:/",
        "http:",
        "//",
        "",
        "1x://",
        "a+b-c.d://",
    ]);
    let user = random.pick(&["", "", "", "u@", "u:p@", "u:p%zz@", "u ser@", "a@b@", "#@", "é@", "u%20:p@"]);
    let host = random.pick(&[
        "x",
        "example.com",
        "a_b",
        "a b",
        "a%20b",
        "a%C3%A9",
        "é",
        "",
        "[::1]",
        "[::1",
        "::1",
        "[1.2.3.4]",
        "[zz]",
        "[fe80::1%25en0]",
        "[fe80::1%en0]",
        "a<b",
        "a\\b",
        "a^b",
        "a`b",
        "a|b",
        "a{b}",
        "a\"b",
        "x,y",
        "1.2.3.4",
        "x[",
        "[::ffff:1.2.3.4]",
    ]);
    let port = random.pick(&["", "", "", ":80", ":", ":x", ":1:2", ":80x", ":999999"]);
    let path = random.pick(&[
        "", "/", "/a/b", "/a b", "/a%20b", "/%zz", "/%4", "/é", "/a'(b)*!", "/[x]", "/a%2Fb c", "/a;b,c",
        "/a?b/c",
    ]);
    let query = random.pick(&["", "", "?", "?a=b", "?a=b&c", "?%zz", "?a#b", "??"]);
    let fragment = random.pick(&["", "", "", "#f", "#%zz", "#a b", "#"]);
    let text = format!("{scheme}{user}{host}{port}{path}{query}{fragment}");
    if random.chance(3) { format!("{text}\n") } else { text }
}
