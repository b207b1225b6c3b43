//! Bodies that are odd JSON, or none: deep ones, escapes, half surrogates, broken ends, other forms than an object.

use integration_tests::prelude::*;

use super::{Ask, GROUP, Story, definition, path_of};

const REQUESTS: usize = 16;

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let (kind, live) = ("Text", format!("live{seed}"));
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let path = path_of(kind);
    let head = |name: &str| {
        format!("\"apiVersion\":\"{GROUP}/v1\",\"kind\":\"{kind}\",\"metadata\":{{\"name\":\"{name}\"}}")
    };
    let mut asks = vec![Ask::raw(
        "POST",
        path.clone(),
        format!("{{{},\"spec\":{{\"x\":{{\"a\":1,\"l\":[1]}}}}}}", head(&live)),
    )];
    for number in 0..REQUESTS {
        let value = odd(random);
        let name = format!("o{seed}-{number}");
        let way = random.below(6);
        if (way == 3 && value.contains(TWICE)) || (way == 4 && !is_plain(&value)) {
            // What isn't compared.
            continue;
        }
        let mut ask = match way {
            0 | 1 => {
                Ask::raw("POST", path.clone(), format!("{{{},\"spec\":{{\"x\":{value}}}}}", head(&name)))
            }
            2 => Ask::raw("MERGE", format!("{path}/{live}"), format!("{{\"spec\":{{\"x\":{value}}}}}")),
            3 => {
                let patch = format!("[{{\"op\":\"add\",\"path\":\"/spec/x\",\"value\":{value}}}]");
                Ask::raw("JSON", format!("{path}/{live}"), patch)
            }
            4 => {
                let body = format!("{{{},\"spec\":{{\"x\":{value}}}}}", head(&name));
                Ask::raw("APPLY", format!("{path}/{name}?fieldManager=m"), body)
            }
            _ => {
                let body = format!(
                    "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"{kind}\"}},\"data\":{{\"x\":{value}}}}}"
                );
                Ask::raw(
                    "POST",
                    format!("/api/v1/namespaces/{}/configmaps?dryRun=All", super::NAMESPACE),
                    body.to_lowercase()
                        .replace("configmap\"", "ConfigMap\"")
                        .replace("apiversion", "apiVersion"),
                )
            }
        };
        if way != 4 && random.chance(15) {
            spoil(random, &mut ask.body);
        }
        if way < 2 && is_of_another(&ask.body, kind) {
            continue;
        }
        asks.push(ask);
    }
    Story { definition: Some(definition(kind, &schema, &json!({}))), is_shared: true, asks }
}

/// Whether it is an object of another kind, or of a version that the kind doesn't have: the real server refuses it, too, but
/// warns of its fields before, the latter as if each were unknown.
fn is_of_another(body: &[u8], kind: &str) -> bool {
    let text = String::from_utf8_lossy(body);
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let version = body["apiVersion"].as_str().and_then(|version| version.strip_prefix(GROUP));
    version.is_some_and(|version| version.starts_with('/') && version != "/v1")
        || body["kind"].is_string() && body["kind"] != kind && text.contains(TWICE)
}

/// A field twice: of YAML and JSON patches the server in the process doesn't tell it.
const TWICE: &str = "\"a\":1,\"a\"";

/// Whether it is the same in JSON and in YAML.
fn is_plain(value: &str) -> bool {
    let is_deep = value.len() > 300;
    let is_json = is_deep || serde_json::from_str::<Value>(value).is_ok();
    is_json && !value.contains(['\u{85}', '\u{2028}']) && !value.contains(TWICE)
}

fn odd(random: &mut Random) -> String {
    const ODD: [&str; 34] = [
        r#""\ud83d""#,
        r#""\ud83d\ude00""#,
        r#""\ude00\ud83d""#,
        r#""\u0000""#,
        r#""\/""#,
        r#""\b\f\n\r\t""#,
        r#""\x41""#,
        r#""\u12""#,
        "\"\u{7f}\"",
        "\"\u{2028}\"",
        "\"\t\"",
        "\"<&>\"",
        "\"\u{85}\"",
        "1e3",
        "1E400",
        "-0",
        "0.10",
        "01",
        "1.",
        "-",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e19",
        "123456789012345678901234567890",
        "nul",
        "True",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":2}",
        "[null,{\"b\":null}]",
        "{\"a\":null,\"b\":[{\"c\":null}]}",
        "'x'",
        "NaN",
    ];
    match random.below(10) {
        0 | 1 => {
            let depth = random.pick(&[100, 126, 127, 128, 200, 500, 900]);
            let (open, close) = random.pick(&[("{\"a\":", "}"), ("[", "]")]);
            format!("{}1{}", open.repeat(depth), close.repeat(depth))
        }
        2 => {
            format!("{{\"k{}\":{}}}", random.pick(&["", "\\u0041", "\\/", "\\ud800", " "]), random.pick(&ODD))
        }
        3 => format!("[{},{}]", random.pick(&ODD), random.pick(&ODD)),
        _ => random.pick(&ODD).to_owned(),
    }
}

/// Cuts a body off, changes a byte, or puts something around it.
fn spoil(random: &mut Random, body: &mut Vec<u8>) {
    match random.below(6) {
        0 => body.truncate(random.below(body.len())),
        1 => {
            let at = random.below(body.len());
            body[at] = random.pick(&[b'x', b'{', b'"', b',', 0xff, 1]);
        }
        2 => body.extend(random.pick(&[&b" x"[..], b"\n", b"{}"])),
        3 => {
            *body = random
                .pick(&[&b""[..], b"null", b"[]", b"1", b"\"x\"", b"true", b"{}", b" ", b"x: 1"])
                .to_vec()
        }
        4 => body.splice(0..0, b"\n  ".iter().copied()).for_each(drop),
        _ => body.splice(0..0, [0xef, 0xbb, 0xbf]).for_each(drop),
    }
}
