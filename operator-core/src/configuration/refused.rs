//! JOSDK's keys that have no meaning here, with the reasons.

use super::keys::{Key, OperatorSettings};

type OfOperator = Key<OperatorSettings>;

pub(super) const CLOSE_CLIENT: OfOperator = Key::nothing(
    "close-client-on-stop",
    "an operator makes its clients itself, and a stop always closes them",
    "nothing: leave the key out",
);

pub(super) const CLONE_SECONDARIES: OfOperator = Key::nothing(
    "clone-secondary-resources-when-getting-from-cache",
    "what a cache returns can't be changed by whoever reads it, so that nothing has to be copied",
    "nothing: leave the key out",
);
