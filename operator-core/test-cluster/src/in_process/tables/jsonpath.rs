//! Kubernetes' JSONPath, as printer columns use it: fields, indices, slices and unions, wildcards, descent, filters, constants.
//!
//! ```text
//!  text ─▶ nodes, by Go's scanner ─▶ each node turns the values that there are into the next ones
//! ```
//!
//! # Guarantees
//! - A text is a path here if it is one to the real server, which takes much for a path: `[]` is the first item.

use std::{borrow::Cow, cell::Cell};

use serde_json::Value;

use crate::in_process::go::text_of;

/// A parsed path. What follows a closing brace is further templates: they show nothing, but may fail.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::in_process) struct JsonPath {
    nodes: Vec<Node>,
    further: Vec<Vec<Node>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Field(String),
    Slice(Slice),
    Union(Vec<Vec<Node>>),
    All,
    Descend,
    Filter(Vec<Node>, Option<(String, Vec<Node>)>),
    /// A text, a truth or a number, whatever the values are: a text is there once, the others for each value.
    Constant(Value),
    /// A word of templates, which no column has use for.
    Word(String),
}

/// From, to, and the distance; what isn't given is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    /// The end comes from the beginning: it is one item.
    is_one: bool,
    distance: Option<i64>,
}

impl JsonPath {
    /// Reads a path such as `.spec.conditions[?(@.type=="Ready")].status`; `None` if it is none.
    pub(in crate::in_process) fn parse(text: &str) -> Option<Self> {
        let mut further = Vec::new();
        Some(Self { nodes: nodes(text, &mut further)?, further })
    }

    /// The first value that the path leads to: a part of the object, or what the path itself says.
    pub(in crate::in_process) fn find<'v>(&self, object: &'v Value) -> Option<Cow<'v, Value>> {
        let walker = Walker::default();
        let found = walker.walk(vec![Cow::Borrowed(object)], &self.nodes).ok()?;
        for nodes in &self.further {
            walker.walk(vec![Cow::Borrowed(object)], nodes).ok()?;
        }
        found.into_iter().next().filter(|_| !walker.has_range.get())
    }
}

/// The nodes of a text up to its end, or up to a closing brace, after which further templates may come.
fn nodes(text: &str, further: &mut Vec<Vec<Node>>) -> Option<Vec<Node>> {
    let (mut nodes, mut rest) = (Vec::new(), text);
    loop {
        if let Some(after) = rest.strip_prefix("[?(") {
            rest = filter(after, &mut nodes)?;
            continue;
        }
        if let Some(after) = rest.strip_prefix("..") {
            if nodes.last() == Some(&Node::Descend) {
                return None;
            }
            nodes.push(Node::Descend);
            // The first letter of the name is read in any case.
            rest = if after.starts_with(is_letter) { field(after, &mut nodes)? } else { after };
            continue;
        }
        let Some(first) = rest.chars().next() else { return Some(nodes) };
        let after = &rest[first.len_utf8()..];
        rest = match first {
            '}' => {
                if let Some((_, template)) = after.split_once('{') {
                    let template = self::nodes(template, further)?;
                    further.insert(0, template);
                }
                return Some(nodes);
            }
            '\r' | '\n' => return None,
            ' ' | '@' | '$' => after,
            '[' => array(after, &mut nodes)?,
            '"' | '\'' => quote(rest, first, &mut nodes)?,
            '.' => field(after, &mut nodes)?,
            '+' | '-' => number(rest, &mut nodes)?,
            digit if digit.is_numeric() => number(rest, &mut nodes)?,
            letter if is_letter(letter) => word(rest, &mut nodes),
            _ => return None,
        };
    }
}

/// The nodes of a part of a path, whose further templates are only read.
fn part(text: &str) -> Option<Vec<Node>> {
    nodes(text, &mut Vec::new())
}

fn is_letter(letter: char) -> bool {
    letter == '_' || letter.is_alphabetic() || letter.is_numeric()
}

fn ends(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Reads a field up to what ends it. A backslash at the end of a text would take the brace that ends the template with it.
fn field<'t>(text: &'t str, nodes: &mut Vec<Node>) -> Option<&'t str> {
    let (mut escaped, mut end) = (false, text.len());
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if ends(letter) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    if escaped {
        return None;
    }
    nodes.push(match &text[..end] {
        "*" => Node::All,
        name => Node::Field(name.replace('\\', "")),
    });
    Some(&text[end..])
}

fn word<'t>(text: &'t str, nodes: &mut Vec<Node>) -> &'t str {
    let (word, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    nodes.push(match word {
        "true" | "false" => Node::Constant((word == "true").into()),
        word => Node::Word(word.to_owned()),
    });
    rest
}

fn number<'t>(text: &'t str, nodes: &mut Vec<Node>) -> Option<&'t str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits =
        unsigned.find(|letter: char| letter != '.' && !letter.is_numeric()).unwrap_or(unsigned.len());
    let (number, rest) = text.split_at(text.len() - unsigned.len() + digits);
    let value = match number.parse::<i64>() {
        Ok(whole) => whole.into(),
        Err(_) => number.parse::<f64>().ok().map(Value::from)?,
    };
    nodes.push(Node::Constant(value));
    Some(rest)
}

fn quote<'t>(text: &'t str, quote: char, nodes: &mut Vec<Node>) -> Option<&'t str> {
    let mut before = quote;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' => return None,
            letter if letter == quote && before != '\\' => {
                nodes.push(Node::Constant(unquoted(&text[1..at], quote)?.into()));
                return Some(&text[at + 1..]);
            }
            letter => before = letter,
        }
    }
    None
}

/// A text whose escapes are Go's: some are of letters, and some of bytes, which may make no letter.
fn unquoted(text: &str, quote: char) -> Option<String> {
    let (mut out, mut letters) = (Vec::with_capacity(text.len()), text.chars());
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => letters.next()?,
            letter if letter == quote => return None,
            letter => {
                out.extend(letter.to_string().bytes());
                continue;
            }
        };
        let mut code = |first: &str, count: usize, radix: u32| {
            let digits: String = first.chars().chain(letters.by_ref().take(count)).collect();
            let is_whole =
                digits.len() == first.len() + count && digits.chars().all(|digit| digit.is_digit(radix));
            u32::from_str_radix(&digits, radix).ok().filter(|_| is_whole)
        };
        let escaped = match letter {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            same if same == '\\' || same == quote => same,
            'u' => char::from_u32(code("", 4, 16)?)?,
            'U' => char::from_u32(code("", 8, 16)?)?,
            'x' | '0'..='7' => {
                let byte =
                    if letter == 'x' { code("", 2, 16) } else { code(letter.encode_utf8(&mut [0; 4]), 2, 8) };
                out.push(u8::try_from(byte?).ok()?);
                continue;
            }
            _ => return None,
        };
        out.extend(escaped.to_string().bytes());
    }
    Some(text_of(&out))
}

/// Reads what stands in brackets.
fn array<'t>(text: &'t str, nodes: &mut Vec<Node>) -> Option<&'t str> {
    let (inside, rest) = text.split_once(']')?;
    if inside.contains('\n') {
        return None;
    }
    let inside = if inside == "*" { ":" } else { inside };
    if inside.contains(',') {
        let one = |one: &str| self::part(&format!("[{}]", one.trim_matches(' ')));
        nodes.push(Node::Union(inside.split(',').map(one).collect::<Option<_>>()?));
        return Some(rest);
    }
    let key = inside.strip_prefix('\'').and_then(|inside| inside.strip_suffix('\''));
    if let Some(key) = key.filter(|key| !key.contains('\'')) {
        nodes.extend(self::part(&format!(".{key}"))?);
        return Some(rest);
    }
    let mut parts = inside.split(':');
    let number = |part: &str| match part {
        "" => Some(None),
        number => {
            let digits = number.strip_prefix('-').unwrap_or(number);
            let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| number.parse::<i64>().ok()).flatten().map(Some)
        }
    };
    let from = number(parts.next().unwrap_or_default())?;
    let to = parts.next().map(number);
    let distance = parts.next().map_or(Some(None), number)?;
    if parts.next().is_some() {
        return None;
    }
    nodes.push(Node::Slice(match to {
        None => Slice { from, to: Some(from.unwrap_or_default().wrapping_add(1)), is_one: true, distance },
        Some(to) => Slice { from, to: to?, is_one: false, distance },
    }));
    Some(rest)
}

/// Reads a filter whose beginning has been read.
fn filter<'t>(text: &'t str, nodes: &mut Vec<Node>) -> Option<&'t str> {
    let (mut quote, mut has_ended, mut before) = (None, false, ' ');
    let end = text.char_indices().find_map(|(at, letter)| {
        match (quote, letter) {
            (_, '\n') => return Some(None),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter && before != '\\' => has_ended = true,
            (quote, ')') if quote.is_some() == has_ended => return Some(Some(at)),
            _ => {}
        }
        before = letter;
        None
    })??;
    let rest = text[end + 1..].strip_prefix(']')?;
    let inside = &text[..end];
    let is_operator = |letter: char| matches!(letter, '!' | '<' | '>' | '=');
    let start = inside.find(is_operator).filter(|start| *start > 0);
    let right = start.map(|start| inside[start..].trim_start_matches(is_operator));
    nodes.push(match (start, right) {
        (Some(start), Some(right)) if !right.is_empty() => {
            let operator = inside[start..inside.len() - right.len()].to_owned();
            Node::Filter(self::part(&inside[..start])?, Some((operator, self::part(right)?)))
        }
        // An operator of several signs is compared with its last one, which is no path; one sign is a part of a name.
        (Some(start), Some(_)) if inside.len() > start + 1 => return None,
        _ => Node::Filter(self::part(inside)?, None),
    });
    Some(rest)
}

/// What a node makes of values.
type Values<'v> = Vec<Cow<'v, Value>>;

/// Goes from values to values.
#[derive(Debug, Default)]
struct Walker {
    /// Whether there was a `range`, wherever it was: it is for what comes after the template, and so nothing is found.
    has_range: Cell<bool>,
}

impl Walker {
    /// Goes the nodes from some values. The error is what is there where a node makes no sense.
    fn walk<'v>(&self, mut values: Values<'v>, nodes: &[Node]) -> Result<Values<'v>, Values<'v>> {
        for node in nodes {
            values = self.step(values, node)?;
        }
        Ok(values)
    }

    fn step<'v>(&self, values: Values<'v>, node: &Node) -> Result<Values<'v>, Values<'v>> {
        let present = || values.iter().filter(|value| !value.is_null());
        let mut found = Vec::new();
        match node {
            Node::Field(name) => found.extend(present().filter_map(|value| match value {
                Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
                Cow::Owned(_) => None,
            })),
            Node::All => found.extend(present().flat_map(children)),
            Node::Descend => present().for_each(|value| descend(value.clone(), &mut found)),
            Node::Slice(slice) => {
                for value in present() {
                    let part = match value {
                        Cow::Borrowed(Value::Array(items)) => slice.of(items),
                        _ => None,
                    };
                    match part {
                        None => return Err(values),
                        // What comes after an empty part isn't looked at.
                        Some(None) => break,
                        Some(Some(items)) => found.extend(items.map(Cow::Borrowed)),
                    }
                }
            }
            Node::Union(parts) => {
                for part in parts {
                    let Ok(part) = self.walk(values.clone(), part) else { return Err(values) };
                    found.extend(part);
                }
            }
            Node::Filter(left, comparison) => {
                for value in &values {
                    let Cow::Borrowed(Value::Array(items)) = value else { return Err(values) };
                    for item in items {
                        match self.passes(item, left, comparison.as_ref()) {
                            Passes::Yes => found.push(Cow::Borrowed(item)),
                            Passes::No => {}
                            Passes::Senseless => return Err(values),
                            Passes::Incomparable => return Err(found),
                        }
                    }
                }
            }
            Node::Constant(text @ Value::String(_)) => found.push(Cow::Owned(text.clone())),
            Node::Constant(value) => found.extend(values.iter().map(|_| Cow::Owned(value.clone()))),
            Node::Word(word) => match word.as_str() {
                "range" => {
                    self.has_range.set(true);
                    return Ok(values);
                }
                "end" => return Err(Vec::new()),
                _ => return Err(values),
            },
        }
        Ok(found)
    }

    fn passes(&self, item: &Value, left: &[Node], comparison: Option<&(String, Vec<Node>)>) -> Passes {
        let lefts = self.walk(vec![Cow::Borrowed(item)], left);
        let Some((operator, right)) = comparison else {
            // What is there where a node makes no sense exists.
            let lefts = lefts.unwrap_or_else(|there| there);
            return if lefts.is_empty() { Passes::No } else { Passes::Yes };
        };
        let Ok(lefts) = lefts else { return Passes::Senseless };
        let left = match &lefts[..] {
            [] => return Passes::No,
            [left] => left,
            _ => return Passes::Senseless,
        };
        let Ok(rights) = self.walk(vec![Cow::Borrowed(item)], right) else { return Passes::Senseless };
        let right = match &rights[..] {
            [] => return Passes::No,
            [right] => right,
            _ => return Passes::Senseless,
        };
        compare(left, operator, right)
    }
}

fn children<'v>(value: &Cow<'v, Value>) -> Values<'v> {
    match value {
        Cow::Borrowed(Value::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Object(fields)) => fields.values().map(Cow::Borrowed).collect(),
        // A text consists of bytes.
        value => match value.as_str() {
            Some(text) => text.bytes().map(|byte| Cow::Owned(byte.into())).collect(),
            None => Vec::new(),
        },
    }
}

fn descend<'v>(value: Cow<'v, Value>, found: &mut Values<'v>) {
    let children = children(&value);
    if !children.is_empty() {
        found.push(value);
        children.into_iter().for_each(|child| descend(child, found));
    }
}

impl Slice {
    /// The part of a list; nothing where the part is empty by itself, and no part beyond the ends of the list.
    fn of(self, items: &[Value]) -> Option<Option<impl Iterator<Item = &Value>>> {
        let length = i64::try_from(items.len()).ok()?;
        let from = self.from.unwrap_or_default();
        let from = if from < 0 { from + length } else { from };
        let to = self.to.unwrap_or(length);
        let to = if to < 0 || to == 0 && self.is_one { to + length } else { to };
        if from == to {
            return Some(None);
        }
        let part = items.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)?;
        let distance = usize::try_from(self.distance.unwrap_or(1)).ok().filter(|distance| *distance > 0)?;
        Some(Some(part.iter().step_by(distance)))
    }
}

/// Whether an item passes a filter.
enum Passes {
    Yes,
    No,
    /// One of its sides makes no sense.
    Senseless,
    Incomparable,
}

fn compare(left: &Value, operator: &str, right: &Value) -> Passes {
    // Whole numbers aren't compared with others, and only texts and numbers have an order.
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (None, None) => left.as_f64().partial_cmp(&right.as_f64()),
            _ => None,
        },
        (Value::Bool(left), Value::Bool(right)) if matches!(operator, "==" | "!=") => Some(left.cmp(right)),
        _ => None,
    };
    let Some(order) = order else { return Passes::Incomparable };
    let passes = match operator {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        ">=" => order.is_ge(),
        _ => return Passes::Incomparable,
    };
    if passes { Passes::Yes } else { Passes::No }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> String {
        let object = json!({
            "spec": { "n": 3, "list": ["a", "b", "c"], "a.b": "dot", "http": [{"hosts": ["h"]}] },
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
        assert_eq!(found(r".spec['a\.b']"), "\"dot\"");
        assert_eq!(found(".spec.list[1]"), "\"b\"");
        assert_eq!(found(".spec.list[-1]"), "\"c\"");
        assert_eq!(found(".spec.list[-1:]"), "\"c\"");
        assert_eq!(found(".spec.list[*]"), "\"a\"");
        assert_eq!(found(".spec.list[7]"), "-");
        assert_eq!(found(".spec.list[2,0]"), "\"c\"");
        assert_eq!(found(".spec.http[].hosts"), "[\"h\"]");
        assert_eq!(found("'text'"), "\"text\"");
        assert_eq!(found(r#".status.conditions[?(@.type=="Ready")].status"#), "\"True\"");
        assert_eq!(found(".status.conditions[?(@.type=='Old')].status"), "\"No\"");
        assert_eq!(found(".status.conditions[?(@.message)].status"), "-");
        assert_eq!(
            found("..status"),
            r#"{"conditions":[{"status":"True","type":"Ready"},{"status":"No","type":"Old"}]}"#
        );
        assert_eq!((found("...n"), found(".spec.n..a|.b")), ("3".to_owned(), "-".to_owned()));
        assert_eq!(found(".spec.n '\\xc3\\xa4\\377'"), "\"ä\u{fffd}\"");
        assert_eq!(
            (found(".spec.n} {.spec.http[0]"), found(".spec.n} {.spec[0]")),
            ("3".to_owned(), "-".to_owned())
        );
        assert_eq!(
            (found(".spec.list[?(range)]"), found(".spec.list[?(end)]")),
            ("-".to_owned(), "-".to_owned())
        );
        assert_eq!(
            (found(".spec.list[?(word)]"), found(".spec.list[9223372036854775807]")),
            ("\"a\"".to_owned(), "-".to_owned())
        );
        const WRONG: [&str; 16] = [
            ".spec[",
            ".spec[x]",
            ".a[?(@.b==1]",
            "\"a",
            ".a[?(@.b==)]",
            ".a[1,x]",
            ".a\\",
            "....a",
            ".a --1",
            ".a[--1]",
            ".a |",
            ".a '\\x+1'",
            ".a '\\12'",
            ".a['b\\']",
            ".n} {.a[",
            ".a[99999999999999999999]",
        ];
        for wrong in WRONG {
            assert_eq!(JsonPath::parse(wrong), None, "{wrong}");
        }
    }
}
