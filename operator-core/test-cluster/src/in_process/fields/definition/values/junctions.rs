//! Alternatives: `anyOf`, `oneOf`, `allOf` and `not`.

use serde_json::Value;

use super::{
    Check,
    outcome::{Outcome, Problem},
};

impl Check<'_> {
    /// Old values don't count here.
    pub(super) fn junctions(&self, schema: &Value, value: &Value, path: &str) -> Outcome {
        let mut outcome = Outcome::default();
        let alternatives =
            |word: &str| schema.get(word).and_then(Value::as_array).filter(|all| !all.is_empty());
        let each = |all: &[Value]| -> Vec<Outcome> {
            all.iter().map(|schema| self.value(schema, value, path, None)).collect()
        };
        if let Some(any) = alternatives("anyOf") {
            let results = each(any);
            match results.iter().position(Outcome::is_valid) {
                Some(first) => outcome.merge(results[first].clone()),
                None => {
                    outcome
                        .add(Problem::general(format!("{path:?} must validate at least one schema (anyOf)")));
                    outcome.merge(best(&results));
                }
            }
        }
        if let Some(one) = alternatives("oneOf") {
            let results = each(one);
            let valid: Vec<&Outcome> = results.iter().filter(|result| result.is_valid()).collect();
            match valid[..] {
                [only] => outcome.merge(only.clone()),
                [] => {
                    let said =
                        format!("{path:?} must validate one and only one schema (oneOf). Found none valid");
                    outcome.add(Problem::general(said));
                    outcome.merge(best(&results));
                }
                _ => {
                    let said = format!(
                        "{path:?} must validate one and only one schema (oneOf). Found {} valid alternatives",
                        valid.len()
                    );
                    outcome.add(Problem::general(said));
                }
            }
        }
        if let Some(all) = alternatives("allOf") {
            let results = each(all);
            let valid = results.iter().filter(|result| result.is_valid()).count();
            let wrong = valid != results.len();
            results.into_iter().for_each(|result| outcome.merge(result));
            if wrong {
                let none = if valid == 0 { ". None validated" } else { "" };
                outcome
                    .add(Problem::general(format!("{path:?} must validate all the schemas (allOf){none}")));
            }
        }
        if let Some(not) = schema.get("not").filter(|not| !not.is_null())
            && self.value(not, value, path, None).is_valid()
        {
            outcome.add(Problem::general(format!("{path:?} must not validate the schema (not)")));
        }
        outcome.matches += 1;
        outcome
    }
}

/// The failure with the most checks that have passed, the first of several.
fn best(results: &[Outcome]) -> Outcome {
    let mut best: Option<&Outcome> = None;
    for result in results {
        if best.is_none_or(|best| result.matches > best.matches) {
            best = Some(result);
        }
    }
    best.cloned().unwrap_or_default()
}
