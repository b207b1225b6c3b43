//! A server's answers in a story: the values of marks, and the form of an answer without the server's own names.

use integration_tests::prelude::*;

use crate::compare::{Answer, plain};

/// What one server has said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    story: String,
    /// Identity and version of objects, by plural, namespace and name as [`key`] writes them.
    objects: BTreeMap<String, (String, String)>,
    /// The versions of lists.
    lists: Vec<String>,
    page: String,
    /// What each identity is called in comparisons.
    names: BTreeMap<String, String>,
    /// The versions that an object has had, by its identity.
    versions: BTreeMap<String, Vec<String>>,
}

/// An identity that nobody has.
const NOBODY: &str = "99999999-9999-4999-8999-999999999999";

impl Memory {
    pub(crate) fn of_story(story: &str) -> Self {
        Self { story: story.to_owned(), ..Self::default() }
    }

    /// The text without marks.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut text = text.replace("<s>", &self.story).replace("<page>", &self.page);
        while let Some((before, rest)) = text.split_once("<uid ") {
            let Some((key, after)) = rest.split_once('>') else { break };
            let uid = self.objects.get(key).map_or(NOBODY, |(uid, _)| uid);
            text = format!("{before}{uid}{after}");
        }
        while let Some((before, rest)) = text.split_once("<version ") {
            let Some((key, after)) = rest.split_once('>') else { break };
            let version = self.objects.get(key).map_or("1", |(_, version)| version);
            text = format!("{before}{version}{after}");
        }
        while let Some((before, rest)) = text.split_once("<listed ") {
            let Some((number, after)) = rest.split_once('>') else { break };
            let number: usize = number.parse().unwrap_or(0);
            let version = self.lists.get(number).or(self.lists.last()).map_or("0", String::as_str);
            text = format!("{before}{version}{after}");
        }
        text
    }

    /// Notes an answer to a request for `path`.
    pub(crate) fn note(&mut self, path: &str, answer: &Answer) {
        let plural = plural(path);
        if let Some(items) = answer.body["items"].as_array() {
            let metadata = &answer.body["metadata"];
            self.lists.push(text(&metadata["resourceVersion"]).to_owned());
            if !text(&metadata["continue"]).is_empty() {
                text(&metadata["continue"]).clone_into(&mut self.page);
            }
            for item in items {
                self.note_object(plural, item);
            }
        } else if answer.body["kind"] != "Status" {
            self.note_object(plural, &answer.body);
        }
    }

    fn note_object(&mut self, plural: &str, object: &Value) {
        let metadata = &object["metadata"];
        let (uid, version) = (text(&metadata["uid"]), text(&metadata["resourceVersion"]));
        if uid.is_empty() {
            return;
        }
        let key = self.key(plural, text(&metadata["namespace"]), text(&metadata["name"]));
        self.objects.insert(key.clone(), (uid.to_owned(), version.to_owned()));
        if !self.names.contains_key(uid) {
            let named = format!("({key} ");
            let before = self.names.values().filter(|name| name.starts_with(&named)).count();
            self.names.insert(uid.to_owned(), format!("{named}{before})"));
        }
        let versions = self.versions.entry(uid.to_owned()).or_default();
        if !versions.iter().any(|known| known == version) {
            versions.push(version.to_owned());
        }
    }

    /// `plural/name`, or `plural/namespace/name` in another namespace than the story's first.
    fn key(&self, plural: &str, namespace: &str, name: &str) -> String {
        match namespace.strip_prefix(&self.story) {
            None | Some("-a") => format!("{plural}/{name}"),
            Some(rest) => format!("{plural}/{}/{name}", rest.trim_start_matches('-')),
        }
    }

    /// What two servers can agree on.
    pub(crate) fn comparable(&self, answer: &Answer) -> Answer {
        let mut body = answer.body.clone();
        if body.get("items").is_some() {
            for item in body["items"].as_array_mut().into_iter().flatten() {
                *item = self.comparable_object(item);
            }
            if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("resourceVersion");
                if let Some(page) = metadata.get_mut("continue") {
                    *page = json!(!text(page).is_empty());
                }
            }
        } else {
            body = self.comparable_object(&body);
            if let Some(page) = body.pointer_mut("/metadata/continue") {
                *page = true.into();
            }
        }
        let mut said = body.to_string();
        for (uid, name) in &self.names {
            said = said.replace(uid, name);
        }
        if let Some(at) = said.find(", current: ") {
            let end = said[at + 11..].find(|letter: char| !letter.is_ascii_digit());
            said.replace_range(at + 11..at + 11 + end.unwrap_or(0), "now");
        }
        // What a server has done by itself has a version that no answer has told.
        if let Some(at) = said.find(" in record (") {
            let from = at + " in record (".len();
            let end = said[from..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(0);
            said.replace_range(from..from + end, if end > 0 { "version" } else { "" });
        }
        for version in self.versions.values().flatten().chain(&self.lists) {
            said = said.replace(&format!("({version})"), "(version)");
        }
        let mut body = serde_json::from_str(&said).unwrap_or(body);
        if let Some(message) = body.get_mut("message").filter(|message| message.is_string()) {
            *message = in_order(first_of_many(text(message))).into();
        }
        Answer { code: answer.code, body }
    }

    fn comparable_object(&self, object: &Value) -> Value {
        let metadata = &object["metadata"];
        let versions = self.versions.get(text(&metadata["uid"]));
        let number = versions
            .and_then(|known| known.iter().position(|known| *known == text(&metadata["resourceVersion"])));
        let (ends, is_status) = (metadata.get("deletionTimestamp").is_some(), object["kind"] == "Status");
        if text(&object["kind"]).ends_with("AccessReview") {
            let mut status = object["status"].clone();
            if let Some(reason) = status.get_mut("reason") {
                *reason = in_order(text(reason)).into();
            }
            return status;
        }
        let of_controllers = object["kind"] == "Namespace";
        let mut object = plain(object);
        if of_controllers {
            // The real controllers write conditions that nobody waits for.
            object["metadata"]["managedFields"].take();
            object["status"]["conditions"].take();
        }
        let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            if let Some(time) = condition.get_mut("lastTransitionTime") {
                *time = true.into();
            }
        }
        // How often the real one writes the status of a definition is its own affair.
        let number = number.filter(|_| !of_controllers && object["kind"] != "CustomResourceDefinition");
        if let Some(metadata) = object.get_mut("metadata").filter(|_| !is_status) {
            metadata["version"] = json!(number);
            metadata["ends"] = json!(ends);
        }
        object
    }
}

/// Which one of several unknown fields is told depends on the order of a map in Go.
fn first_of_many(message: &str) -> &str {
    let is_typed = message.starts_with("failed to create typed patch object");
    let undeclared = is_typed && message.contains(": field not declared in schema");
    message.split_once("): ").filter(|_| undeclared).map_or(message, |(begin, _)| begin)
}

/// The roles that are missing are told in no order.
fn in_order(message: &str) -> String {
    let Some((before, roles)) = message.split_once("RBAC: [") else { return message.to_owned() };
    let mut roles: Vec<_> = roles.trim_end_matches(']').split(", ").collect();
    roles.sort_unstable();
    format!("{before}RBAC: [{}]", roles.join(", "))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The plural in a path.
fn plural(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let rest = if parts.first() == Some(&"api") {
        &parts[2.min(parts.len())..]
    } else {
        &parts[3.min(parts.len())..]
    };
    match rest {
        ["namespaces", _, plural, ..] if *plural != "status" && *plural != "finalize" => plural,
        [plural, ..] => plural,
        [] => "",
    }
}
