//! Label and field selectors.

mod fields;
mod labels;
mod shard;

use serde_json::Value;

use super::{failure::Failure, kinds::Kind};
use fields::FieldTerm;
use shard::Shard;

/// The field that is an object's name.
const NAME: &str = "metadata.name";

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

impl Selector {
    /// Reads the selectors of a request.
    pub(super) fn parse(labels: Option<&str>, fields: Option<&str>) -> Result<Self, Failure> {
        let labels = labels::parse(labels.unwrap_or_default()).map_err(Failure::bad_request)?;
        let fields = fields::parse(fields.unwrap_or_default()).map_err(Failure::bad_request)?;
        Ok(Self { labels, fields, shard: None })
    }

    /// The same, for objects of a kind, which must have the fields.
    pub(super) fn of_kind(self, kind: &Kind) -> Result<Self, Failure> {
        let unknown = self.fields.iter().map(|term| &*term.field).find(|field| !kind.selects(field));
        unknown.map_or(Ok(self.clone()), |field| Err(Failure::bad_request(kind.selects_not(field))))
    }

    /// The same, for the object of that name only.
    pub(super) fn named(mut self, name: Option<&str>) -> Self {
        let of = |name: &str| FieldTerm { field: NAME.to_owned(), value: name.to_owned(), equal: true };
        self.fields.extend(name.map(of));
        self
    }

    /// What a field has to be, if only one value will do.
    pub(super) fn exact(&self, field: &str) -> Option<&str> {
        let mut terms = self.fields.iter().filter(|term| term.equal && term.field == field);
        terms.next().map(|term| &*term.value).filter(|value| !value.is_empty())
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
        let field = |term: &FieldTerm| (fields::selected(object, &term.field) == term.value) == term.equal;
        self.labels.iter().all(label) && self.fields.iter().all(field)
    }
}
