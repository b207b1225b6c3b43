//! The rows of the category `base_api`.

mod reconciler_executor;
