//! The process dies before and after each write to the API server, and before and after each statement.

use std::sync::Arc;

use anyhow::{Context, Result};
use mysql_schema::server::Server;
use operator_core::testing::{
    TestCluster, TestOperator,
    faults::{Fault, Faults, Rule},
};
use tokio::sync::Notify;

use crate::{
    gateway::{Gateway, When},
    scene::{Scene, on_both_servers, server},
};

/// The place where it dies.
#[derive(Clone, Copy, Debug)]
enum At {
    Write(u64, When),
    Statement(usize, When),
}

/// More writes or statements than a life has.
const MOST: usize = 100;

/// Lives a life in which the process dies there, and another one continues. Returns whether it died, and all statements.
async fn life(cluster: &TestCluster, server: &Server, at: At) -> Result<(bool, Vec<String>)> {
    let scene = Scene::new(cluster, server).await?;
    let died = Arc::new(Notify::new());
    let statement = if let At::Statement(number, when) = at { Some((number, when)) } else { None };
    let gateway = Gateway::start(&server.socket(), statement, Arc::clone(&died))?;
    let rules = match at {
        At::Write(number, When::Before) => vec![Rule::writes().nth(number).fault(Fault::Crash)],
        At::Write(number, When::After) => vec![Rule::writes().nth(number).fault(Fault::CrashAfter)],
        At::Statement(..) => Vec::new(),
    };
    let faults = Faults::new(rules);
    let notified = Arc::clone(&died);
    faults.on_crash(move || notified.notify_one());
    let start = async || {
        let operator = scene.declared(gateway.opts(server.opts())).transport(faults.hook());
        TestOperator::start(operator).await
    };
    let mut operator = start().await?;
    {
        let mut user = std::pin::pin!(scene.life());
        loop {
            tokio::select! {
                biased;
                lived = &mut user => break lived?,
                () = died.notified() => {
                    // Nothing of it continues.
                    drop(operator);
                    operator = start().await?;
                }
            }
        }
    }
    operator.stop().await;
    let has_died = match at {
        At::Write(..) => faults.unfired().is_empty(),
        At::Statement(..) => gateway.has_fired(),
    };
    Ok((has_died, gateway.statements()))
}

/// Life after life, until one has so few writes that nothing dies. Returns how many have died.
async fn lives(cluster: &TestCluster, server: &Server, at: impl Fn(usize) -> At) -> Result<usize> {
    for number in 1..MOST {
        let at = at(number);
        let (has_died, statements) =
            Box::pin(life(cluster, server, at)).await.with_context(|| format!("{at:?}"))?;
        if !has_died {
            let kinds = [
                "CREATE DATABASE",
                "CREATE USER",
                "GRANT ALL",
                "ALTER DATABASE",
                "DROP USER",
                "DROP DATABASE",
            ];
            for kind in kinds {
                assert!(
                    statements.iter().any(|statement| statement == kind),
                    "{kind} is not tried: {statements:?}"
                );
            }
            return Ok(number - 1);
        }
    }
    anyhow::bail!("there is no end to it")
}

async fn a_process_that_dies_at_any_write_or_statement_leaves_nothing_half_done(
    cluster: TestCluster,
) -> Result<()> {
    let server = server().await?;
    let (before, after, sooner, later) = tokio::try_join!(
        lives(&cluster, server, |number| At::Write(number as u64, When::Before)),
        lives(&cluster, server, |number| At::Write(number as u64, When::After)),
        lives(&cluster, server, |number| At::Statement(number, When::Before)),
        lives(&cluster, server, |number| At::Statement(number, When::After)),
    )?;
    // The finalizer, two Secrets, a status or more, and the finalizer again.
    assert!(before >= 5 && after >= 5, "{before} and {after} writes");
    assert!(sooner >= 8 && later >= 8, "{sooner} and {later} statements");
    Ok(())
}

on_both_servers!(a_process_that_dies_at_any_write_or_statement_leaves_nothing_half_done);
