use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::prelude::*;

const FINALIZER: &str = "example.com/archive";

#[derive(ControllerConfiguration)]
#[controller(trigger_on_all_events)]
struct Archive;

impl Reconciler for Archive {
    type Primary = ConfigMap;

    async fn reconcile(
        &self,
        map: &ConfigMap,
        cx: &mut Context<ConfigMap>,
    ) -> Result<UpdateControl<ConfigMap>> {
        let is_archived = map.metadata.labels.iter().flatten().any(|(label, _)| label == "archive");
        if cx.primary_is_deleted() {
            println!("{} is gone", cx.primary_key());
        } else if map.metadata.deletion_timestamp.is_some() {
            println!("archived: {:?}", map.data);
            cx.resource_operations().remove_finalizer(FINALIZER).await?;
        } else if is_archived {
            cx.resource_operations().add_finalizer(FINALIZER).await?;
        }
        Ok(UpdateControl::no_update())
    }
}

#[cfg(test)]
mod tests {
    use operator_core::testing::DryRun;
    use serde_json::json;

    use super::*;

    fn map(label: &str) -> ConfigMap {
        let map = json!({ "metadata": { "name": "notes", "labels": { label: "" } } });
        serde_json::from_value(map).expect("a map")
    }

    #[test]
    fn only_what_is_archived_has_a_finalizer() {
        let archived = DryRun::of(Archive.controller(), &map("archive")).blocking();
        assert_eq!(archived.writes(), ["patch ConfigMap/notes"]);
        let other = DryRun::of(Archive.controller(), &map("other")).blocking();
        assert_eq!(other.writes(), []);
    }

    #[test]
    fn the_end_of_any_is_a_run() {
        let end = DryRun::of(Archive.controller(), &map("other")).deleted().blocking();
        assert_eq!((end.writes().len(), end.error(), end.next_run()), (0, None, None));
    }
}
