//! Templates of YAML as a generator: the shell around the rendering.

mod functions;
mod render;
#[cfg(test)]
mod tests;

use std::{fmt, sync::OnceLock};

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig};
use operator_core::{BoxError, Objects, resource::KubeObject};

use self::render::{Rendering, Round};
use super::{
    Generator, RenderContext,
    error::{self, Error},
    manifests::Files,
};

/// As many steps as the rendering of one file may take, and about 64 bytes of text for each.
const FUEL: u64 = 1_000_000;

/// Templates of objects in YAML, which [`templates!`](crate::templates) embeds. The objects are in the order of the files' paths.
pub struct Templates {
    files: Files,
    environment: OnceLock<Environment<'static>>,
}

impl Templates {
    /// For the macro: paths and texts, which it has parsed.
    #[doc(hidden)]
    #[must_use]
    pub const fn embedded(files: &'static [(&'static str, &'static str)]) -> Self {
        Self { files: Files::new(files), environment: OnceLock::new() }
    }

    fn rendering<P>(&self, cx: &RenderContext<'_, P>) -> Rendering {
        let environment = self.environment.get_or_init(|| environment(self.files.all)).clone();
        let files = self.files.all.iter().map(|(file, _)| *file);
        Rendering::new(environment, files.filter(|file| !is_part(file)), cx)
    }

    async fn objects<P: KubeObject>(&self, cx: &RenderContext<'_, P>) -> Result<Objects, Error> {
        let mut rendering = self.rendering(cx);
        loop {
            let unknown = match rendering.round()? {
                Round::Rendered(objects) => return Ok(objects),
                Round::Unknown(unknown) => unknown,
            };
            for key in unknown {
                match cx.lookup(&key).await {
                    Ok(object) => rendering.learn(key, object.as_ref()),
                    Err(source) => return Err(Error::Lookup { key, source }),
                }
            }
        }
    }
}

/// Whether the file is only included or imported by others.
fn is_part(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

fn environment(files: &'static [(&'static str, &'static str)]) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // An error names the undefined variable. What else is in it isn't shown.
    environment.set_debug(true);
    // A line that only has a block leaves no line, and no spaces.
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    functions::add_to(&mut environment);
    for (file, text) in files {
        environment.add_template(file, text).expect("the macro has parsed each template");
    }
    environment
}

impl<P: KubeObject> Generator<P> for Templates {
    async fn generate(&self, cx: &RenderContext<'_, P>) -> Result<Objects, BoxError> {
        self.objects(cx).await.map_err(error::boxed)
    }

    fn identity(&self) -> String {
        self.files.identity()
    }
}

/// Shows the names of the files.
impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}
