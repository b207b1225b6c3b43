//! Files of YAML as a generator.

use std::fmt;

use operator_core::{BoxError, Objects, resource::KubeObject};

use super::{
    Generator, RenderContext,
    digest::digest_of_files,
    error::{self, Error},
};

/// Files of objects in YAML, which [`manifests!`](crate::manifests) embeds. The objects are in the order of the files' paths.
pub struct Manifests(&'static [(&'static str, &'static str)]);

impl Manifests {
    /// For the macro: paths and texts.
    #[doc(hidden)]
    #[must_use]
    pub const fn embedded(files: &'static [(&'static str, &'static str)]) -> Self {
        Self(files)
    }

    fn objects(&self) -> Result<Objects, Error> {
        let mut objects = Objects::new();
        for (file, text) in self.0 {
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
        digest_of_files(self.0)
    }
}

/// Shows the names of the files.
impl fmt::Debug for Manifests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(file, _)| file)).finish()
    }
}
