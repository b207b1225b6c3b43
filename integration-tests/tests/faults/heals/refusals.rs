//! Each write that an operator makes × each answer that a server can give. The write is refused for ten minutes, and ten minutes later
//! everything is as it is wanted.

use integration_tests::prelude::*;
use operator_core::testing::faults::{Fault, Match};

use super::{World, minutes};

/// An hour, as a proxy in maintenance says.
const RETRY_AFTER: u64 = 3600;

/// What is refused, and when.
struct Write {
    name: &'static str,
    requests: fn() -> Match,
    during: Step,
}

/// What happens to the primary while it is refused.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// It is created, and nothing was there before.
    Created,
    /// It is deleted.
    Deleted,
    /// A child that it owns is deleted by someone else.
    ChildDeleted,
}

const WRITES: &[Write] = &[
    Write {
        name: "child",
        requests: || Rule::writes().resource("configmaps").name("one-a"),
        during: Step::Created,
    },
    Write {
        name: "finalizer",
        requests: || Rule::on(Verb::Apply).resource("testresources").main_resource(),
        during: Step::Created,
    },
    Write {
        name: "status",
        requests: || Rule::writes().resource("testresources").subresource("status"),
        during: Step::Created,
    },
    Write {
        name: "id",
        requests: || Rule::writes().resource("configmaps").name("one-word"),
        during: Step::Created,
    },
    Write {
        name: "note",
        requests: || Rule::on(Verb::Patch).resource("testresources").main_resource(),
        during: Step::Created,
    },
    // It is read before it is written.
    Write { name: "Event", requests: || Rule::any().resource("events"), during: Step::Created },
    Write { name: "lease", requests: || Rule::writes().resource("leases"), during: Step::Created },
    Write {
        name: "deletion",
        requests: || Rule::on(Verb::Delete).resource("configmaps").name("one-a"),
        during: Step::Deleted,
    },
    Write {
        name: "removal of the finalizer",
        requests: || Rule::on(Verb::Patch).resource("testresources").main_resource(),
        during: Step::Deleted,
    },
    // The primary is read before a child gets an owner.
    Write {
        name: "look at the primary",
        requests: || Rule::on(Verb::Get).resource("testresources"),
        during: Step::ChildDeleted,
    },
];

/// The answers, by what rows call them.
fn refusals() -> Vec<(String, Fault)> {
    let typed = "failed to create typed patch object (shop/one; v1, Kind=ConfigMap): .more: field not declared in schema";
    let statuses = [
        (
            "400",
            StatusAnswer::new(400, "BadRequest", "admission webhook \"a.example.com\" denied the request"),
        ),
        ("403", StatusAnswer::forbidden("admission webhook \"a.example.com\" denied the request")),
        ("404 of the namespace", StatusAnswer::new(404, "NotFound", "namespaces \"shop\" not found")),
        ("404", StatusAnswer::not_served()),
        ("409", StatusAnswer::conflict()),
        ("413", StatusAnswer::new(413, "RequestEntityTooLarge", "the request is too large")),
        (
            "422",
            StatusAnswer::new(422, "Invalid", "ValidatingAdmissionPolicy 'a' denied request: no label team"),
        ),
        ("429", StatusAnswer::new(429, "TooManyRequests", "too many requests")),
        ("500", StatusAnswer::internal()),
        ("500 of the schema", StatusAnswer::new(500, "", typed)),
        ("503", StatusAnswer::unavailable()),
        ("504", StatusAnswer::timeout()),
    ];
    let patient = statuses.clone().map(|(name, answer)| {
        (format!("{name}, Retry-After"), Fault::Status(answer.retry_after(RETRY_AFTER)))
    });
    let plain = statuses.map(|(name, answer)| (name.to_owned(), Fault::Status(answer)));
    let unanswered = [("refused", Fault::Refused), ("lost", Fault::AnswerLost), ("silence", Fault::Hang)];
    let unanswered = unanswered.map(|(name, fault)| (format!("no answer, {name}"), fault));
    plain.into_iter().chain(patient).chain(unanswered).collect()
}

/// What doesn't heal by itself if a run makes or waits for the write: the beginning of the refusal, and what it needs.
const NEEDS_MORE: &[(&str, &str)] =
    &[("413", "a new generation or a new binary: the object is too large, and no time makes it smaller")];

fn heals(write: &str, refusal: &str) -> bool {
    matches!(write, "Event" | "lease") || !NEEDS_MORE.iter().any(|(begins, _)| refusal.starts_with(begins))
}

/// What isn't as it is wanted in the end.
async fn outcome(write: &Write, fault: Fault) -> Result<Vec<String>> {
    let rule = (write.requests)().fault(fault);
    let faults = Faults::new([rule.clone()]);
    if write.during != Step::Created {
        faults.off();
    }
    let world = World::start(&faults, write.name == "lease").await?;
    world.scene.create("one", "first").await?;
    if write.during != Step::Created {
        minutes(1).await;
        let missing = world.missing("first").await?;
        ensure!(missing.is_empty(), "before anything is refused there is no {missing:?}");
        faults.on();
    }
    match write.during {
        Step::Created => {}
        Step::Deleted => world.scene.delete("one").await?,
        Step::ChildDeleted => {
            drop(world.scene.api::<ConfigMap>().delete("one-b", &DeleteParams::default()).await?);
        }
    }
    minutes(10).await;
    ensure!(rule.fired() > 0, "nothing was refused");
    faults.off();
    // What couldn't be told isn't told later: the next Event is.
    let value = if write.name == "Event" { "second" } else { "first" };
    if value == "second" {
        world.scene.set("one", value).await?;
    }
    minutes(10).await;
    if write.during == Step::Deleted { world.left().await } else { world.missing(value).await }
}

/// Two tests share the table, as each takes a while.
async fn each_heals(writes: &[Write]) -> Result<()> {
    let mut wrong = Vec::new();
    for write in writes {
        for (refusal, fault) in refusals() {
            let outcome = outcome(write, fault).await;
            if !matches!(&outcome, Ok(missing) if missing.is_empty() == heals(write.name, &refusal)) {
                wrong.push(format!("{} × {refusal}: missing or left: {outcome:?}", write.name));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        writes.len() * refusals().len(),
        wrong.join("\n")
    );
    assert!(NEEDS_MORE.len() <= 10, "each row of the list is a promise less");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_made_after_a_refusal_of_ten_minutes() -> Result<()> {
    each_heals(&WRITES[..5]).await
}

#[tokio::test(start_paused = true)]
async fn what_goes_and_what_is_told_after_a_refusal_of_ten_minutes() -> Result<()> {
    each_heals(&WRITES[5..]).await
}
