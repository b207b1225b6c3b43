//! A fresh list of metadata, to compare the cache with.

use crate::resource::ObjectKey;

use super::{
    Collection,
    decode::{Identity, Page},
    failure::Failure,
    fetch,
};
use crate::cache::Error;

/// How often a list is started again because its pages expired before its end.
const ATTEMPTS: usize = 3;

/// The version of a consistent list of a collection, with its objects and their versions in order of their keys.
pub(in crate::cache) async fn list_metadata(
    collection: &Collection,
) -> Result<(String, Vec<(ObjectKey, String)>), Error> {
    let mut attempt = 1;
    loop {
        match list_once(collection).await {
            Ok(list) => return Ok(list),
            Err(failure) if failure.status == Some(410) && attempt < ATTEMPTS => attempt += 1,
            Err(failure) => {
                return Err(Error::List {
                    collection: collection.path(),
                    reason: failure.reason,
                    status: failure.status,
                });
            }
        }
    }
}

async fn list_once(collection: &Collection) -> Result<(String, Vec<(ObjectKey, String)>), Failure> {
    let mut listed = Vec::new();
    let mut list_version = None;
    let mut continue_token = None;
    loop {
        let body = fetch(collection, collection.list_metadata(continue_token)?).await?;
        let page = Page::parse(body, &collection.settings.resource_type)?;
        // All pages show the state as of the first one.
        list_version = list_version.or_else(|| page.version());
        continue_token = page.continue_token();
        for item in page.items() {
            if let Some(identity) = Identity::of(item.text)
                && let Some(key) = identity.key()
                && let Some(version) = identity.version()
            {
                listed.push((key.within(&collection.settings.cluster), version));
            }
        }
        if continue_token.is_none() {
            break;
        }
    }
    listed.sort_unstable();
    Ok((list_version.unwrap_or_default(), listed))
}
