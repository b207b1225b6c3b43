//! Label and field selectors.

use serde_json::Value;

use super::{failure::Failure, kinds::Kind};

/// What a list, a watch or a deletion of a collection is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Selector {
    labels: Vec<LabelTerm>,
    fields: Vec<FieldTerm>,
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
        let labels = split(labels.unwrap_or_default()).into_iter().map(|term| label(&term));
        let fields = fields.unwrap_or_default().split(',').filter(|term| !term.is_empty());
        let fields = fields.map(|term| field(kind, term));
        Ok(Self { labels: labels.collect::<Result<_, _>>()?, fields: fields.collect::<Result<_, _>>()? })
    }

    /// Whether it selects everything.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether it selects `object`.
    pub(super) fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        let label = |term: &LabelTerm| {
            let value = labels.get(&term.key).and_then(Value::as_str);
            match &term.test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.iter().any(|other| other == value)),
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

/// At commas outside of parentheses.
fn split(selector: &str) -> Vec<String> {
    let (mut terms, mut term, mut depth) = (Vec::new(), String::new(), 0_u32);
    for character in selector.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                terms.push(std::mem::take(&mut term));
                continue;
            }
            _ => {}
        }
        term.push(character);
    }
    terms.push(term);
    terms.retain(|term| !term.trim().is_empty());
    terms
}

fn label(term: &str) -> Result<LabelTerm, Failure> {
    let term = term.trim();
    let wrong = || Failure::bad_request(format!("unable to parse requirement: {term}"));
    let (key, test) = if let Some(key) = term.strip_prefix('!') {
        (key, Test::Absent)
    } else if let Some((key, value)) = term.split_once("!=") {
        (key, Test::NotIn(vec![value.trim().to_owned()]))
    } else if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        (key, Test::In(vec![value.trim().to_owned()]))
    } else if let Some((key, set)) = term.split_once(char::is_whitespace) {
        let set = set.trim();
        let operator = set.split(['(', ' ']).next().unwrap_or_default();
        let values = set[operator.len()..].trim().strip_prefix('(').and_then(|set| set.strip_suffix(')'));
        let values = values.ok_or_else(wrong)?.split(',').map(|value| value.trim().to_owned()).collect();
        match operator {
            "in" => (key, Test::In(values)),
            "notin" => (key, Test::NotIn(values)),
            _ => return Err(wrong()),
        }
    } else {
        (term, Test::Exists)
    };
    let key = key.trim();
    let values = match &test {
        Test::In(values) | Test::NotIn(values) => values.as_slice(),
        Test::Exists | Test::Absent => &[],
    };
    let is_word =
        |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter));
    if key.is_empty() || !is_word(key) || !values.iter().all(|value| is_word(value)) {
        return Err(wrong());
    }
    Ok(LabelTerm { key: key.to_owned(), test })
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
        return Err(if kind.is_custom() {
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
