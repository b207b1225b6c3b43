//! Rendering that stops where an object isn't known yet. Pure: the caller reads what is asked for.
//!
//! ```text
//!               ┌── learn(object) ◀── read ◀──┐
//!               ▼                             │
//! files ──▶ round: render what isn't yet ─────┴─ unknown lookups
//!               └─ all rendered ─▶ objects
//! ```
//!
//! # Guarantees
//! - A file is rendered with the same objects from its beginning to its end.
//! - There are at most [`MOST_ROUNDS`] rounds; each reveals one lookup of each file that isn't rendered yet.
//! - What comes out is what would come out if all objects had been known beforehand.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error as StdError,
    sync::Arc,
};

use minijinja::{
    Environment, ErrorKind,
    value::{Serde, Value},
};
use operator_core::Objects;

use super::{
    super::{Error, LookupKey, RenderContext, manifests::objects_of},
    functions::Fault,
};

/// As many objects as one file may look up. Each costs one more start of its rendering.
pub(super) const MOST_ROUNDS: usize = 64;

type KnownObjects = BTreeMap<LookupKey, Value>;

/// The files of a directory, as far as they are rendered.
pub(super) struct Rendering {
    environment: Environment<'static>,
    files: Vec<(&'static str, Option<String>)>,
    known: Arc<KnownObjects>,
    rounds: usize,
}

/// What comes of a round.
#[derive(Debug)]
pub(super) enum Round {
    /// All files are rendered.
    Rendered(Objects),
    /// These objects have to be read first.
    Unknown(BTreeSet<LookupKey>),
}

impl Rendering {
    /// The environment has the templates; the variables are those of the context.
    pub(super) fn new<P>(
        mut environment: Environment<'static>,
        files: impl Iterator<Item = &'static str>,
        cx: &RenderContext<'_, P>,
    ) -> Self {
        // As globals, they are known in macros of other files, too.
        if let Some(namespace) = cx.namespace() {
            environment.add_global("namespace", namespace);
        }
        environment.add_global("name", cx.name());
        environment.add_global("parameters", Value::from(Serde(cx.parameters())));
        environment.add_global("revision", cx.revision());
        environment.add_global("digest", cx.digest());
        let files = files.map(|file| (file, None)).collect();
        Self { environment, files, known: Arc::default(), rounds: 0 }
    }

    /// An object that was asked for; `None` if it is absent.
    pub(super) fn learn(&mut self, key: LookupKey, object: Option<&serde_json::Value>) {
        let object = object.map_or_else(|| Value::from(()), |object| Value::from(Serde(object)));
        Arc::make_mut(&mut self.known).insert(key, object);
    }

    /// Renders what isn't rendered yet.
    pub(super) fn round(&mut self) -> Result<Round, Error> {
        self.environment.add_function("lookup", lookup(self.known.clone()));
        let mut unknown = BTreeSet::new();
        for (file, text) in self.files.iter_mut().filter(|(_, text)| text.is_none()) {
            let rendered = self.environment.get_template(file).and_then(|template| template.render(()));
            match rendered {
                Ok(rendered) => *text = Some(rendered),
                Err(error) => match fault(&error) {
                    Some(Fault::Unknown(_)) if self.rounds >= MOST_ROUNDS => {
                        return Err(Error::TooManyLookups { file: (*file).to_owned(), most: MOST_ROUNDS });
                    }
                    Some(Fault::Unknown(key)) => {
                        unknown.insert(key.clone());
                    }
                    Some(Fault::Wrong(what)) => return Err(template_error(&error, file, what.clone())),
                    None => {
                        let what = shown(innermost(&error));
                        return Err(template_error(&error, file, what));
                    }
                },
            }
        }
        self.rounds += 1;
        if !unknown.is_empty() {
            return Ok(Round::Unknown(unknown));
        }
        let mut objects = Objects::new();
        for (file, text) in &self.files {
            let text = text.as_deref().unwrap_or_default();
            objects.extend(objects_of(file, "in the rendered text, ", text)?);
        }
        Ok(Round::Rendered(objects))
    }
}

/// The function that templates call.
fn lookup(
    known: Arc<KnownObjects>,
) -> impl Fn(String, String, String, String) -> Result<Value, minijinja::Error> + Send + Sync + 'static {
    move |api_version, kind, namespace, name| {
        let key = LookupKey { api_version, kind, namespace, name };
        known.get(&key).cloned().ok_or_else(|| Fault::Unknown(key).into())
    }
}

fn causes(error: &minijinja::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    std::iter::successors(Some(first), |error| (*error).source())
}

fn fault(error: &minijinja::Error) -> Option<&Fault> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// An error in an included file is the source of one where it is included.
fn innermost(error: &minijinja::Error) -> &minijinja::Error {
    let all = causes(error).filter_map(|cause| cause.downcast_ref::<minijinja::Error>());
    all.filter(|cause| cause.line().is_some()).last().unwrap_or(error)
}

fn template_error(error: &minijinja::Error, file: &str, what: String) -> Error {
    let at = innermost(error);
    Error::Template { file: at.name().unwrap_or(file).to_owned(), line: at.line().unwrap_or(1), what }
}

/// The text of an error of minijinja. Its details are left out unless they are made of the template alone: others have values.
fn shown(error: &minijinja::Error) -> String {
    match (error.kind(), error.detail()) {
        (
            kind @ (ErrorKind::UndefinedError
            | ErrorKind::UnknownFilter
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownTest
            | ErrorKind::SyntaxError),
            Some(detail),
        ) => format!("{kind}: {detail}"),
        (ErrorKind::OutOfFuel, _) => "the template does too much; is there a loop without an end?".to_owned(),
        (kind, _) => kind.to_string(),
    }
}
