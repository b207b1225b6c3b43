//! Two answers to one request.

use serde_json::Value;

/// What a server answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        self.code < 300
    }

    /// Without what two servers can't agree on: identities, versions, times, addresses.
    pub(crate) fn comparable(&self) -> Value {
        plain(&self.body)
    }

    /// What is different, one line for each place; empty if nothing is.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        if self.code != other.code {
            let message = |answer: &Self| {
                format!("{} {}", answer.code, answer.body.get("message").unwrap_or(&Value::Null))
            };
            return vec![format!("real: {}\n    model: {}", message(self), message(other))];
        }
        let mut lines = Vec::new();
        differ(&self.comparable(), &other.comparable(), "", &mut lines);
        lines
    }
}

/// An object without what two servers can't agree on: identities, versions, times, addresses.
pub(crate) fn plain(from: &Value) -> Value {
    let mut body = from.clone();
    // Jobs select by it.
    let uid = from.pointer("/metadata/uid").and_then(Value::as_str);
    if let Some(uid) = uid.filter(|_| from["kind"] == "Job") {
        let text = body.to_string().replace(uid, "(uid)");
        body = serde_json::from_str(&text).unwrap_or(body);
    }
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"] {
            metadata.remove(field);
        }
        let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
        let mut entries: Vec<_> = entries.map(std::mem::take).unwrap_or_default();
        for entry in &mut entries {
            // An entry has a time or not, but which is not compared; neither is the order that follows from it.
            if let Some(time) = entry.get_mut("time") {
                *time = Value::Bool(true);
            }
        }
        entries.sort_by_key(Value::to_string);
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
    // The servers' clocks may be on two sides of a second.
    if let Some(time) = body.pointer_mut("/status/lastPhaseTransitionTime") {
        *time = Value::Bool(true);
    }
    for cause in causes_of(&mut body) {
        let message = without_addresses(cause["message"].as_str().unwrap_or_default());
        // A port that a server has drawn for a Service, twice.
        let port = message.strip_prefix("Duplicate value: ").and_then(|port| port.parse::<u32>().ok());
        let is_node_port = cause["field"].as_str().is_some_and(|field| field.ends_with(".nodePort"));
        let is_drawn = is_node_port && port.is_some_and(|port| (30_086..32_768).contains(&port));
        cause["message"] = if is_drawn { "Duplicate value: drawn".into() } else { message.into() };
    }
    if let Some(details) = body.get_mut("details").and_then(Value::as_object_mut) {
        details.remove("uid");
        // The real server iterates over managers in no order.
        let causes = details.get_mut("causes").and_then(Value::as_array_mut);
        if let Some(causes) = causes {
            causes.sort_by_key(Value::to_string);
        }
    }
    let of_patch: Vec<_> = causes_of(&mut body).filter(|cause| cause["field"] == "patch").collect();
    if !of_patch.is_empty() {
        of_patch.into_iter().for_each(|cause| without_object(&mut cause["message"]));
        without_object(&mut body["message"]);
    }
    // What doesn't fit a schema is told in the order of a map in Go.
    if let Some(message) = body.get_mut("message").filter(|message| message.is_string()) {
        let text = without_addresses(message.as_str().unwrap_or_default());
        *message = match text.strip_prefix("duplicate nodePort: {") {
            Some(_) => "duplicate nodePort".into(),
            None => text.clone().into(),
        };
        if let Some((before, lines)) = text.split_once("): errors:\n") {
            let mut lines: Vec<_> = lines.lines().collect();
            lines.sort_unstable();
            *message = format!("{before}): errors:\n{}", lines.join("\n")).into();
        }
    }
    // Several causes are told in the order of a map in Go.
    let many =
        body.pointer("/details/causes").and_then(Value::as_array).is_some_and(|causes| causes.len() > 1);
    if let Some(message) = body.get_mut("message").filter(|_| many) {
        let first = message.as_str().unwrap_or_default().split(" is invalid: [").next().unwrap_or_default();
        *message = first.into();
    }
    if let Some(spec) = body.get_mut("spec").and_then(Value::as_object_mut) {
        if let Some(port) = spec.get_mut("healthCheckNodePort") {
            *port = Value::Bool(true);
        }
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(port) = port.get_mut("nodePort") {
                *port = Value::Bool(true);
            }
        }
        for field in ["clusterIP", "clusterIPs"] {
            if let Some(address) = spec.get_mut(field).filter(|address| **address != "None") {
                *address = Value::Bool(true);
            }
        }
    }
    body
}

fn causes_of(status: &mut Value) -> impl Iterator<Item = &mut Value> {
    status.pointer_mut("/details/causes").and_then(Value::as_array_mut).into_iter().flatten()
}

/// A text without the addresses that a server has drawn for Services. The tests ask for those of 10.96.0 and of 10.96.7.
pub(crate) fn without_addresses(text: &str) -> String {
    const BEGIN: &str = "10.96.";
    let mut masked = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let end = after.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(after.len());
        let (address, behind) = after.split_at(end);
        let known = address.starts_with("7.") || address.starts_with("0.");
        masked.push_str(before);
        masked.push_str(if known { BEGIN } else { "(address)" });
        masked.push_str(if known { address } else { "" });
        rest = behind;
    }
    masked.push_str(rest);
    masked
}

/// What is wrong with a patch, without the whole object that the real server shows as JSON in a text.
fn without_object(message: &mut Value) {
    let text = message.as_str().unwrap_or_default();
    let shown = text.split_once("Invalid value: \"{").zip(text.rsplit_once("}\": "));
    if let Some(((before, _), (_, why))) = shown {
        *message = format!("{before}Invalid value: {why}").into();
    }
}

fn differ(one: &Value, two: &Value, path: &str, lines: &mut Vec<String>) {
    match (one, two) {
        (Value::Object(left), Value::Object(right)) => {
            let names: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
            for name in names {
                let path = format!("{path}.{name}");
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => differ(left, right, &path, lines),
                    (left, right) => {
                        lines.push(format!("{path}: real {}, model {}", shown(left), shown(right)))
                    }
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differ(left, right, &format!("{path}[{index}]"), lines);
            }
        }
        (left, right) if left == right => {}
        (left, right) => lines.push(format!("{path}: real {left}, model {right}")),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), Value::to_string)
}
