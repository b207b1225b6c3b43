//! Closures as generators, and what changes the parameters and objects of another generator.

use operator_core::{BoxError, Objects, resource::KubeObject};
use serde_json::Value;

use super::{Generator, RenderContext};

impl<P, F, E> Generator<P> for F
where
    P: KubeObject,
    F: Fn(&RenderContext<'_, P>) -> Result<Objects, E> + Send + Sync + 'static,
    E: Into<BoxError>,
{
    async fn generate(&self, cx: &RenderContext<'_, P>) -> Result<Objects, BoxError> {
        self(cx).map_err(Into::into)
    }
}

pub(super) struct MapParameters<G, F>(pub(super) G, pub(super) F);

impl<P, G, F, E> Generator<P> for MapParameters<G, F>
where
    P: KubeObject,
    G: Generator<P>,
    F: Fn(&RenderContext<'_, P>) -> Result<Value, E> + Send + Sync + 'static,
    E: Into<BoxError>,
{
    async fn generate(&self, cx: &RenderContext<'_, P>) -> Result<Objects, BoxError> {
        let parameters = self.1(cx).map_err(Into::into)?;
        self.0.generate(&cx.clone().with_parameters(parameters)).await
    }

    fn identity(&self) -> String {
        self.0.identity()
    }
}

pub(super) struct MapObjects<G, F>(pub(super) G, pub(super) F);

impl<P, G, F, E> Generator<P> for MapObjects<G, F>
where
    P: KubeObject,
    G: Generator<P>,
    F: Fn(Objects, &RenderContext<'_, P>) -> Result<Objects, E> + Send + Sync + 'static,
    E: Into<BoxError>,
{
    async fn generate(&self, cx: &RenderContext<'_, P>) -> Result<Objects, BoxError> {
        let objects = self.0.generate(cx).await?;
        self.1(objects, cx).map_err(Into::into)
    }

    fn identity(&self) -> String {
        self.0.identity()
    }
}
