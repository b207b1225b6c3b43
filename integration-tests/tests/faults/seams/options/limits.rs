//! A rate limiter of the user's own.

use integration_tests::prelude::*;
use operator_core::{
    environment::Now,
    processor::{Admission, KeyLimit, RateLimiter},
};

use super::{calm, pass, scene, seconds, under};

/// One run in so much time.
#[derive(Debug)]
struct Spaced {
    pause: Duration,
    /// How many primaries it was asked for.
    asked: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct NotBefore {
    moment: Now,
    pause: Duration,
}

impl RateLimiter for Spaced {
    fn for_key(&self, now: Now) -> Box<dyn KeyLimit> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::new(NotBefore { moment: now, pause: self.pause })
    }
}

impl KeyLimit for NotBefore {
    fn admit(&mut self, now: Now) -> Admission {
        if now < self.moment {
            return Admission::Wait(self.moment.since(now));
        }
        self.moment = now + self.pause;
        Admission::Admitted
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_limiter_of_the_users_own_spaces_the_runs_of_each_primary() -> Result<()> {
    let (scene, script, asked) = (scene().await?, Script::idle(), Arc::new(AtomicUsize::new(0)));
    let limiter = Spaced { pause: Duration::from_secs(7), asked: Arc::clone(&asked) };
    let operator = under(&calm(), &scene, scene.controller(&script).rate_limiter(limiter)).await?;
    let begin = Instant::now();
    scene.create("busy", "0").await?;
    scene.create("quiet", "0").await?;
    for second in 1..20 {
        pass(1).await;
        scene.set("busy", &second.to_string()).await?;
        if second == 10 {
            scene.set("quiet", "1").await?;
        }
    }
    pass(60).await;
    assert_eq!(seconds(&script.runs, "busy", begin), [0, 7, 14, 21]);
    assert_eq!(seconds(&script.runs, "quiet", begin), [0, 10], "each primary has a limit of its own");
    assert_eq!(asked.load(Ordering::SeqCst), 2);

    // A successor of that name has a fresh one.
    scene.set("busy", "before the end").await?;
    pass(1).await;
    scene.delete("busy").await?;
    scene.create("busy", "another").await?;
    pass(1).await;
    assert_eq!(script.runs.of("busy").len(), 6, "the change, and the new one at once");
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    operator.stop().await;
    Ok(())
}
