//! The rows of the category `base_api`.

mod cleaner_for_reconciler;
mod cluster_scoped_resource;
mod concurrency;
mod error_status_handler;
mod graceful_stop;
mod informer_event_source;
mod label_selector;
mod max_interval;
mod own_secondary_update;
mod reconciler_executor;
mod retry;
mod stop_without_start;
