//! What `cargo weigh` counts as an assertion.

use integration_tests::{Assertions, assertions};

#[test]
fn assertions_are_counted_wherever_they_stand_and_words_about_them_are_not() {
    let source = r##"
        /// An `assert!(true)` in a comment, and one in a text below.
        fn until_ready(text: &str) -> bool { text != "assert!(false)" }
        proptest! {
            #![proptest_config(daily())]
            #[test]
            fn each(x in 0..3) { prop_assert_eq!(x, x); helper(|| { ensure!(x < 3, "{x}"); Ok(()) }) }
        }
        async fn play(scene: &Scene) -> Result<()> {
            scene.failures.expect("no luck");
            until_ready("one");
            scene.until_other::<ConfigMap>("it", "one", |_| true).await?;
            eventually("it", async || Ok(Some(()))).await?;
            assert_eq!(Some(1).expect("it is there"), 1);
            let assert = assert != 2;
            use crate::until;
            Ok(())
        }
    "##;
    let found = assertions(source).expect("it is Rust");
    assert_eq!(found, Assertions { asserted: 3, awaited: 4 });
}
