//! NoSecret and Alive: secrets, and panics that somebody has caught.

use k8s_openapi::{ByteString, api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::ResourceExt;

use super::*;
use crate::event_source::InformerEventSource;

fn secret(shelf: &Shelf, password: &str) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(shelf.name_any()),
            namespace: shelf.namespace(),
            ..ObjectMeta::default()
        },
        data: Some([("password".to_owned(), ByteString(password.as_bytes().to_vec()))].into()),
        ..Secret::default()
    }
}

fn keeping_secrets(run: Run) -> impl Fn() -> OperatorBuilder + Clone + 'static {
    declare_with(run, |controller| controller.owns::<ConfigMap>().owns::<Secret>())
}

/// The test names no secret.
#[test]
fn a_value_of_a_secret_is_found_in_another_object_also_when_it_is_encoded() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            context.resource_operations().server_side_apply(&secret(&shelf, "hunter2!")).await?;
            let mut told = (*shelf).clone();
            // `user:hunter2!`, as in a header.
            told.spec.text = "Basic dXNlcjpodW50ZXIyIQ==".to_owned();
            made(&told, context).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("encodes", |sim| one_shelf(sim, keeping_secrets(run)));
    found_only_by(&failure, Oracle::NoSecret, "sent in apply configmaps/default/a");
    assert!(without_bad_luck(&failure), "{failure}");
}

/// It is logged before anybody knows that it is one.
#[test]
fn a_password_that_is_logged_before_it_is_stored_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            tracing::debug!("made up {:?}", "say \"friend\"");
            context.resource_operations().server_side_apply(&secret(&shelf, "say \"friend\"")).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("logs", |sim| one_shelf(sim, keeping_secrets(run)));
    found_only_by(&failure, Oracle::NoSecret, "planted::told at level DEBUG");
}

#[test]
fn a_secret_in_the_error_of_a_run_is_found() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            context.resource_operations().server_side_apply(&secret(&shelf, "hunter2!")).await?;
            if life.number > 1 && context.retry_info().is_none() {
                return Err("can't log in with hunter2%21".into());
            }
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("fails", |sim| one_shelf(sim, keeping_secrets(run)));
    found_only_by(&failure, Oracle::NoSecret, "told to observers by RunFinished");
}

#[test]
fn what_is_kept_in_a_secret_alone_and_what_is_public_is_not_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            context.resource_operations().server_side_apply(&secret(&shelf, "postgres")).await?;
            tracing::info!("the user is postgres");
            made(&shelf, context).await?;
            Ok(UpdateControl::no_update())
        })
    };
    passes("is public", |sim| async move {
        sim.not_secret("postgres");
        one_shelf(sim, keeping_secrets(run)).await;
    });
}

/// The library catches it and goes on, as if the mapper had named nobody.
#[test]
fn a_mapper_that_panics_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let source = || {
        InformerEventSource::<ConfigMap>::new().map_to_primary(|map: &ConfigMap| {
            assert_ne!(map.name_any(), "a", "a map that nobody has thought of");
            Vec::new()
        })
    };
    let declare = || declare_with(run, move |controller| controller.watches(source()));
    let failure = failure("panics", |sim| one_shelf(sim, declare()));
    found_by(&failure, Oracle::Alive, "a map that nobody has thought of");
}
