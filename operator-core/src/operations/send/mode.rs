//! How a write is checked before it is sent, and what happens to its watch event.

/// How a write is checked before it is sent, and what happens to its watch event. JOSDK: `ResourceOperations.Options`.
///
/// By default, an apply and both kinds of patch use [`MatchAndFilter`](Self::MatchAndFilter), and a replacement
/// [`FilterWithOptimisticLocking`](Self::FilterWithOptimisticLocking). A creation is filtered in every mode except
/// [`CacheOnly`](Self::CacheOnly), and never matched.
///
/// Any filtered write is locked to a version, so that filtering can't hide anyone else's change; the modes differ in
/// which version that is, and in what a conflict leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMode {
    /// Sends nothing if the cached object is as desired. Otherwise the write is locked to the cached version, and its
    /// watch event triggers no run. After a conflict it is repeated, so only a replacement fails with it. JOSDK:
    /// `matchAndFilter`.
    MatchAndFilter,
    /// The same, but locked to the version that the caller started from, which the desired object must contain. A
    /// conflict is an error: the caller has to read the object again. JOSDK: `filterWithOptimisticLocking`.
    FilterWithOptimisticLocking,
    /// Always sends, without a lock. From then on reads return the answer; the watch event counts like any other change
    /// and triggers the primary. JOSDK: `cacheOnly`.
    CacheOnly,
    /// Always sends, and filters the echo: for callers that have compared the states themselves. JOSDK:
    /// `forceFilterEvents`.
    ForceFilter,
}

impl WriteMode {
    /// Whether the desired state is compared with the known one first.
    pub(in crate::operations) const fn matches(self) -> bool {
        matches!(self, Self::MatchAndFilter | Self::FilterWithOptimisticLocking)
    }

    /// Whether the echo is filtered.
    pub(in crate::operations) const fn filters(self) -> bool {
        !matches!(self, Self::CacheOnly)
    }
}
