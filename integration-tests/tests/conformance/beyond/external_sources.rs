//! Sources outside the cluster: polled and pushed resources reach the primary's run, also over a restart.

use futures::{FutureExt, future::BoxFuture};
use integration_tests::prelude::*;
use operator_core::{
    CachingInboundEventSource, Context, PerResourcePollingEventSource, PollingEventSource,
    SimpleInboundEventSource,
    event_source::ExternalResource,
    observe::{Cause, SourceIndex},
    operator::Stopped,
};

const PERIOD: Duration = Duration::from_millis(50);

/// A resource of the other system; the type says by which source it comes.
macro_rules! external {
    ($($name:ident),*) => {$(
        #[derive(Clone, Debug, PartialEq)]
        struct $name(&'static str);

        impl ExternalResource for $name {
            type Id = &'static str;

            fn id(&self) -> &'static str {
                stringify!($name)
            }
        }
    )*};
}

external!(Polled, PolledByItself, Pushed);

/// The other system.
#[derive(Clone, Debug, Default)]
struct System(Arc<Mutex<BTreeMap<ObjectKey, &'static str>>>);

impl System {
    fn set(&self, key: &ObjectKey, value: &'static str) {
        self.0.lock().insert(key.clone(), value);
    }

    fn of(&self, key: &ObjectKey) -> Option<&'static str> {
        self.0.lock().get(key).copied()
    }
}

/// What the runs have read, the newest last.
#[derive(Clone, Debug, Default)]
struct Read(Arc<Mutex<Vec<[Option<&'static str>; 3]>>>);

impl Read {
    async fn until(&self, what: &str, is_so: impl Fn(&[Option<&'static str>; 3]) -> bool) -> Result<()> {
        eventually(what, async || Ok(self.0.lock().last().is_some_and(&is_so).then_some(()))).await
    }
}

fn read<'c>(context: &'c Context<TestResource>) -> BoxFuture<'c, Result<[Option<&'static str>; 3]>> {
    async move {
        let pushed = context.external_source::<Pushed>(Some("pushed")).context("there is such a source")?;
        let pushed = pushed.fetch_now(context.primary_key()).await?;
        Ok([
            context.external::<Polled>().first().map(|resource| resource.0),
            context.external::<PolledByItself>().first().map(|resource| resource.0),
            pushed.first().map(|resource| resource.0),
        ])
    }
    .boxed()
}

#[operator_test]
async fn what_another_system_has_reaches_the_primarys_run() -> Result<()> {
    let scene = Scene::new("external-sources").await?;
    let (polled, by_itself, seen) = (System::default(), System::default(), Read::default());
    let key = scene.key("one");
    polled.set(&key, "first");

    let all = polled.clone();
    let all = PollingEventSource::new("polled", PERIOD, move || {
        let all = all.0.lock().iter().map(|(key, value)| (key.clone(), vec![Polled(value)])).collect();
        async move { Ok::<_, anyhow::Error>(all) }
    });
    let each = by_itself.clone();
    let each = PerResourcePollingEventSource::new("by-itself", PERIOD, move |primary: Arc<TestResource>| {
        let found = each.of(&ObjectKey::of(&*primary)).map(PolledByItself);
        async move { Ok::<_, anyhow::Error>(found.into_iter().collect()) }
    });
    let pushed = CachingInboundEventSource::new("pushed", |_: Arc<TestResource>| async {
        Ok::<_, anyhow::Error>(vec![Pushed("fetched")])
    });
    let simple = SimpleInboundEventSource::new("simple");
    let (push, wake) = (pushed.handle(), simple.handle());

    let script = Script::<TestResource>::new({
        let seen = seen.clone();
        move |_, _, context| {
            let seen = seen.clone();
            Box::pin(async move {
                let read = read(context).await?;
                seen.0.lock().push(read);
                Ok(UpdateControl::no_update())
            })
        }
    });
    let controller = script
        .controller()
        .namespaces([&scene.namespace])
        .watches(all)
        .watches(each)
        .watches(pushed)
        .watches(simple);
    let operator = scene.start(controller).await?;
    let woken_by = |source: u8| {
        let runs = script.runs.of("one").into_iter();
        runs.filter(|run| run.causes.contains(Cause::Source(SourceIndex(source)))).count()
    };

    scene.create("one", "value").await?;
    seen.until("the first run", |read| read[0] == Some("first") && read[2] == Some("fetched")).await?;
    polled.set(&key, "second");
    seen.until("a change that a poll has shown", |read| read[0] == Some("second")).await?;
    by_itself.set(&key, "first");
    seen.until("a change that the primary's own poll has shown", |read| read[1] == Some("first")).await?;
    push.put(&key, vec![Pushed("pushed")]);
    seen.until("a push", |read| read[2] == Some("pushed")).await?;
    // A run that was under way anyway may have read it before the one that was caused by it.
    eventually("a run by each of the three", async || {
        Ok((0..3).all(|source| woken_by(source) > 0).then_some(()))
    })
    .await?;

    operator.settled().await?;
    assert_eq!(woken_by(3), 0);
    wake.wake(&key);
    eventually("a run that was asked for", async || Ok((woken_by(3) == 1).then_some(()))).await?;

    // What the first start has learned is forgotten; what was pushed meanwhile is not.
    assert_eq!(operator.stop().await, Stopped::Drained);
    let pushes_before = woken_by(2);
    seen.0.lock().clear();
    polled.set(&key, "third");
    push.put(&key, vec![Pushed("between")]);
    wake.wake(&key);
    operator.operator().start().await?;
    let again = [Some("third"), Some("first"), Some("between")];
    seen.until("all three after a restart", |read| *read == again).await?;
    push.put(&key, vec![Pushed("pushed again")]);
    seen.until("a push after a restart", |read| read[2] == Some("pushed again")).await?;
    wake.wake(&key);
    eventually("a run that was asked for", async || Ok((woken_by(3) == 2).then_some(()))).await?;
    eventually("a run by the push", async || Ok((woken_by(2) == pushes_before + 1).then_some(()))).await?;
    Ok(())
}
