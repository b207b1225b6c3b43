//! Environment variables: `OPERATOR_` and a key in capitals, with `_` for dots and hyphens.

use std::collections::BTreeMap;

use super::{ConfigEntry, nearest::instead};
use crate::controller::Mistake;

const PREFIX: &str = "OPERATOR_";

/// Variables with the same prefix that are meant for others: OLM sets the first, Operator SDK's scaffolds the second.
const OF_OTHERS: &[&str] = &["OPERATOR_CONDITION_NAME", "OPERATOR_NAME"];

/// The variable of a key.
pub(super) fn variable(key: &str) -> String {
    key.chars().map(|c| if matches!(c, '.' | '-') { '_' } else { c.to_ascii_uppercase() }).collect()
}

/// Whether it is one of those that a kubelet sets in each pod for each Service, here for one whose name begins with
/// `operator`: `OPERATOR_SERVICE_HOST`, `OPERATOR_WEBHOOK_PORT_443_TCP_ADDR`.
fn is_service_link(name: &str, value: &str) -> bool {
    let is_port = |rest: &str| {
        let mut parts = rest.split('_');
        parts.next().is_some_and(|number| number.parse::<u16>().is_ok())
            && parts.next().is_some_and(|protocol| matches!(protocol, "TCP" | "UDP" | "SCTP"))
            && parts.next().is_none_or(|what| matches!(what, "PROTO" | "PORT" | "ADDR"))
    };
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || name.ends_with("_PORT") && value.contains("://")
        || name.match_indices("_PORT_").any(|(at, found)| is_port(&name[at + found.len()..]))
}

/// The settings among the variables. `known` are all keys that this operator has.
pub(super) fn read(
    variables: impl IntoIterator<Item = (String, String)>,
    known: &[String],
    mistakes: &mut Vec<Mistake>,
) -> Vec<ConfigEntry> {
    let mut keys = BTreeMap::<String, Vec<&str>>::new();
    for key in known {
        keys.entry(variable(key)).or_default().push(key);
    }
    // An environment has no meaningful order.
    let ours: BTreeMap<String, String> =
        variables.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
    let mut entries = Vec::new();
    for (name, value) in ours {
        match keys.get(&name).map(Vec::as_slice) {
            Some([key]) => entries.push(ConfigEntry::new(*key, value, format!("variable {name}"))),
            Some(keys) => mistakes.push(Mistake::new(
                format!("variable {name}: it stands for {} keys", keys.len()),
                format!("it could be `{}`", keys.join("` or `")),
                "the key in a file instead, or another name for one of the controllers",
            )),
            None if is_service_link(&name, &value) || OF_OTHERS.contains(&&*name) => {}
            None => mistakes.push(Mistake::new(
                format!("variable {name}: no key has this variable"),
                "nothing reads it, and it would have no effect",
                instead(
                    &name,
                    keys.keys().map(String::as_str),
                    "one of the variables in the chapter \"Configuration\", or another prefix if it is your own",
                ),
            )),
        }
    }
    entries
}
