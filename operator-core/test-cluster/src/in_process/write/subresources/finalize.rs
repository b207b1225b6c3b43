//! PUT of a namespace's own finalizers, which keep it until its content is gone.

use std::sync::Arc;

use http::Method;
use serde_json::Value;

use crate::in_process::{
    api::{ApiServer, Reply},
    failure::Failure,
    fields::Endpoint,
    kinds::Kind,
    read::{self, show},
    request::Request,
    store::Path,
    validate,
    write::{
        Options, Target, body, metadata,
        update::{check_uid, update_object},
    },
};

pub(super) fn finalize(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    if request.method != Method::PUT {
        return Err(Failure::method());
    }
    let options = Options::new(request, "UpdateOptions")?;
    let mut object = body(request, kind)?;
    metadata::check_name(&object, path.name())?;
    metadata::place(&mut object, None)?;
    let live = read::live(&api.store, kind, path)?;
    check_uid(kind, path, &object, Some(&live), options.dry_run)?;
    let names = object["spec"]["finalizers"].as_array().into_iter().flatten();
    let causes = names.enumerate().filter_map(|(at, name)| {
        let name = name.as_str().unwrap_or_default();
        let why = validate::wrong_finalizer(name)?;
        let message = format!("Invalid value: {name:?}: {why}");
        Some(("FieldValueInvalid".to_owned(), format!("spec.finalizers[{at}]"), message))
    });
    let causes: Vec<_> = causes.collect();
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, path.name(), &causes));
    }
    let endpoint = Endpoint::Other("finalize");
    let target = Target { kind, path, endpoint, manager: request.manager(), options };
    let object: Arc<Value> = update_object(api, &target, &live, object)?;
    show(request, kind, &object).map(Reply::ok)
}
