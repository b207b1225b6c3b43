//! Label and field selectors.

mod labels;
mod shard;

use serde_json::Value;

use super::{failure::Failure, kinds::Kind};
use shard::Shard;

/// The objects to which a list, a watch or a deletion of a collection applies.
#[derive(Clone, Debug, Default)]
pub(super) struct Selector {
    labels: Vec<LabelTerm>,
    fields: Vec<FieldTerm>,
    shard: Option<Shard>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelTerm {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    /// True without the label, too.
    NotIn(Vec<String>),
    /// As numbers.
    Greater(i64),
    /// As numbers.
    Less(i64),
}

#[derive(Clone, Debug)]
struct FieldTerm {
    path: Vec<String>,
    value: String,
    equal: bool,
}

impl Selector {
    /// Reads the selectors of a request for objects of a kind.
    pub(super) fn new(kind: &Kind, labels: Option<&str>, fields: Option<&str>) -> Result<Self, Failure> {
        let labels = labels::parse(labels.unwrap_or_default()).map_err(Failure::bad_request)?;
        let fields = fields.unwrap_or_default().split(',').filter(|term| !term.is_empty());
        let fields = fields.map(|term| field(kind, term));
        Ok(Self { labels, fields: fields.collect::<Result<_, _>>()?, shard: None })
    }

    /// Reads a label selector.
    pub(super) fn of_labels(labels: &str) -> Result<Self, String> {
        Ok(Self { labels: labels::parse(labels)?, ..Self::default() })
    }

    /// The same for a part of the objects.
    pub(super) fn within(self, shard: Option<&str>) -> Result<Self, Failure> {
        Ok(Self { shard: shard.map(Shard::parse).transpose()?, ..self })
    }

    /// The part of the objects, if it isn't all of them.
    pub(super) fn shard(&self) -> Option<&Shard> {
        self.shard.as_ref()
    }

    /// Whether it selects everything.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether it selects `object`.
    pub(super) fn matches(&self, object: &Value) -> bool {
        if self.shard.as_ref().is_some_and(|shard| !shard.includes(object)) {
            return false;
        }
        let labels = &object["metadata"]["labels"];
        let number = |value: Option<&str>| value?.parse::<i64>().ok();
        let label = |term: &LabelTerm| {
            let value = labels.get(&term.key).and_then(Value::as_str);
            match &term.test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.iter().any(|other| other == value)),
                Test::Greater(than) => number(value).is_some_and(|number| number > *than),
                Test::Less(than) => number(value).is_some_and(|number| number < *than),
                Test::NotIn(values) => !value.is_some_and(|value| values.iter().any(|other| other == value)),
            }
        };
        let field = |term: &FieldTerm| {
            let value = term.path.iter().try_fold(object, |value, part| value.get(part));
            let value = match value {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => String::new(),
                Some(other) => other.to_string(),
            };
            (value == term.value) == term.equal
        };
        self.labels.iter().all(label) && self.fields.iter().all(field)
    }
}

fn field(kind: &Kind, term: &str) -> Result<FieldTerm, Failure> {
    let (path, value, equal) = if let Some((path, value)) = term.split_once("!=") {
        (path, value, false)
    } else if let Some((path, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        (path, value, true)
    } else {
        let message = format!("invalid selector: '{term}'; can't understand '{term}'");
        return Err(Failure::bad_request(message));
    };
    let path = path.trim();
    if !kind.selects(path) {
        let says_unsupported = kind.group.is_empty() && matches!(kind.kind.as_str(), "Secret" | "Namespace");
        return Err(if kind.is_custom() || says_unsupported {
            Failure::bad_request(format!("field label not supported: {path}"))
        } else if kind.has_own_selectable_fields() {
            Failure::not_modelled(format_args!("field selectors of {} by {path}", kind.qualified()))
        } else {
            let known = "only \"metadata.name\", \"metadata.namespace\"";
            Failure::bad_request(format!("\"{path}\" is not a known field selector: {known}"))
        });
    }
    Ok(FieldTerm { path: path.split('.').map(str::to_owned).collect(), value: value.to_owned(), equal })
}
