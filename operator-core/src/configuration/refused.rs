//! JOSDK's keys that have no meaning here, with the reasons.

use super::keys::{Key, OperatorSettings};
use crate::controller::ControllerSettings;

type OfOperator = Key<OperatorSettings>;
type OfController = Key<ControllerSettings>;

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

pub(super) const SHARD_SELECTOR: OfController = Key::nothing(
    "shard-selector",
    "the primaries of this version are not divided into shards",
    "`label-selector`, with another one for each deployment of the operator",
);

pub(super) const INFORMER_SHARD_SELECTOR: OfController = Key::nothing(
    "informer.shard-selector",
    "the primaries of this version are not divided into shards",
    "`label-selector`, with another one for each deployment of the operator",
);

pub(super) const LIST_LIMIT: OfController = Key::nothing(
    "informer.list-limit",
    "lists of primaries come in pages of 500 wherever the server doesn't stream them",
    "nothing: leave the key out",
);
