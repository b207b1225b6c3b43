//! What tells one desired state from another without keeping it.

use std::{
    hash::{DefaultHasher, Hasher},
    io,
    num::NonZeroU64,
};

use zeroize::Zeroizing;

/// A hash of 64 bits, the same in each run of a process: two desired states of one object have the same one once in 10^19. `None` for
/// what can't be written as JSON, which the matcher is to say.
///
/// `node` tells apart those who may want the same, and `write` writes the state as JSON.
pub(crate) fn fingerprint(
    node: &str,
    write: impl FnOnce(&mut dyn io::Write) -> serde_json::Result<()>,
) -> Option<NonZeroU64> {
    // In one piece: hashing is dear for each of the many small ones that JSON is written in.
    let mut text = Zeroizing::new(Vec::with_capacity(1024));
    write(&mut *text).ok()?;
    let mut hashed = DefaultHasher::new();
    hashed.write_usize(node.len());
    hashed.write(node.as_bytes());
    hashed.write(&text);
    // Zero means that there is none.
    Some(NonZeroU64::new(hashed.finish()).unwrap_or(NonZeroU64::MIN))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fingerprint;

    #[test]
    fn node_and_state_tell_fingerprints_apart() {
        let of = |node, value| {
            fingerprint(node, |to| serde_json::to_writer(to, &json!({ "data": { "value": value } })))
        };
        assert!(of("web", "a").is_some());
        assert_eq!(of("web", "a"), of("web", "a"));
        assert_ne!(of("web", "a"), of("web", "b"));
        assert_ne!(of("web", "a"), of("html", "a"));
    }

    #[test]
    fn what_is_no_json_has_none() {
        let by_pair: std::collections::BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into();
        assert_eq!(fingerprint("web", |to| serde_json::to_writer(to, &by_pair)), None);
    }
}
