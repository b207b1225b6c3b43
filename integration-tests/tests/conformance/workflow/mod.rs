//! The rows of the category `workflow`.

mod bulk_activation_condition;
mod complex_workflow;
mod crd_present_activation_condition;
mod managed_dependent_delete_condition;
mod multiple_dependent_with_activation;
mod one_dependent_activation_condition;
mod ordered_managed_dependent;
mod precondition_and_activation;
mod workflow_activation_cleanup;
mod workflow_activation_condition;
mod workflow_all_feature;
mod workflow_explicit_cleanup;
mod workflow_explicit_invocation;
mod workflow_inactive_dependent_access;
mod workflow_multiple_activation;
mod workflow_silent_exception_handling;
