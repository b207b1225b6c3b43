//! Volumes that are made of several sources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::volumes::{downward_file, key_to_path, mode};
use crate::in_process::values::{
    errors::Errors,
    path::Path,
    paths,
    read::{at, int, items, part, text},
};

/// A volume of several sources. Its files can't have the same paths.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, volume: &Value) {
    mode(errors, &path.child("defaultMode"), at(volume, "defaultMode"));
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let list = path.child("sources");
    for (index, source) in items(volume, "sources") {
        let source_path = list.index(index);
        let mut sources = 0;
        for field in ["secret", "configMap"] {
            let Some(given) = part(source, field) else { continue };
            sources += 1;
            let (place, name) = (source_path.child(field), text(given, "name"));
            if name.is_empty() {
                errors.required(&place.child("name"), "");
            }
            let list = place.child("items");
            for (index, item) in items(given, "items") {
                key_to_path(errors, &list.index(index), item);
                let file = text(item, "path");
                if !file.is_empty() && !known.insert(file) {
                    errors.invalid(path, name, "conflicting duplicate paths");
                }
            }
        }
        if let Some(given) = part(source, "downwardAPI") {
            sources += 1;
            for (_, item) in items(given, "items") {
                downward_file(errors, &source_path.child("downwardAPI"), item);
                let file = text(item, "path");
                if !file.is_empty() && !known.insert(file) {
                    errors.invalid(path, file, "conflicting duplicate paths");
                }
            }
        }
        if let Some(given) = part(source, "serviceAccountToken") {
            sources += 1;
            token(errors, path, &source_path.child("serviceAccountToken"), given);
        }
        for field in ["clusterTrustBundle", "podCertificate"] {
            if part(source, field).is_some() {
                sources += 1;
            }
        }
        if sources > 1 {
            errors.forbidden(&source_path, "may not specify more than 1 volume type per source");
        }
    }
}

fn token(errors: &mut Errors, path: &Path<'_>, place: &Path<'_>, token: &Value) {
    let (seconds, lasting) =
        (int(token, "expirationSeconds").unwrap_or_default(), place.child("expirationSeconds"));
    if seconds < 600 {
        errors.invalid(&lasting, seconds, "may not specify a duration less than 10 minutes");
    }
    if seconds > 1 << 32 {
        errors.invalid(&lasting, seconds, "may not specify a duration larger than 2^32 seconds");
    }
    match text(token, "path") {
        "" => errors.required(&path.child("path"), ""),
        file => paths::own(errors, &path.child("path"), file),
    }
}
