//! The options of lists and of deletions of collections, read in the order of the real server, whose first complaint it
//! is. Pure.

use super::{
    failure::{Cause, Failure},
    kinds::Kind,
    request::{Query, Request, Target},
    selector::Selector,
};

/// What a list is to show.
#[derive(Debug)]
pub(super) struct ListOptions {
    pub(super) selector: Selector,
    /// At most so many objects.
    pub(super) limit: Option<usize>,
}

impl ListOptions {
    /// Reads the options of a request.
    pub(super) fn read(request: &Request, kind: &Kind, target: &Target) -> Result<Self, Failure> {
        let query = &request.query;
        number(query, "timeoutSeconds")?;
        let limit = number(query, "limit")?;
        let parsed = Selector::parse(query.get("labelSelector"), query.get("fieldSelector"))?;
        let causes = contradictions(query);
        if !causes.is_empty() {
            return Err(Failure::options("ListOptions", &causes));
        }
        let by_name = target.name.as_deref();
        let selector = parsed.of_kind(kind)?.named(by_name).within(query.get("shardSelector"))?;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
        Ok(Self { selector, limit })
    }
}

/// A parameter that is a number, if it is there.
pub(super) fn number(query: &Query, name: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = query.all(name).first() else { return Ok(None) };
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if is_number { "value out of range" } else { "invalid syntax" };
    let wrong = |_| Failure::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why}"));
    text.parse().map(Some).map_err(wrong)
}

/// What contradicts itself.
fn contradictions(query: &Query) -> Vec<Cause> {
    let forbidden = |field: &str, why: &str| {
        ("FieldValueForbidden".to_owned(), field.to_owned(), format!("Forbidden: {why}"))
    };
    let mut causes = Vec::new();
    if let Some(matching) = query.get("resourceVersionMatch") {
        let field = "resourceVersionMatch";
        if query.get("resourceVersion").is_none() {
            causes.push(forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if query.get("continue").is_some() {
            causes.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(matching, "Exact" | "NotOlderThan") {
            let message = format!(
                "Unsupported value: \"{matching}\": supported values: \"Exact\", \"NotOlderThan\", \"\""
            );
            causes.push(("FieldValueNotSupported".to_owned(), field.to_owned(), message));
        }
        if matching == "Exact" && query.get("resourceVersion") == Some("0") {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(forbidden(field, why));
        }
    }
    if query.flag("sendInitialEvents").is_some() {
        causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    causes
}
