//! The two parts of the bench, each in rounds that all operators take part in.

use anyhow::Result;
use operator_core::testing::TestCluster;

use crate::{
    cost::Phase,
    measure::Subject,
    phases::{self, Labelled},
    report::Report,
    waiting::children_gone,
};

/// The order is reversed with each round, so none of them always meets the warmer server.
fn in_order<T>(mut subjects: Vec<T>, round: usize) -> Vec<T> {
    if round % 2 == 1 {
        subjects.reverse();
    }
    subjects
}

/// Some objects through their whole life, in each round from the beginning.
pub(crate) async fn from_the_beginning(
    cluster: &TestCluster,
    report: &mut Report,
    rounds: usize,
    objects: usize,
    updates: usize,
) -> Result<()> {
    for round in 0..rounds {
        println!("round {} of {rounds}, {objects} objects, {updates} single updates", round + 1);
        for name in in_order(vec!["ours", "managed", "kube-rs", "bare"], round) {
            let mut subject = Subject::new(cluster, name).await?;
            phases::warm_up(&subject).await?;
            report.note(Phase::Burst, name, phases::burst(&mut subject, objects).await?);
            report.note(Phase::Updates, name, phases::single_updates(&mut subject, updates).await?);
            // The bare client remembers nothing, and so has nothing to find as it should be.
            if name != "bare" {
                let restart = phases::restart(&mut subject, objects, "after the restart").await?;
                report.note(Phase::Restart, name, restart);
                let labels = phases::foreign_labels(&mut subject, objects, Labelled::All, "else").await?;
                report.note(Phase::Labels, name, labels);
            }
            report.note(Phase::Deletion, name, phases::deletion(&mut subject, objects).await?);
            subject.kill()?;
            children_gone(&subject).await?;
        }
        println!();
    }
    Ok(())
}

/// Many objects, which are created once for each operator and then found again and again.
pub(crate) async fn on_many(
    cluster: &TestCluster,
    report: &mut Report,
    rounds: usize,
    objects: usize,
    foreign: usize,
) -> Result<()> {
    println!("{objects} objects of each operator are made, which is not measured");
    let mut subjects = Vec::new();
    for name in ["ours", "managed", "kube-rs"] {
        let mut subject = Subject::new(cluster, name).await?;
        phases::warm_up(&subject).await?;
        println!("{name:8} {:28} {}", "", phases::burst(&mut subject, objects).await?);
        subject.kill()?;
        subjects.push(subject);
    }
    for round in 0..rounds {
        println!("\nround {} of {rounds}, cold starts on {objects} objects", round + 1);
        for subject in in_order(subjects.iter_mut().collect(), round) {
            let (name, value) = (subject.name, format!("round-{round}"));
            let start = phases::restart(subject, objects, &value).await?;
            report.note(Phase::ColdStart, name, start);
            let labels = phases::foreign_labels(subject, objects, Labelled::OneEach, &value).await?;
            report.note(Phase::ColdLabels, name, labels);
            subject.kill()?;
        }
    }
    println!("\nbeside {foreign} objects of others");
    for subject in &mut subjects {
        phases::make_foreign(subject, foreign).await?;
        let beside = phases::restart(subject, objects, "beside").await?;
        report.note(Phase::Beside, subject.name, beside);
        subject.kill()?;
    }
    println!("\ndeletion of {objects} objects");
    let last = subjects.len() - 1;
    for (index, subject) in subjects.iter_mut().enumerate() {
        phases::restart(subject, objects, "before the end").await?;
        report.note(Phase::ColdDeletion, subject.name, phases::deletion(subject, objects).await?);
        subject.kill()?;
        // Nobody comes after the last one.
        if index < last {
            children_gone(subject).await?;
        }
    }
    println!();
    Ok(())
}
