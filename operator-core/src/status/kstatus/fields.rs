//! Reading fields whose type isn't known to the compiler.

use std::borrow::Cow;

use serde_json::Value;

use crate::status::Error;

/// An object. Fields are named by their path, whose parts have no dots.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Value);

/// An entry of `status.conditions`; what is missing is empty.
pub(super) struct SeenCondition<'a> {
    pub(super) r#type: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl SeenCondition<'_> {
    pub(super) fn is_true(&self) -> bool {
        self.status == "True"
    }

    /// Its message, or if it has none, its type and status.
    pub(super) fn words(&self) -> String {
        match self.message {
            "" => format!("{} is {}", self.r#type, self.status),
            message => message.to_owned(),
        }
    }

    /// Its reason, or another one if it has none.
    pub(super) fn reason_or(&self, default: &'static str) -> Cow<'static, str> {
        if self.reason.is_empty() { default.into() } else { self.reason.to_owned().into() }
    }
}

impl<'a> Fields<'a> {
    /// A field; `null` is absent.
    fn field(self, path: &str) -> Result<Option<&'a Value>, Error> {
        let mut value = self.0;
        let mut end = 0;
        for part in path.split('.') {
            if !value.is_object() {
                return Err(wrong(path[..end].trim_end_matches('.'), "an object"));
            }
            end += part.len() + 1;
            match value.get(part) {
                None | Some(Value::Null) => return Ok(None),
                Some(inner) => value = inner,
            }
        }
        Ok(Some(value))
    }

    pub(super) fn text(self, path: &str) -> Result<Option<&'a str>, Error> {
        let text = |value: &'a Value| value.as_str().ok_or_else(|| wrong(path, "a string"));
        self.field(path)?.map(text).transpose()
    }

    pub(super) fn integer(self, path: &str) -> Result<Option<i64>, Error> {
        let integer = |value: &Value| value.as_i64().ok_or_else(|| wrong(path, "an integer"));
        self.field(path)?.map(integer).transpose()
    }

    pub(super) fn boolean(self, path: &str) -> Result<Option<bool>, Error> {
        let boolean = |value: &Value| value.as_bool().ok_or_else(|| wrong(path, "a boolean"));
        self.field(path)?.map(boolean).transpose()
    }

    pub(super) fn list(self, path: &str) -> Result<&'a [Value], Error> {
        let list =
            |value: &'a Value| value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(path, "a list"));
        Ok(self.field(path)?.map(list).transpose()?.unwrap_or_default())
    }

    /// A number of replicas in the status.
    pub(super) fn count(self, path: &str) -> Result<i64, Error> {
        Ok(self.integer(path)?.unwrap_or_default())
    }

    /// The number of replicas that are wanted. The server's default is one.
    pub(super) fn replicas(self) -> Result<i64, Error> {
        Ok(self.integer("spec.replicas")?.unwrap_or(1))
    }

    pub(super) fn conditions(self) -> Result<Vec<SeenCondition<'a>>, Error> {
        const PATH: &str = "status.conditions";
        let read = |condition: &'a Value| {
            if !condition.is_object() {
                return Err(wrong(PATH, "a list of objects"));
            }
            let text = |name| match Fields(condition).text(name) {
                Ok(text) => Ok(text.unwrap_or_default()),
                Err(_) => Err(wrong(&format!("{PATH}[].{name}"), "a string")),
            };
            let (r#type, status) = (text("type")?, text("status")?);
            Ok(SeenCondition { r#type, status, reason: text("reason")?, message: text("message")? })
        };
        self.list(PATH)?.iter().map(read).collect()
    }

    /// The core group is the empty string.
    pub(super) fn group_and_kind(self) -> Result<(&'a str, &'a str), Error> {
        let api_version = self.text("apiVersion")?.unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Ok((group, self.text("kind")?.unwrap_or_default()))
    }
}

fn wrong(path: &str, expected: &'static str) -> Error {
    let path = if path.is_empty() { "." } else { path };
    Error::Type { path: path.to_owned(), expected }
}
