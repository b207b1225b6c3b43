//! What the Java Operator SDK has no test for.

mod cleaner_keeps_finalizer;
mod crd_installed_while_waiting;
mod crd_missing_at_start;
mod external_sources;
mod fixed_point;
mod forbidden_secondary;
mod http;
mod observability;
mod panic_in_reconcile;
mod permanent;
mod primary_gone_during_a_run;
mod records;
mod recreated_primary;
mod status;
mod unanswered_create;
