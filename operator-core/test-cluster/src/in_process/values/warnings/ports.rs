//! Ports that are there twice. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Found, pods::containers};
use crate::in_process::values::{
    path::Path,
    read::{int, items, text},
};

/// A port as it was seen before, and where.
type Seen<'p> = (&'p Value, String);

pub(super) fn ports(found: &mut Found, path: &Path<'_>, spec: &Value) {
    let mut all: BTreeMap<(i64, &str), Vec<Seen<'_>>> = BTreeMap::new();
    containers(path, spec, &mut |container, path| {
        for (index, port) in items(container, "ports") {
            let number = |port: &Value, field: &str| int(port, field).unwrap_or_default();
            let place = format!("{path}.ports[{index}]");
            let (ip, host) = (text(port, "hostIP"), number(port, "hostPort"));
            if !ip.is_empty() && host == 0 {
                let shown = format!(
                    "hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{ip}}}",
                    text(port, "name"),
                    number(port, "containerPort"),
                    text(port, "protocol"),
                );
                found.add(&place, shown);
            }
            let others = all.entry((number(port, "containerPort"), text(port, "protocol"))).or_default();
            for (other, at) in &*others {
                let (other_ip, other_host) = (text(other, "hostIP"), number(other, "hostPort"));
                let what = if ip == other_ip && host == other_host {
                    "duplicate"
                } else if host == 0 || other_host == 0 {
                    "overlapping"
                } else if host == other_host && ip.is_empty() != other_ip.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                found.add(&place, format_args!("{what} port definition with {at}"));
            }
            others.push((port, place));
        }
    });
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    containers(path, spec, &mut |container, path| {
        for (index, port) in items(container, "ports") {
            let (name, place) = (text(port, "name"), format!("{path}.ports[{index}]"));
            match names.get(name) {
                _ if name.is_empty() => {}
                Some(other) => found.add(
                    place,
                    format_args!(
                        "duplicate port name {name:?} with {other}, services and probes that select ports by name will use \
                         {other}"
                    ),
                ),
                None => drop(names.insert(name, place)),
            }
        }
    });
}
