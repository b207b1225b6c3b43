//! Records in another system: one for a primary, or several by key. The user says which should exist, and implements
//! four calls; the framework keeps the ids, never creates a record twice, and deletes records that aren't wanted.
//!
//! ```text
//! External::want ──▶ records by key ┐
//! ids: status field, or an object   ├─▶ Facts ──▶ step (pure) ──▶ observe, find, create, update, delete
//! notes: annotation of the primary  │     ▲                       keep the id, note an attempt
//! memory of this process            ┘     └───────────── what came of it ─────────┘
//! ```
//!
//! # Guarantees
//! - An id is written right after it is known, under a field manager of its own, before anything else is done.
//! - A create whose outcome is unknown is never repeated blindly: the record is searched for by its token; where that
//!   isn't possible, the create was noted before it was sent, and waits for a person.
//! - A record whose deletion takes time counts as existing until it can't be found any more.
//! - A record outlives the name of its node. A primary stays while there are ids or notes of a node that the controller lacks.
//! - Nothing is kept about a primary that is gone.
//!
//! # Assumptions
//! - A token names one record: nobody else uses the token in the other system.
//! - If a system shows new records only after a while, it is declared after how long: `shows_within`.

mod declared;
mod engine;
mod field;
mod ids;
mod looks;
mod memory;
mod note;
mod object;
mod one;
mod shape;
mod source;
mod step;
mod wants;

#[cfg(test)]
mod offline_tests;
#[cfg(test)]
mod tests;

use std::future::Future;

use super::Deletion;
pub use crate::results::Token;
use crate::{
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

pub use declared::Records;
pub use shape::{ManyOf, OneOf, Resources};
pub use source::Pushes;
pub use wants::Wants;

/// A record in another system that exists because a primary of type `P` does: a database, a DNS record, a bucket. The
/// chapter "Records outside the cluster" of the book is about it.
///
/// In each run the framework calls [`want`](Self::want), and then the methods that are needed to get there. It keeps the id
/// that [`create`](Self::create) has returned in the place that [`Records`] declares. An error of any call fails the run, which is retried; an error with
/// a [`Permanent`](crate::Permanent) in it is not retried. Each call may be dropped before it has returned, and is then repeated.
///
/// ```
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::ConfigMap as Zone;
/// use operator_core::{dependent::{Deletion, External, Found, Records, Token}, prelude::*};
/// # #[derive(Clone, PartialEq)]
/// # struct Record { address: String }
/// # #[derive(Clone)]
/// # struct Api;
/// # impl Api {
/// #     async fn get(&self, _: &str) -> Result<Option<Record>> { Ok(None) }
/// #     async fn post(&self, record: &Record, _: &str) -> Result<(String, Record)> { Ok((String::new(), record.clone())) }
/// #     async fn put(&self, _: &str, record: &Record) -> Result<Record> { Ok(record.clone()) }
/// #     async fn delete(&self, _: &str) -> Result<()> { Ok(()) }
/// #     async fn with_tag(&self, _: &str) -> Result<Vec<(String, Record)>> { Ok(Vec::new()) }
/// # }
///
/// struct Dns {
///     api: Api,
/// }
///
/// impl External<Zone> for Dns {
///     type Resource = Record;
///     type Want = Option<Record>;
///
///     fn want(&self, zone: &Zone) -> Option<Record> {
///         let address = zone.data.as_ref()?.get("address")?;
///         Some(Record { address: address.clone() })
///     }
///
///     async fn observe(&self, id: &str) -> Result<Option<Record>> {
///         self.api.get(id).await
///     }
///
///     async fn create(&self, want: &Record, token: &Token) -> Result<(String, Record)> {
///         self.api.post(want, token.as_str()).await
///     }
///
///     async fn update(&self, id: &str, _: &Record, want: &Record) -> Result<Record> {
///         self.api.put(id, want).await
///     }
///
///     async fn delete(&self, id: &str) -> Result<Deletion> {
///         self.api.delete(id).await?;
///         Ok(Deletion::Gone)
///     }
///
///     async fn find(&self, token: &Token) -> Result<Found<Record>> {
///         Ok(Found::Records(self.api.with_tag(token.as_str()).await?))
///     }
/// }
///
/// # fn zones(api: Api) {
/// let record = Records::new(Dns { api }).id_in_config_map().polled(Duration::from_secs(60));
/// let zones = Controller::of_existing::<Zone>().workflow((record,));
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a record outside the cluster for `{P}`",
    note = "implement `operator_core::dependent::External<{P}>` for it; an object in the cluster is what a function of `&{P}` returns"
)]
pub trait External<P: KubeObject>: Send + Sync + 'static {
    /// A record as the other system keeps it.
    type Resource: PartialEq + Send + Sync + 'static;
    /// What [`want`](Self::want) returns: `Option<Self::Resource>` for one record, `Vec<(String, Self::Resource)>` for
    /// several by key, [`Want`](crate::Want) of either if it may hold, or a `Result` of one of these.
    type Want: Wants<Self::Resource>;

    /// What should exist: a function of the primary, without side effects.
    fn want(&self, primary: &P) -> Self::Want;

    /// Adds to the wanted record what other nodes have made in the cluster, such as a password in a Secret: the result
    /// is compared, created and updated. It is called for each wanted record when the nodes that come before are ready.
    /// By default, and with `None`, nothing is added. JOSDK: the context of `desired`.
    ///
    /// # Errors
    /// If something is missing. Then the record doesn't change.
    fn complete(
        &self,
        want: &Self::Resource,
        context: &Context<P>,
    ) -> Result<Option<Self::Resource>, BoxError> {
        let _ = (want, context);
        Ok(None)
    }

    /// The record under this id in the other system; `None` if there is none: then a wanted record is created again,
    /// after a search by its token.
    ///
    /// # Errors
    /// If the other system doesn't answer; nothing is concluded from that.
    fn observe(&self, id: &str) -> impl Future<Output = Result<Option<Self::Resource>, BoxError>> + Send;

    /// Creates the record, and returns the id that the other system gave it, and its state. Write the token where the
    /// record can be found by it.
    ///
    /// # Errors
    /// An error leaves open whether it was created, unless it is [`NotMade`], or has it among its sources.
    fn create(
        &self,
        want: &Self::Resource,
        token: &Token,
    ) -> impl Future<Output = Result<(String, Self::Resource), BoxError>> + Send;

    /// Changes the record from `actual`, its last known state, to `want`, and returns its new state.
    ///
    /// # Errors
    /// If it can't be changed. This is retried.
    fn update(
        &self,
        id: &str,
        actual: &Self::Resource,
        want: &Self::Resource,
    ) -> impl Future<Output = Result<Self::Resource, BoxError>> + Send;

    /// Deletes it, and returns whether that is done. It may be gone already.
    ///
    /// # Errors
    /// If it can't be deleted. This is retried.
    fn delete(&self, id: &str) -> impl Future<Output = Result<Deletion, BoxError>> + Send;

    /// Whether the record is as wanted; by default whether both are equal. Implement it if the other system adds
    /// something, or writes things in its own way: otherwise each run updates the record.
    fn matches(&self, actual: &Self::Resource, want: &Self::Resource) -> bool {
        actual == want
    }

    /// All records, including those of others, each with its id: [`polled_together`](Records::polled_together) calls it
    /// in each period. By default it returns an error.
    ///
    /// # Errors
    /// If the other system doesn't answer; nothing is concluded from that.
    fn observe_all(&self) -> impl Future<Output = Result<Vec<(String, Self::Resource)>, BoxError>> + Send {
        async { Err("`polled_together` needs an implementation of `External::observe_all`".into()) }
    }

    /// The records that were created for this token, and no others. It is called before a create if an earlier create
    /// may have succeeded. By default the other system can't be searched: then each create is noted on the primary
    /// before it is sent, and a create without an answer waits for a person.
    ///
    /// # Errors
    /// If the other system doesn't answer; then nothing is created.
    fn find(&self, token: &Token) -> impl Future<Output = Result<Found<Self::Resource>, BoxError>> + Send {
        let _ = token;
        async { Ok(Found::NotSearchable) }
    }
}

/// The result of a search for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<R> {
    /// These records, each with its id.
    Records(Vec<(String, R)>),
    /// The other system can't be searched.
    NotSearchable,
}

/// The other system has refused to create a record, so the record doesn't exist: the error of an [`External::create`]
/// that leaves no doubt. It is retried like any other error.
///
/// ```
/// use operator_core::{dependent::NotMade, prelude::*};
///
/// fn refused(code: u16, words: &str) -> Box<dyn std::error::Error + Send + Sync> {
///     match code {
///         400..=499 => NotMade::because(words).into(),
///         _ => words.into(),
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the other system has refused it")]
pub struct NotMade {
    #[source]
    because: BoxError,
}

impl NotMade {
    /// A refusal for this reason.
    pub fn because(error: impl Into<BoxError>) -> Self {
        Self { because: error.into() }
    }
}
