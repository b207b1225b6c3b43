//! Paths that are not compared.

/// The position of a walk among the ignored paths: those that are still ahead, without the segments already passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored<'i>(Vec<&'i [String]>);

impl<'i> Ignored<'i> {
    /// At the root.
    pub(super) fn at_root(paths: &'i [Vec<String>]) -> Self {
        Self(paths.iter().map(Vec::as_slice).collect())
    }

    /// One segment further. `None` if the place is ignored.
    pub(super) fn below(&self, segment: &str) -> Option<Self> {
        let mut ahead = Vec::new();
        for path in &self.0 {
            if let Some((first, rest)) = path.split_first()
                && first == segment
            {
                if rest.is_empty() {
                    return None;
                }
                ahead.push(rest);
            }
        }
        Some(Self(ahead))
    }

    /// The same for an item of a list.
    pub(super) fn item(&self, position: usize) -> Option<Self> {
        if self.0.is_empty() { Some(Self::default()) } else { self.below(&position.to_string()) }
    }
}

/// The segments of a JSON pointer. A missing slash at the start is added.
pub(super) fn segments(pointer: &str) -> Vec<String> {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split('/').map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect()
}
