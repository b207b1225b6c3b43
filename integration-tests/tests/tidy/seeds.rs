//! Tests with random cases have other cases each day, and report their seed.

use crate::sources;

/// Its tests can't use what the others draw from: that would be built a second time, for the host. Proptest draws by chance
/// there, and a failure says its own seed.
const WITHOUT_SEED: &str = "operator-macros";

#[test]
fn every_property_is_tried_with_the_seed_of_the_day() {
    let mut wrong = Vec::new();
    let mut properties = 0;
    for folder in ["operator-core", "integration-tests", "samples", WITHOUT_SEED] {
        for source in sources::rust(folder) {
            let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
            for pair in lines.windows(2).filter(|pair| pair[0].ends_with("proptest! {")) {
                properties += 1;
                if folder != WITHOUT_SEED
                    && !(pair[1].contains("proptest_config") && pair[1].contains("daily()"))
                {
                    wrong.push(format!("{folder}/{}: {}", source.path, pair[1]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "these are tried by chance, which no log repeats; use `daily()`: {wrong:#?}");
    assert!(properties > 25, "{properties}");
}
