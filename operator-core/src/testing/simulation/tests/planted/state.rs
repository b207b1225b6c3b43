//! SameState: the same state as after a calm run.

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ObjectMeta, PostParams},
};

use super::*;

#[test]
fn a_status_that_falls_behind_its_generation_is_found() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            let generation =
                shelf.metadata.generation.map(|generation| generation + 1 - i64::from(life.number));
            context.put(ShelfStatus { observed_generation: generation, ..ShelfStatus::default() });
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("behind", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::SameState, "1 behind the generation");
}

/// A key that the server makes up elsewhere.
#[test]
fn a_time_in_the_data_of_a_config_map_is_part_of_the_state() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            let owner = context.owner_reference(&shelf).ok_or("a primary has a uid")?;
            let mut child = child(&shelf, &owner);
            let data = child.data.get_or_insert_default();
            data.insert("time".to_owned(), life.number.to_string());
            context.resource_operations().server_side_apply(&child).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("time", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::SameState, ".data .time is \"2\", and \"1\" in the calm run");
    passes("time", |sim| async move {
        sim.made_up("configmaps", "data/time");
        one_shelf(sim, declare(run)).await;
    });
}

/// The successor looks the same.
#[test]
fn a_user_s_object_that_is_replaced_is_found() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            if life.number > 1 && shelf.metadata.labels.is_none() {
                let shelves: Api<Shelf> = Api::namespaced(context.client().clone(), "default");
                shelves.delete(&shelf.name_any(), &DeleteParams::default()).await?;
                let mut again = Shelf::new(&shelf.name_any(), shelf.spec.clone());
                again.metadata = ObjectMeta {
                    name: shelf.metadata.name.clone(),
                    labels: Some([("again".to_owned(), String::new())].into()),
                    ..ObjectMeta::default()
                };
                shelves.create(&PostParams::default(), &again).await?;
            }
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("replaces", |sim| async move {
        sim.without(Oracle::NothingForbidden);
        one_shelf(sim, declare(run)).await;
    });
    found_by(&failure, Oracle::SameState, "shelfs/default/a is another object of that name");
}

/// Two lives make up two names, and what has them is the same.
#[test]
fn a_generated_name_is_no_part_of_the_state() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            if context.secondaries::<ConfigMap>()?.is_empty() {
                let maps: Api<ConfigMap> = Api::namespaced(context.client().clone(), "default");
                let owner = context.owner_reference(&shelf).ok_or("a primary has a uid")?;
                let mut map = child(&shelf, &owner);
                map.metadata.name = None;
                map.metadata.generate_name = Some("book-".to_owned());
                maps.create(&PostParams::default(), &map).await?;
            }
            Ok(UpdateControl::no_update())
        })
    };
    passes("generates", |sim| async move {
        // One more name is made up before in the calm run, so that the child has another one there.
        if sim.world.is_calm() {
            let maps: Api<ConfigMap> = Api::namespaced(sim.client(), "default");
            let mut map = ConfigMap::default();
            map.metadata.generate_name = Some("book-".to_owned());
            let made = maps.create(&PostParams::default(), &map).await.expect("it is created");
            maps.delete(&made.name_any(), &DeleteParams::default()).await.expect("it is deleted");
        }
        one_shelf(sim, declare(run)).await;
    });
}

#[test]
fn a_namespace_is_part_of_the_state() {
    let run: Run = |life, _, context| {
        Box::pin(async move {
            let mut tenant = Namespace::default();
            tenant.metadata.name = Some("tenant".to_owned());
            tenant.metadata.labels = Some([("life".to_owned(), life.number.to_string())].into());
            context.resource_operations().server_side_apply(&tenant).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let declare = || declare_with(run, |controller| controller.owns::<Namespace>());
    let failure = failure("tenants", |sim| one_shelf(sim, declare()));
    found_only_by(&failure, Oracle::SameState, "namespaces//tenant .metadata .labels .life");
}
