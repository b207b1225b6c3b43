//! The part of Kubernetes' JSONPath that printer columns use: fields, indices and slices, wildcards, descent, filters.

use serde_json::Value;

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::in_process) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// From, to, and the distance; without an end it is one item.
    Slice(Option<i64>, End, usize),
    All,
    Descend,
    Filter(Vec<Step>, Option<(String, Operand)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Only,
    Open,
    At(i64),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Value(Value),
}

impl JsonPath {
    /// Reads a path such as `.spec.conditions[?(@.type=="Ready")].status`; `None` if it is none.
    pub(in crate::in_process) fn parse(text: &str) -> Option<Self> {
        steps(text).map(Self)
    }

    /// The first value that the path leads to.
    pub(in crate::in_process) fn find(&self, object: &Value) -> Option<Value> {
        walk(vec![object], &self.0)?.first().map(|found| (*found).clone())
    }
}

fn steps(mut rest: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("..") {
            steps.push(Step::Descend);
            rest = after;
            if rest.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
                rest = field(rest, &mut steps);
            }
        } else if let Some(after) = rest.strip_prefix("[?(") {
            let end = filter_end(after)?;
            steps.push(filter(&after[..end])?);
            rest = after[end..].strip_prefix(")]")?;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']')?;
            steps.push(bracket(inside)?);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            rest = field(after, &mut steps);
        } else if matches!(first, '@' | '$' | ' ') {
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    Some(steps)
}

/// Reads a field up to what ends it.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> &'t str {
    let (mut name, mut escaped) = (String::new(), false);
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        match letter {
            letter if escaped => {
                name.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            ' ' | '\t' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' => {
                end = at;
                break;
            }
            letter => name.push(letter),
        }
    }
    match name.as_str() {
        "*" => steps.push(Step::All),
        "" => {}
        _ => steps.push(Step::Field(name)),
    }
    &text[end..]
}

fn bracket(inside: &str) -> Option<Step> {
    let quoted = |quote: char| inside.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(key) = quoted('\'').or_else(|| quoted('"')) {
        return Some(Step::Field(key.replace('\\', "")));
    }
    let inside = if inside == "*" { ":" } else { inside };
    let mut parts = inside.split(':');
    let number = |part: Option<&str>| part.filter(|part| !part.is_empty()).map(str::parse::<i64>).transpose();
    let from = number(parts.next()).ok()?;
    let end = match (parts.next(), from) {
        (None, None) => return None,
        (None, Some(_)) => End::Only,
        (Some(""), _) => End::Open,
        (Some(end), _) => End::At(end.parse().ok()?),
    };
    let distance = number(parts.next()).ok()?.map_or(Some(1), |distance| usize::try_from(distance).ok())?;
    (distance > 0 && parts.next().is_none()).then_some(Step::Slice(from, end, distance))
}

/// Where a filter ends: at a parenthesis that is in no quotes.
fn filter_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (None, ')') => return Some(at),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    None
}

fn filter(text: &str) -> Option<Step> {
    let is_operator = |letter: char| matches!(letter, '!' | '<' | '>' | '=');
    let Some(start) = text.find(is_operator) else { return Some(Step::Filter(steps(text)?, None)) };
    let right = text[start..].trim_start_matches(is_operator);
    let operator = &text[start..text.len() - right.len()];
    if !matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=") {
        return None;
    }
    let right = right.trim();
    let quoted = |quote: char| right.strip_prefix(quote)?.strip_suffix(quote);
    let operand = match quoted('"').or_else(|| quoted('\'')) {
        Some(text) => Operand::Value(text.into()),
        None if right.starts_with(['@', '.', '$']) => Operand::Path(steps(right)?),
        None => Operand::Value(serde_json::from_str(right).ok()?),
    };
    Some(Step::Filter(steps(text[..start].trim())?, Some((operator.to_owned(), operand))))
}

/// Goes the steps from some values; `None` where a step makes no sense.
fn walk<'v>(mut values: Vec<&'v Value>, steps: &[Step]) -> Option<Vec<&'v Value>> {
    for step in steps {
        let mut next = Vec::new();
        for value in values.into_iter().filter(|value| !value.is_null()) {
            match step {
                Step::Field(name) => next.extend(value.get(name)),
                Step::All => next.extend(children(value)),
                Step::Descend => descend(value, &mut next),
                Step::Slice(from, end, distance) => {
                    let items = slice(value.as_array()?, *from, *end)?;
                    next.extend(items.iter().step_by(*distance));
                }
                Step::Filter(left, comparison) => {
                    for item in value.as_array()? {
                        if passes(item, left, comparison.as_ref())? {
                            next.push(item);
                        }
                    }
                }
            }
        }
        values = next;
    }
    Some(values)
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    let children = children(value);
    if !children.is_empty() {
        found.push(value);
        children.into_iter().for_each(|child| descend(child, found));
    }
}

fn slice(items: &[Value], from: Option<i64>, end: End) -> Option<&[Value]> {
    let length = i64::try_from(items.len()).ok()?;
    let from = from.unwrap_or_default();
    let from = if from < 0 { from + length } else { from };
    let end = match end {
        End::Only => from + 1,
        End::Open => length,
        End::At(end) if end < 0 => end + length,
        End::At(end) => end,
    };
    if from == end {
        return Some(&[]);
    }
    items.get(usize::try_from(from).ok()?..usize::try_from(end).ok()?)
}

fn passes(item: &Value, left: &[Step], comparison: Option<&(String, Operand)>) -> Option<bool> {
    let lefts = walk(vec![item], left).unwrap_or_default();
    let Some((operator, operand)) = comparison else { return Some(!lefts.is_empty()) };
    let rights = match operand {
        Operand::Path(steps) => walk(vec![item], steps)?,
        Operand::Value(value) => vec![value],
    };
    let (left, right) = match (&lefts[..], &rights[..]) {
        ([], _) | (_, []) => return Some(false),
        ([left], [right]) => (*left, *right),
        _ => return None,
    };
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.partial_cmp(right)?,
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
        (Value::Bool(left), Value::Bool(right)) => left.partial_cmp(right)?,
        _ => return None,
    };
    Some(match operator.as_str() {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        _ => order.is_ge(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> String {
        let object = json!({
            "spec": { "n": 3, "list": ["a", "b", "c"], "a.b": "dot" },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }, { "type": "Old", "status": "No" }] },
        });
        let path = JsonPath::parse(path).unwrap_or_else(|| panic!("{path}"));
        path.find(&object).map_or_else(|| "-".to_owned(), |found| found.to_string())
    }

    #[test]
    fn paths_of_printer_columns_lead_to_values() {
        assert_eq!(found(".spec.n"), "3");
        assert_eq!(found(".spec.absent.more"), "-");
        assert_eq!(found(r".spec.a\.b"), "\"dot\"");
        assert_eq!(found(".spec['a.b']"), "\"dot\"");
        assert_eq!(found(".spec.list[1]"), "\"b\"");
        assert_eq!(found(".spec.list[-1:]"), "\"c\"");
        assert_eq!(found(".spec.list[*]"), "\"a\"");
        assert_eq!(found(".spec.list[7]"), "-");
        assert_eq!(found(r#".status.conditions[?(@.type=="Ready")].status"#), "\"True\"");
        assert_eq!(found(".status.conditions[?(@.type=='Old')].status"), "\"No\"");
        assert_eq!(found(".status.conditions[?(@.message)].status"), "-");
        assert_eq!(
            found("..status"),
            r#"{"conditions":[{"status":"True","type":"Ready"},{"status":"No","type":"Old"}]}"#
        );
        assert_eq!(JsonPath::parse("spec"), None);
    }
}
