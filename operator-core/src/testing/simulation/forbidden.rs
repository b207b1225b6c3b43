//! NothingForbidden: what the operator creates and deletes, for each object and each of its lives, compared with the calm run.

use std::collections::{BTreeMap, BTreeSet};

use super::{Oracle, Violation, record::Call};

/// The calls of a schedule in its two parts: until users are done, and while everything that they have made is deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases<'c> {
    pub(super) calls: &'c [Call],
    /// The call with which the second part starts.
    pub(super) farewell: usize,
    /// How often the end came: what was deleted may have been made again.
    pub(super) ends: u64,
}

/// What the operator did in one part: how many lives of each object it ended, and how many objects with generated names
/// it made.
#[derive(Debug, Default)]
struct Effects {
    ended: BTreeMap<String, u64>,
    generated: BTreeMap<String, u64>,
}

impl Phases<'_> {
    /// A deletion that is repeated because its answer was lost ends a life once; the deletion of a successor ends
    /// another life.
    fn effects(&self) -> [Effects; 2] {
        let mut effects = [Effects::default(), Effects::default()];
        let (mut births, mut ended) = (BTreeMap::<String, u64>::new(), BTreeSet::new());
        for (number, call) in self.calls.iter().enumerate() {
            let object = call.target.object();
            if call.created() {
                *births.entry(object.clone()).or_default() += 1;
            }
            if !call.is_work() {
                continue;
            }
            let effects = &mut effects[usize::from(number >= self.farewell)];
            if call.created() && call.target.name.is_none() {
                *effects.generated.entry(object.clone()).or_default() += 1;
            }
            let life = births.get(&object).copied().unwrap_or(0);
            if call.deleted() && ended.insert((object.clone(), life)) {
                *effects.ended.entry(object).or_default() += 1;
            }
        }
        effects
    }
}

/// Nothing is deleted more often than in the same part of the calm run, and nothing with a generated name is made more
/// often. One object can be created by name again only after it was deleted, so such creations need no separate count.
pub(super) fn nothing_forbidden(here: Phases<'_>, calm: Phases<'_>) -> Vec<Violation> {
    let violation = |message| Violation { oracle: Oracle::NothingForbidden, message };
    let mut violations = Vec::new();
    let parts = [(" before the end", 1), (" in the end", here.ends)];
    for ((here, calm), (when, ends)) in here.effects().iter().zip(calm.effects()).zip(parts) {
        for (object, times) in &here.ended {
            match ends * calm.ended.get(object).copied().unwrap_or(0) {
                0 => violations.push(violation(format!(
                    "{object} is deleted{when}, which it isn't there in the calm run"
                ))),
                wanted if *times > wanted => violations.push(violation(format!(
                    "{object} is deleted {times} times{when}, and {wanted} times in the calm run"
                ))),
                _ => {}
            }
        }
        for (object, times) in &here.generated {
            let wanted = ends * calm.generated.get(object).copied().unwrap_or(0);
            if *times > wanted {
                violations.push(violation(format!(
                    "{object} with a generated name: {times} are created{when}, and {wanted} in the calm run"
                )));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{Method, Request};
    use kube::client::Body;

    use super::*;
    use crate::testing::{faults::RequestTarget, simulation::record::Actor};

    fn call(by: Actor, method: Method, path: &str, code: u16) -> Call {
        let request = Request::builder().method(method).uri(format!("/api/v1/namespaces/shop/{path}"));
        let request = request.body(Body::from(b"{}".to_vec())).expect("a request");
        let target = RequestTarget::of(&request).expect("it is about an object");
        Call { at: Duration::ZERO, by, target, code: Some(code) }
    }

    fn operator(method: Method, path: &str, code: u16) -> Call {
        call(Actor::Operator(1), method, path, code)
    }

    fn told(here: (&[Call], usize), calm: (&[Call], usize)) -> Vec<String> {
        let phases = |(calls, farewell): (_, usize)| Phases { calls, farewell, ends: 1 };
        let violations = nothing_forbidden(phases(here), phases(calm));
        violations.into_iter().map(|violation| violation.message).collect()
    }

    #[test]
    fn what_the_calm_run_deletes_in_the_end_may_not_go_before() {
        let calls = [operator(Method::DELETE, "configmaps/a", 200)];
        assert_eq!(told((&calls, 0), (&calls, 0)), [""; 0]);
        assert_eq!(
            told((&calls, 1), (&calls, 0)),
            ["configmaps/shop/a is deleted before the end, which it isn't there in the calm run"]
        );
    }

    #[test]
    fn a_deletion_that_is_repeated_is_one_and_that_of_a_successor_another() {
        let delete = || operator(Method::DELETE, "configmaps/a", 200);
        let made = || call(Actor::User, Method::PUT, "configmaps/a", 201);
        let calm = [delete()];
        assert_eq!(told((&[delete(), delete()], 2), (&calm, 1)), [""; 0], "its answer was lost");
        let mut created = made();
        created.target.verb = crate::testing::faults::Verb::Create;
        let twice = [delete(), created, delete()];
        assert_eq!(
            told((&twice, 3), (&calm, 1)),
            ["configmaps/shop/a is deleted 2 times before the end, and 1 times in the calm run"]
        );
    }

    #[test]
    fn a_generated_name_is_made_as_often_as_in_the_calm_run() {
        let create = || operator(Method::POST, "configmaps", 201);
        let told = told((&[create(), create()], 2), (&[create()], 1));
        assert!(told[0].contains("2 are created before the end, and 1 in the calm run"), "{told:?}");
    }
}
