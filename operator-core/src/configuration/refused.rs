//! JOSDK's keys that have no meaning here, with the reasons.

use super::keys::{Key, OperatorSettings};

type OfOperator = Key<OperatorSettings>;

pub(super) const CLOSE_CLIENT: OfOperator = Key::nothing(
    "close-client-on-stop",
    "an operator makes its clients itself, and always closes them when it stops",
    "nothing: leave the key out",
);

pub(super) const CLONE_SECONDARIES: OfOperator = Key::nothing(
    "clone-secondary-resources-when-getting-from-cache",
    "objects from a cache are shared and can't be changed, so no copy is needed",
    "nothing: leave the key out",
);
