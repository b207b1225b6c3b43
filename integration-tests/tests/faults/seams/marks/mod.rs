//! The owner of an object: nothing foreign is touched, and nothing of ours is forgotten.

mod answers;
mod bulks;
mod departing;
mod digest;
mod incarnations;
mod optional;
mod removal;
mod renamed;
mod selected;
mod stripped;
mod whose;
mod worlds;

use integration_tests::prelude::*;
use operator_core::resource::MarkNames;

use super::{gone_after, message, pass, saying, scene, under};

/// The marks of a map: controller, node, owner, and whether it has the annotation.
fn marks(map: &ConfigMap) -> [String; 3] {
    let names = MarkNames::default();
    let label = |key: &str| map.labels().get(key).cloned().unwrap_or_default();
    [label(names.controller()), label(names.node()), label(names.owner())]
}

/// Someone creates a map with the name of one that the primary's node wants.
async fn somebodys_map(scene: &Scene, name: &str) -> Result<ConfigMap> {
    let map = ConfigMap {
        metadata: kube::api::ObjectMeta { name: Some(name.to_owned()), ..Default::default() },
        data: Some([("value".to_owned(), "theirs".to_owned())].into()),
        ..ConfigMap::default()
    };
    Ok(scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?)
}
