//! The admission plugin `ServiceAccount`: each new pod has an account, and its containers that account's token.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Admission;
use crate::in_process::{
    api::Counters,
    store::{Path, Resource, Store},
    values::read::{at, count, items, part, text},
};

/// Where programs look for the token of their account.
const PLACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME: &str = "kube-api-access-";
/// A pod that a kubelet has read from a file; the server only shows it.
const MIRROR: &str = "kubernetes.io/config.mirror";
const ENFORCED: &str = "kubernetes.io/enforce-mountable-secrets";

impl Admission {
    /// From now on new pods get an account.
    pub(in crate::in_process) fn give_accounts(&mut self) {
        self.service_accounts = true;
    }

    /// What the plugin does with a new pod.
    pub(super) fn give_account(
        &self,
        store: &Store,
        counters: &mut Counters,
        path: &Path,
        pod: &mut Value,
    ) -> Result<(), String> {
        if !self.service_accounts {
            return Ok(());
        }
        if !pod["metadata"]["annotations"][MIRROR].is_null() {
            return mirrored(&pod["spec"]);
        }
        if text(&pod["spec"], "serviceAccountName").is_empty() {
            pod["spec"]["serviceAccountName"] = "default".into();
            pod["spec"]["serviceAccount"] = "default".into();
        }
        let name = text(&pod["spec"], "serviceAccountName").to_owned();
        let namespace = path.namespace().unwrap_or_default();
        let account =
            store.get(&Resource::new("", "serviceaccounts"), &Path::new(Some(namespace), &name)).cloned();
        let account = account.ok_or_else(|| {
            format!(
                "error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"
            )
        })?;
        let automount = |object: &Value| object["automountServiceAccountToken"].as_bool();
        if automount(&pod["spec"]).or(automount(&account)).unwrap_or(true) {
            mount_token(counters, &mut pod["spec"]);
        }
        if count(&pod["spec"], "imagePullSecrets") == 0 {
            let secrets = items(&account, "imagePullSecrets");
            let secrets: Vec<_> = secrets.map(|(_, secret)| json!({ "name": secret["name"] })).collect();
            if !secrets.is_empty() {
                pod["spec"]["imagePullSecrets"] = secrets.into();
            }
        }
        let enforced = account["metadata"]["annotations"][ENFORCED].as_str().unwrap_or_default();
        if matches!(enforced, "1" | "t" | "T" | "TRUE" | "true" | "True") {
            only_its_secrets(&name, &account, &pod["spec"])?;
        }
        Ok(())
    }
}

/// Adds the volume with the token, and mounts it where nothing else is mounted.
fn mount_token(counters: &mut Counters, spec: &mut Value) {
    let known = items(spec, "volumes")
        .map(|(_, volume)| text(volume, "name"))
        .find(|name| name.starts_with(VOLUME))
        .map(str::to_owned);
    let name = known.clone().unwrap_or_else(|| format!("{VOLUME}{}", counters.suffix()));
    let mut mounted = false;
    for kind in ["initContainers", "containers"] {
        for container in spec.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten() {
            let taken = items(container, "volumeMounts").any(|(_, mount)| mount["mountPath"] == PLACE);
            if !taken {
                let mount = json!({ "mountPath": PLACE, "name": name, "readOnly": true });
                append(&mut container["volumeMounts"], mount);
                mounted = true;
            }
        }
    }
    if known.is_none() && mounted {
        append(&mut spec["volumes"], token_volume(&name));
    }
}

fn token_volume(name: &str) -> Value {
    let namespace = json!({ "apiVersion": "v1", "fieldPath": "metadata.namespace" });
    json!({
        "name": name,
        "projected": {
            "defaultMode": 420,
            "sources": [
                { "serviceAccountToken": { "expirationSeconds": 3607, "path": "token" } },
                { "configMap": { "items": [{ "key": "ca.crt", "path": "ca.crt" }], "name": "kube-root-ca.crt" } },
                { "downwardAPI": { "items": [{ "fieldRef": namespace, "path": "namespace" }] } },
            ],
        },
    })
}

/// A mirror pod has nothing that only the server could give it.
fn mirrored(spec: &Value) -> Result<(), String> {
    if !text(spec, "serviceAccountName").is_empty() {
        return Err("a mirror pod may not reference service accounts".to_owned());
    }
    let of_containers = containers(spec).any(|(_, container)| !secrets_of(container).is_empty());
    let of_volumes = items(spec, "volumes").any(|(_, volume)| has_secret(volume));
    if of_containers || of_volumes || count(spec, "imagePullSecrets") > 0 {
        return Err("a mirror pod may not reference secrets".to_owned());
    }
    let mut sources =
        items(spec, "volumes").flat_map(|(_, volume)| items(at(volume, "projected"), "sources"));
    if sources.any(|(_, source)| part(source, "serviceAccountToken").is_some()) {
        return Err("a mirror pod may not use ServiceAccountToken volume projections".to_owned());
    }
    Ok(())
}

/// Whether a volume needs a secret: its source names one, or a part of it does.
fn has_secret(volume: &Value) -> bool {
    let sources = volume.as_object().into_iter().flatten();
    sources.into_iter().any(|(kind, source)| {
        let named = |field: &str| !text(at(source, field), "name").is_empty();
        let alone = kind == "secret" || kind == "azureFile";
        alone && !text(source, "secretName").is_empty()
            || named("secretRef")
            || named("nodePublishSecretRef")
            || items(source, "sources").any(|(_, of)| part(of, "secret").is_some())
    })
}

/// An account that says so lets its pods use no other secrets than its own.
fn only_its_secrets(name: &str, account: &Value, spec: &Value) -> Result<(), String> {
    let own = names(account, "secrets");
    let pulls = names(account, "imagePullSecrets");
    let because = format!("is not allowed because service account {name} does not reference that");
    for secret in items(spec, "volumes").filter_map(|(_, volume)| part(volume, "secret")) {
        let secret = text(secret, "secretName");
        if !own.contains(secret) {
            return Err(format!("volume with secret.secretName=\"{secret}\" {because} secret"));
        }
    }
    for (kind, container) in containers(spec) {
        for (place, secret) in secrets_of(container) {
            if !own.contains(secret) {
                let container = text(container, "name");
                return Err(format!(
                    "{kind} {container} with {place} referencing secret.secretName=\"{secret}\" {because} secret"
                ));
            }
        }
    }
    for (at, secret) in items(spec, "imagePullSecrets") {
        let secret = text(secret, "name");
        if !pulls.contains(secret) {
            return Err(format!("imagePullSecrets[{at}].name=\"{secret}\" {because} imagePullSecret"));
        }
    }
    Ok(())
}

/// The containers in the order in which the server looks at them.
fn containers(spec: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let of = |kind: &str, name: &'static str| items(spec, kind).map(move |(_, one)| (name, one));
    of("initContainers", "init container").chain(of("containers", "container"))
}

/// The secrets in the environment of a container, with where they stand.
fn secrets_of(container: &Value) -> Vec<(String, &str)> {
    let variables = items(container, "env").filter_map(|(_, variable)| {
        let secret = part(at(variable, "valueFrom"), "secretKeyRef")?;
        Some((format!("envVar {}", text(variable, "name")), text(secret, "name")))
    });
    let all = items(container, "envFrom")
        .filter_map(|(_, source)| Some(("envFrom".to_owned(), text(part(source, "secretRef")?, "name"))));
    variables.chain(all).collect()
}

fn names<'o>(object: &'o Value, references: &str) -> BTreeSet<&'o str> {
    items(object, references).map(|(_, reference)| text(reference, "name")).collect()
}

fn append(list: &mut Value, entry: Value) {
    match list {
        Value::Array(entries) => entries.push(entry),
        _ => *list = json!([entry]),
    }
}
