//! The types that an [`External`](super::External) may return for "this should exist".

use super::{ManyOf, OneOf, Resources};
use crate::{
    dependent::function::{Failure, Want},
    reconciler::BoxError,
};

/// The records that should exist, by key; the one record of a primary has an empty key.
type Wanted<R> = Result<Want<Vec<(String, R)>>, BoxError>;

/// The types that [`External::want`](super::External::want) may return: `Option<R>` or `Want<R>` for one record,
/// `Vec<(String, R)>` or `Want<Vec<(String, R)>>` for several by key, or a `Result` of one of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which records of `{R}` should exist",
    note = "`type Want` is `Option<R>` or `Want<R>` for one record, `Vec<(String, R)>` for several by key, or a `Result` of one of these"
)]
pub trait Wants<R>: Send {
    /// Whether there is one record, or any number.
    #[doc(hidden)]
    type Shape: Resources<Item = R>;
    /// Whether it may say "hold".
    const HOLDS: bool;
    /// Whether it may say that nothing should exist.
    const OPTIONAL: bool = true;

    /// The records by key.
    ///
    /// # Errors
    /// If it is an error.
    #[doc(hidden)]
    fn wants(self) -> Wanted<R>;
}

fn one<R>(record: R) -> Vec<(String, R)> {
    vec![(String::new(), record)]
}

impl<R: Send + Sync + 'static> Wants<R> for Option<R> {
    type Shape = OneOf<R>;
    const HOLDS: bool = false;

    fn wants(self) -> Wanted<R> {
        Ok(self.map_or_else(|| Want::none("it is not wanted"), |record| Want::Is(one(record))))
    }
}

impl<R: Send + Sync + 'static> Wants<R> for Want<R> {
    type Shape = OneOf<R>;
    const HOLDS: bool = true;

    fn wants(self) -> Wanted<R> {
        self.try_map(|record| Ok(one(record)))
    }
}

impl<R: Send + Sync + 'static> Wants<R> for Vec<(String, R)> {
    type Shape = ManyOf<R>;
    const HOLDS: bool = false;
    const OPTIONAL: bool = false;

    fn wants(self) -> Wanted<R> {
        Ok(Want::Is(self))
    }
}

impl<R: Send + Sync + 'static> Wants<R> for Want<Vec<(String, R)>> {
    type Shape = ManyOf<R>;
    const HOLDS: bool = true;

    fn wants(self) -> Wanted<R> {
        Ok(self)
    }
}

impl<R, W: Wants<R>, E: Failure + Send> Wants<R> for Result<W, E> {
    type Shape = W::Shape;
    const HOLDS: bool = W::HOLDS;
    const OPTIONAL: bool = W::OPTIONAL;

    fn wants(self) -> Wanted<R> {
        self.map_err(Failure::boxed)?.wants()
    }
}
