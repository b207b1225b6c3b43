//! Files of YAML as a generator.

use std::{fmt, sync::OnceLock};

use operator_core::{BoxError, Objects, resource::KubeObject};

use super::{
    Generator, RenderContext,
    digest::digest_of_files,
    error::{self, Error},
};

/// Embedded files, by their paths.
pub(super) struct Files {
    pub(super) all: &'static [(&'static str, &'static str)],
    /// Of all of them, made once.
    digest: OnceLock<String>,
}

impl Files {
    pub(super) const fn new(all: &'static [(&'static str, &'static str)]) -> Self {
        Self { all, digest: OnceLock::new() }
    }

    pub(super) fn identity(&self) -> String {
        self.digest.get_or_init(|| digest_of_files(self.all)).clone()
    }
}

/// Shows their names.
impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|(file, _)| file)).finish()
    }
}

/// Files of objects in YAML, which [`manifests!`](crate::manifests) embeds. The objects are in the order of the files' paths.
pub struct Manifests(Files);

impl Manifests {
    /// For the macro: paths and texts.
    #[doc(hidden)]
    #[must_use]
    pub const fn embedded(files: &'static [(&'static str, &'static str)]) -> Self {
        Self(Files::new(files))
    }

    fn objects(&self) -> Result<Objects, Error> {
        let mut objects = Objects::new();
        for (file, text) in self.0.all {
            objects.extend(objects_of(file, "", text)?);
        }
        Ok(objects)
    }
}

/// The objects in the text of a file. `whose` says which text it is, if it isn't the file itself.
pub(super) fn objects_of(file: &str, whose: &str, text: &str) -> Result<Objects, Error> {
    Objects::from_yaml(text)
        .map_err(|error| Error::Yaml { file: file.to_owned(), what: format!("{whose}{error}") })
}

impl<P: KubeObject> Generator<P> for Manifests {
    async fn generate(&self, _: &RenderContext<'_, P>) -> Result<Objects, BoxError> {
        self.objects().map_err(error::boxed)
    }

    fn identity(&self) -> String {
        self.0.identity()
    }
}

/// Shows the names of the files.
impl fmt::Debug for Manifests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
