//! Calls of user code that may panic: the caller continues.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use futures::{FutureExt, future::CatchUnwind};

/// Calls user code. The error is what it panicked with.
///
/// State that the code shares with its caller may be half changed: a caller that continues must not read it.
pub(crate) fn fenced<T>(code: impl FnOnce() -> T) -> thread::Result<T> {
    catch_unwind(AssertUnwindSafe(code))
}

/// The same for code that waits.
pub(crate) fn fenced_future<F: Future>(code: F) -> CatchUnwind<AssertUnwindSafe<F>> {
    AssertUnwindSafe(code).catch_unwind()
}
