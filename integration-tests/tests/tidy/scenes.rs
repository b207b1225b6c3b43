//! Every operator of the tests on both servers comes from a scene, which learns of its failed runs, and none of these
//! tests excuses all of them.

use crate::sources;

/// It never starts.
const NEVER_STARTED: &str = "base_api/stop_without_start.rs";

#[test]
fn no_operator_s_failed_run_is_unheard() {
    for folder in ["integration-tests/tests/conformance", "integration-tests/tests/faults/both"] {
        for source in sources::rust(folder) {
            let code = source.code();
            let is_by_itself = code.contains("Operator::builder()") && source.path != NEVER_STARTED;
            assert!(
                !is_by_itself,
                "{}: begin with `scene.operator()`, which hears of failed runs",
                source.path
            );
            let excuses_all = code.contains("failures.allow(\"\")");
            assert!(!excuses_all, "{}: say in which words a run may fail", source.path);
        }
    }
}
