//! Reads one object from the server, in the form in which it is kept.

use std::{sync::Arc, time::Duration};

use crate::resource::ObjectKey;

use super::{Collection, decode, live::read_live, words};
use crate::cache::{
    Error, Unread,
    engine::Decoded,
    text::{Face, Item, Kept},
};

/// The maximum time for a read, including the wait for a request budget.
const DEADLINE: Duration = Duration::from_secs(60);

/// The newest state of an object, in the form in which it is kept; `None` if the server doesn't have it.
pub(in crate::cache) async fn object(
    collection: &Collection,
    key: &ObjectKey,
    face: &dyn Face,
) -> Result<Option<Arc<Kept>>, Error> {
    let resource_type = &collection.resource_type;
    let refused = |status, reason| Error::Get {
        object: format!("{}/{}", collection.path(), key.name()),
        reason,
        status,
    };
    let read = read_live(&collection.client, resource_type, key, collection.accept());
    let read = tokio::time::timeout(DEADLINE, read).await;
    let read = read.map_err(|_| refused(None, format!("no answer within {} s", DEADLINE.as_secs())))?;
    let item = match read {
        Ok(Some(item)) => item,
        Ok(None) => return Ok(None),
        Err(Unread::Refused(status)) => {
            let failure = decode::refusal(status.code, &status, resource_type);
            return Err(refused(failure.status, failure.reason));
        }
        Err(Unread::Unanswered(error)) => return Err(refused(None, words(&error))),
        Err(Unread::InvalidName) => return Err(refused(None, "the name can't stand in a URL".to_owned())),
        Err(Unread::NoObject(error)) => {
            let error = resource_type.masked(error);
            return Err(refused(None, format!("the answer is no object: {error}")));
        }
    };
    match face.take(&Item::of(item.get())) {
        Decoded::Object { kept, .. } => Ok(Some(kept)),
        Decoded::Undecodable(undecodable) => Err(refused(None, undecodable.error)),
    }
}
