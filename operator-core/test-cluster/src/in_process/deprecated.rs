//! Versions that are on their way out, of which every answer warns.

use super::{definitions::definition, discovery::priority, kinds::Kind, store::Store};

/// The warning of a kind's version, if it is deprecated.
pub(super) fn deprecation(store: &Store, kind: &Kind) -> Option<String> {
    let Kind { group, version, kind: name, .. } = kind;
    match (group.as_str(), name.as_str()) {
        ("", "Endpoints") => {
            let instead = "use discovery.k8s.io/v1 EndpointSlice";
            return Some(format!("v1 Endpoints is deprecated in v1.33+; {instead}"));
        }
        _ if !kind.is_custom() => return None,
        _ => {}
    }
    let versions = definition(store, kind)?["spec"]["versions"].as_array()?;
    let this = versions.iter().find(|known| known["name"] == **version)?;
    if this["deprecated"] != true {
        return None;
    }
    if let Some(warning) = this["deprecationWarning"].as_str() {
        return Some(warning.to_owned());
    }
    let newer = versions.iter().filter(|known| known["served"] == true && known["deprecated"] != true);
    let newer = newer.filter_map(|known| known["name"].as_str());
    let newer = newer.filter(|known| priority(known) > priority(version)).max_by_key(|known| priority(known));
    let instead = newer.map(|newer| format!("; use {group}/{newer} {name}")).unwrap_or_default();
    Some(format!("{group}/{version} {name} is deprecated{instead}"))
}
