//! The rows of JOSDK's dependent resources.

mod external_state;
mod external_state_dependent;
mod multiple_managed_external_dependent_same_type;
