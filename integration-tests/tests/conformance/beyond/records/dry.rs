//! Records in a dry run: the other system is the controller's own, and nothing is written to a cluster.

use integration_tests::TestObject as _;
use integration_tests::prelude::*;
use operator_core::{dependent::Records, testing::OtherSystem};

#[test]
fn a_dry_run_plans_how_the_id_and_the_note_are_written() {
    let play = |word: fn(&Words) -> Word| {
        let system: Words = OtherSystem::new();
        let record = Records::new(word(&system)).id_in_status("recordId").named("word");
        let workflow = Workflow::builder().nodes((record,)).build().unwrap();
        let script = Script::<TestResource>::idle();
        let one = TestResource::named("one", "first");
        let planned = script.controller().workflow(&workflow).dry_run(&one).blocking();
        (planned, system)
    };
    let (planned, system) = play(Word::new);
    assert_eq!(planned.writes(), ["apply TestResource/one", "patch TestResource/one/status"]);
    let body = planned.body("patch TestResource/one/status").to_string();
    assert!(body.contains(r#""recordId":"id-1""#), "{body}");
    assert_eq!(words_in(&system), ["first"]);
    let (planned, _) = play(Word::unsearchable);
    let with_a_note = ["apply TestResource/one", "patch TestResource/one", "patch TestResource/one/status"];
    assert_eq!(planned.writes(), with_a_note);
    let note = planned.body("patch TestResource/one").to_string();
    assert!(note.contains("operator-core.io/attempts"), "{note}");
}
