//! The rules of a schema (`x-kubernetes-validations`), compiled, and what they say of an object.
//!
//! ```text
//!  object ─▶ rules of its schema ─▶ rules of its fields, items and entries, each with what was there before
//! ```

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    flag,
    values::{Cause, Old, cause, child},
};
use crate::in_process::cel::{Expression, Failed, OldSelf, Outcome, Type, declare};

/// The longest message that an expression may make.
const LONGEST: usize = 5 * 1024;

/// The rules of a schema and of what is below it.
#[derive(Debug, Default)]
pub(super) struct Rules {
    own: Vec<Rule>,
    items: Option<Box<Rules>>,
    others: Option<Box<Rules>>,
    properties: BTreeMap<String, Rules>,
}

#[derive(Debug)]
struct Rule {
    /// `None` if it could not be compiled, and the server was told to let it be.
    expression: Option<Expression>,
    message: Option<String>,
    message_expression: Option<Expression>,
    reason: Option<String>,
    /// Where below the value the failure is.
    path: Option<String>,
    optional_old: bool,
    text: String,
}

impl Rules {
    /// Compiles the rules of a schema; `None` if it has none.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        if !has_rules(schema) {
            return None;
        }
        let declared = declare(schema, true, "selfType0")?;
        Self::at(schema, &declared)
    }

    /// The same for a part of a schema.
    pub(super) fn of_part(schema: &Value) -> Option<Self> {
        if !has_rules(schema) {
            return None;
        }
        let declared = declare(schema, flag(schema, "x-kubernetes-embedded-resource"), "selfType0")?;
        Self::at(schema, &declared)
    }

    /// What a default comes to: it is what was there before, too.
    pub(super) fn check_part(&self, schema: &Value, default: &Value, path: &str) -> Vec<Cause> {
        let mut causes = Vec::new();
        for old in [Some(default), None] {
            let mut run = Run::default();
            let is_root = flag(schema, "x-kubernetes-embedded-resource");
            let at = Place { path, is_root, old, correlated: None, nearest: None };
            let _ended = run.value(self, schema, default, at);
            if !run.causes.is_empty() {
                causes = run.causes;
                break;
            }
        }
        causes
    }

    fn at(schema: &Value, declared: &Type) -> Option<Self> {
        let mut rules = Self {
            own: own(schema).map(|rule| Rule::compile(schema, rule, declared)).collect(),
            ..Self::default()
        };
        let below = |schema: &Value| -> Option<Box<Self>> {
            if !has_rules(schema) {
                return None;
            }
            let declared = declare(schema, flag(schema, "x-kubernetes-embedded-resource"), "selfType0")?;
            Self::at(schema, &declared).map(Box::new)
        };
        rules.items = schema.get("items").and_then(below);
        rules.others = schema.get("additionalProperties").filter(|others| others.is_object()).and_then(below);
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let Some(below) = below(property) {
                rules.properties.insert(name.clone(), *below);
            }
        }
        let is_empty = rules.own.is_empty()
            && rules.items.is_none()
            && rules.others.is_none()
            && rules.properties.is_empty();
        (!is_empty).then_some(rules)
    }

    /// The causes for which an object is refused, and those that are let be because they were there before.
    pub(super) fn check(
        &self,
        schema: &Value,
        object: &Value,
        old: Option<&Value>,
    ) -> (Vec<Cause>, Vec<Cause>) {
        let mut run = Run::default();
        let at = Place { path: "", is_root: true, old, correlated: old.map(Old), nearest: None };
        // A rule that takes too long is a cause by itself.
        let _ended = run.value(self, schema, object, at);
        (run.causes, run.let_be)
    }
}

/// Whether there are rules in a schema or below it.
pub(super) fn has_rules(schema: &Value) -> bool {
    if own(schema).next().is_some() {
        return true;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    ["items", "additionalProperties"].iter().any(|word| schema.get(word).is_some_and(has_rules))
        || properties.into_iter().flatten().any(|(_, property)| has_rules(property))
}

fn own(schema: &Value) -> impl Iterator<Item = &Value> {
    schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten()
}

impl Rule {
    fn compile(schema: &Value, rule: &Value, declared: &Type) -> Self {
        let text = |word: &str| rule.get(word).and_then(Value::as_str).filter(|text| !text.is_empty());
        let optional_old = flag(rule, "optionalOldSelf");
        let compile = |text: &str| Expression::compile(text, declared, optional_old).ok();
        Self {
            expression: text("rule").and_then(compile),
            message: text("message").map(|text| text.trim().to_owned()),
            message_expression: text("messageExpression").and_then(compile),
            reason: text("reason").map(str::to_owned),
            path: text("fieldPath").and_then(|path| field_path(schema, path).ok()).map(|(path, _)| path),
            optional_old,
            text: text("rule").unwrap_or_default().trim().to_owned(),
        }
    }

    /// How a rule is called in messages.
    fn name(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.text)
    }

    /// What a failure is called.
    fn detail(&self, schema: &Value, value: &Value, at: Place<'_>, old: OldSelf<'_>) -> String {
        let given = || self.message.clone().unwrap_or_else(|| format!("failed rule: {}", self.text));
        let Some(expression) = &self.message_expression else { return given() };
        match expression.run(schema, at.is_root, value, old) {
            Ok(Outcome::Text(text)) => {
                let text = text.trim();
                let usable = !text.is_empty() && text.len() <= LONGEST && !text.contains('\n');
                if usable { text.to_owned() } else { given() }
            }
            _ => given(),
        }
    }

    fn failed(&self, schema: &Value, value: &Value, at: Place<'_>, detail: &str) -> Cause {
        let path = match &self.path {
            Some(below) if at.path.is_empty() => below.clone(),
            Some(below) if below.starts_with('[') => format!("{}{below}", at.path),
            Some(below) => format!("{}.{below}", at.path),
            None => at.path.to_owned(),
        };
        let whole = matches!(schema.get("type").and_then(Value::as_str), Some("object" | "array"));
        let shown = |what: &str| {
            let shown = if whole { what.to_owned() } else { format!("{what}: {value}") };
            if detail.is_empty() { shown } else { format!("{shown}: {detail}") }
        };
        match self.reason.as_deref() {
            Some("FieldValueForbidden") => cause("Forbidden", &path, format!("Forbidden: {detail}")),
            Some("FieldValueRequired") => cause("Required", &path, format!("Required value: {detail}")),
            Some("FieldValueDuplicate") => {
                let what =
                    if whole { "Duplicate value".to_owned() } else { format!("Duplicate value: {value}") };
                cause("Duplicate", &path, what)
            }
            _ => cause("Invalid", &path, shown("Invalid value")),
        }
    }
}

/// Where a value is, and what was there before.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p str,
    is_root: bool,
    old: Option<&'p Value>,
    /// What it is compared with to let failures be that were there before.
    correlated: Option<Old<'p>>,
    /// Whether the nearest value around it that can be compared is the same.
    nearest: Option<bool>,
}

impl<'p> Place<'p> {
    fn below(
        self,
        path: &'p str,
        schema: &Value,
        value: &Value,
        old: Option<&'p Value>,
        correlated: impl FnOnce(Old<'p>) -> Option<Old<'p>>,
        is_type: bool,
    ) -> Self {
        let is_root = flag(schema, "x-kubernetes-embedded-resource");
        let (correlated, nearest) = match self.correlated {
            None => (None, self.nearest),
            Some(_) if self.nearest.is_none() && is_type => (None, None),
            Some(old) => (correlated(old), Some(old.is_same(value))),
        };
        Place { path, is_root, old, correlated, nearest }
    }
}

#[derive(Default)]
struct Run {
    causes: Vec<Cause>,
    let_be: Vec<Cause>,
}

/// Nothing more is checked.
struct Ended;

impl Run {
    fn value(&mut self, rules: &Rules, schema: &Value, value: &Value, at: Place<'_>) -> Result<(), Ended> {
        if value.is_null() {
            return Ok(());
        }
        self.own(rules, schema, value, at)?;
        match value {
            Value::Array(items) => {
                let (Some(rules), Some(of)) = (&rules.items, schema.get("items")) else { return Ok(()) };
                for (index, item) in items.iter().enumerate() {
                    let old = at.old.map(Old).and_then(|old| old.item(schema, item));
                    let path = format!("{}[{index}]", at.path);
                    let below =
                        at.below(&path, of, value, old.map(|old| old.0), |old| old.item(schema, item), false);
                    self.value(rules, of, item, below)?;
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let old = at.old.and_then(|old| old.as_object()?.get(name));
                    let is_type = matches!(name.as_str(), "apiVersion" | "kind");
                    let others = schema.get("additionalProperties");
                    if let (Some(rules), Some(of)) = (&rules.others, others) {
                        let path = format!("{}[{name}]", at.path);
                        let below = at.below(&path, of, value, old, |old| old.field(name), is_type);
                        self.value(rules, of, field, below)?;
                    }
                    let property = schema.get("properties").and_then(|properties| properties.get(name));
                    if let (Some(rules), Some(of)) = (rules.properties.get(name), property) {
                        let path = child(at.path, name);
                        let below = at.below(&path, of, value, old, |old| old.field(name), is_type);
                        self.value(rules, of, field, below)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn own(&mut self, rules: &Rules, schema: &Value, value: &Value, at: Place<'_>) -> Result<(), Ended> {
        if rules.own.is_empty() {
            return Ok(());
        }
        let of = schema.get("type").cloned().unwrap_or_else(|| "".into());
        let fail = |why: String| cause("Invalid", at.path, format!("Invalid value: {of}: {why}"));
        for rule in &rules.own {
            let Some(expression) = &rule.expression else { continue };
            if expression.uses_old && at.old.is_none() && !rule.optional_old {
                continue;
            }
            let old = if rule.optional_old { OldSelf::Optional(at.old) } else { OldSelf::Value(at.old) };
            match expression.run(schema, at.is_root, value, old) {
                Ok(Outcome::Bool(true)) => {}
                Ok(_) => {
                    let detail = rule.detail(schema, value, at, old);
                    let failed = rule.failed(schema, value, at, &detail);
                    let ratcheted = !expression.uses_old
                        && match at.correlated {
                            Some(old) => old.is_same(value),
                            None => at.nearest.unwrap_or(false),
                        };
                    if ratcheted { &mut self.let_be } else { &mut self.causes }.push(failed);
                }
                Err(Failed::TooLong) => {
                    let why = "operation cancelled: actual cost limit exceeded";
                    self.causes.push(fail(format!(
                        "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                        rule.name()
                    )));
                    return Err(Ended);
                }
                Err(Failed::Said(why)) if why.starts_with("no such overload") => {
                    self.causes.push(fail(format!(
                        "'{why}': call arguments did not match a supported operator, function or macro signature for \
                         rule: {}",
                        rule.name()
                    )));
                }
                Err(Failed::Said(why)) => {
                    self.causes.push(fail(format!("{why} evaluating rule: {}", rule.name())));
                }
            }
        }
        Ok(())
    }
}

/// The path of a rule (`.a.b['c']`) in the form of messages, and the schema that it leads to; the error is the real
/// server's.
pub(in crate::in_process) fn field_path<'s>(
    schema: &'s Value,
    path: &str,
) -> Result<(String, &'s Value), String> {
    let (mut at, mut shown, mut rest) = (schema, String::new(), path);
    let step = |at: &'s Value, name: &str| -> Result<(&'s Value, bool), String> {
        let missing = || "does not refer to a valid field".to_owned();
        match (at.get("properties"), at.get("additionalProperties").filter(|others| others.is_object())) {
            (Some(properties), _) => properties.get(name).map(|of| (of, true)).ok_or_else(missing),
            (None, Some(others)) => Ok((others, false)),
            (None, None) => Err(missing()),
        }
    };
    while !rest.is_empty() {
        let name;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[', ']']).unwrap_or(after.len());
            if after.is_empty() {
                return Err("unexpected end of JSON path".to_owned());
            }
            name = after[..end].to_owned();
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix('[') {
            let inner = after.strip_prefix('\'').ok_or_else(|| {
                let end = after.find(['.', '[', ']']).unwrap_or(after.len());
                format!("expected single quoted string but got {}", &after[..end])
            })?;
            let end = inner.find('\'').ok_or_else(|| "unexpected end of JSON path".to_owned())?;
            name = inner[..end].to_owned();
            rest =
                inner[end + 1..].strip_prefix(']').ok_or_else(|| "unexpected end of JSON path".to_owned())?;
        } else {
            let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
            return Err(format!("expected [ or . but got: {}", &rest[..end]));
        }
        let (of, named) = step(at, &name)?;
        at = of;
        shown = if named { child(&shown, &name) } else { format!("{shown}[{name}]") };
    }
    Ok((shown, at))
}
