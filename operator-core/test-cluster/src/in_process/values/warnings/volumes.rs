//! Volumes of sorts that are gone, and files in volumes that hide each other. Pure.

use serde_json::Value;

use super::{Found, SPEC, annotation, pods::old_labels, resources::claim};
use crate::in_process::{
    kinds::storage::CLASS,
    values::{
        path::Path,
        read::{at, items, part, text},
    },
};

const GONE: [(&str, &str); 8] = [
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
];
const RBD: (&str, &str) = ("rbd", "deprecated in v1.28, non-functional in v1.31+");

/// How the real server writes a sort in paths.
fn name(sort: &str) -> &str {
    if sort == "storageos" { "storageOS" } else { sort }
}

pub(super) fn sorts(found: &mut Found, path: &Path<'_>, spec: &Value) {
    for (index, volume) in items(spec, "volumes") {
        let path = path.child("volumes");
        let path = path.index(index);
        for (sort, words) in GONE.iter().chain([&RBD]) {
            if *sort == "cephfs"
                && let Some(template) = part(at(volume, "ephemeral"), "volumeClaimTemplate")
            {
                claim(found, &path.child("ephemeral.volumeClaimTemplate.spec"), at(template, "spec"));
            }
            if part(volume, sort).is_some() {
                found.add(path.child(name(sort)), words);
            }
        }
    }
}

/// A path inside of a volume, and where it comes from.
type Source = (String, String);

fn shown((path, source): &Source) -> String {
    if source.is_empty() { format!("{path:?}") } else { format!("{path:?} ({source})") }
}

fn paths(of: &Value, source: &str) -> Vec<Source> {
    items(of, "items").map(|(_, item)| (text(item, "path").to_owned(), source.to_owned())).collect()
}

/// Adds paths to those before; tells which of them hide each other.
fn overlaps(before: &mut Vec<Source>, paths: Vec<Source>) -> Vec<String> {
    let mut said = Vec::new();
    for (path, source) in paths {
        let new = (path.trim_end_matches('/').to_owned(), source);
        let within = |one: &str, other: &str| format!("{one}/").starts_with(&format!("{other}/"));
        let hides = |old: &&Source| {
            !old.0.is_empty() && (*old == &new || within(&old.0, &new.0) || within(&new.0, &old.0))
        };
        if !new.0.is_empty() {
            said.extend(
                before.iter().filter(hides).map(|old| format!("{} with {}", shown(&new), shown(old))),
            );
        }
        before.push(new);
    }
    said
}

pub(super) fn hidden(found: &mut Found, spec: &Value) {
    for (_, volume) in items(spec, "volumes") {
        let name = text(volume, "name");
        let mut say = |what: &str, said: Vec<String>| {
            for said in said {
                found.say(format!("volume {name:?} ({what}): overlapping paths: {said}"));
            }
        };
        for (field, what, by) in [
            ("configMap", "ConfigMap ", "name"),
            ("secret", "Secret ", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ] {
            let Some(of) = part(volume, field) else { continue };
            let what = if by.is_empty() { what.to_owned() } else { format!("{what}{:?}", text(of, by)) };
            say(&what, overlaps(&mut Vec::new(), paths(of, "")));
        }
        let Some(projected) = part(volume, "projected") else { continue };
        let mut before = Vec::new();
        for (_, source) in items(projected, "sources") {
            if source.as_object().is_none_or(|source| source.values().all(Value::is_null)) {
                found.say(format!("volume {name:?} (Projected) has no sources provided"));
                continue;
            }
            for said in overlaps(&mut before, projection(source)) {
                found.say(format!("volume {name:?} (Projected): overlapping paths: {said}"));
            }
        }
    }
}

/// The paths of one source of a projected volume.
fn projection(source: &Value) -> Vec<Source> {
    let quoted = |what: &str, of: &Value| format!("{what} {:?}", text(of, "name"));
    if let Some(of) = part(source, "configMap") {
        return paths(of, &quoted("ConfigMap", of));
    }
    if let Some(of) = part(source, "secret") {
        return paths(of, &quoted("Secret", of));
    }
    if let Some(of) = part(source, "downwardAPI") {
        return paths(of, "DownwardAPI");
    }
    if let Some(of) = part(source, "serviceAccountToken") {
        return vec![(text(of, "path").to_owned(), "ServiceAccountToken".to_owned())];
    }
    if let Some(of) = part(source, "clusterTrustBundle") {
        let name =
            part(of, "name").or_else(|| part(of, "signerName")).and_then(Value::as_str).unwrap_or_default();
        return vec![(text(of, "path").to_owned(), format!("ClusterTrustBundle {name:?}"))];
    }
    let Some(of) = part(source, "podCertificate") else { return Vec::new() };
    let fields = [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ];
    let given = fields.iter().filter(|(field, _)| !text(of, field).is_empty());
    given.map(|(field, what)| (text(of, field).to_owned(), (*what).to_owned())).collect()
}

/// A PersistentVolume.
pub(super) fn volume(found: &mut Found, volume: &Value) {
    let spec = at(volume, "spec");
    for (name, words) in [
        (CLASS, "deprecated since v1.8; use \"storageClassName\" attribute instead"),
        (
            "volume.beta.kubernetes.io/mount-options",
            "deprecated since v1.31; use \"mountOptions\" attribute instead",
        ),
    ] {
        if annotation(volume, name).is_some() {
            found.add(format_args!("metadata.annotations[{name}]"), words);
        }
    }
    if text(spec, "persistentVolumeReclaimPolicy") == "Recycle" {
        let words = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
                     provisioning.";
        found.add(SPEC.child("persistentVolumeReclaimPolicy"), words);
    }
    for (index, term) in items(at(at(spec, "nodeAffinity"), "required"), "nodeSelectorTerms") {
        old_labels(found, &SPEC.child("nodeAffinity.required.nodeSelectorTerms").index(index), term, false);
    }
    for sort in ["cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd"] {
        let words = GONE.iter().chain([&RBD]).find(|(known, _)| *known == sort).map(|(_, words)| words);
        if let (true, Some(words)) = (part(spec, sort).is_some(), words) {
            found.add(SPEC.child(name(sort)), words);
        }
    }
}
