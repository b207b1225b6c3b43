//! The content of a refusal.

use kube::core::{Status, response::StatusCause};

/// What the server says instead of a text that can't be shown.
pub(in crate::operations) const IMMUTABLE: &str = "field is immutable";

/// What the server says about fields that can't be changed once they are set; the texts differ between kinds.
const IMMUTABLE_WORDS: [&str; 6] = [
    "immutable",
    "may not change once set",
    "may not change fields other than",
    "cannot change roleRef",
    "updates to statefulset spec for fields other than",
    "updates to parameters are forbidden",
];

/// Whether a refusal cites only fields that can't be changed in an existing object: a new object may have them as
/// desired.
pub(in crate::operations) fn is_immutable(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes).peekable();
    status.code == 422 && causes.peek().is_some() && causes.all(|cause| says_immutable(&cause.message))
}

/// Whether it cites such a field among others.
pub(super) fn is_partly_immutable(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    causes.any(|cause| says_immutable(&cause.message))
}

/// Whether the message of a cause says so. What it repeats of the object comes first and may be anything, so only the
/// end of the message counts.
pub(in crate::operations) fn says_immutable(message: &str) -> bool {
    // What differs may follow in further lines.
    let line = message.lines().next().unwrap_or_default();
    let end = line.rsplit(": ").next().unwrap_or(line);
    IMMUTABLE_WORDS.iter().any(|words| end.contains(words))
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Field(String),
    Item(usize),
}

/// A cause of a refusal, as far as it is about a place in the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) path: Vec<Step>,
    pub(super) reason: Reason,
}

/// The reason of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It has to be the only one with its value.
    Duplicate,
    /// Something else that others, or what is beside it, may have caused.
    AmongOthers,
    /// The value itself is wrong.
    ItsOwn,
}

impl Cause {
    pub(super) fn of(cause: &StatusCause) -> Option<Self> {
        let reason = match &*cause.reason {
            "FieldValueDuplicate" => Reason::Duplicate,
            "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueTooMany" => {
                Reason::AmongOthers
            }
            _ => Reason::ItsOwn,
        };
        Some(Self { path: steps(&cause.field)?, reason })
    }
}

/// The steps of `spec.ports[1].name`. A name in brackets, which is no number, is a field: `metadata.labels[a.io/b]`.
fn steps(field: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']')?;
            let step = inside.parse().map_or_else(|_| Step::Field(inside.to_owned()), Step::Item);
            steps.push(step);
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Field(name.to_owned()));
            rest = after.strip_prefix('.').unwrap_or(after);
        }
    }
    (!steps.is_empty()).then_some(steps)
}
