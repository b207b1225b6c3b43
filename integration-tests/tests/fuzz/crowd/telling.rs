//! A story about many objects, played on two servers, and shortened if they disagree.

use integration_tests::prelude::*;
use tokio::time::sleep;

use super::{ask::Ask, memory::Memory, order::Family};
use crate::{
    compare::Answer,
    run::{NOT_DONE, Skipped, send},
};

/// The pause before what must agree in the end is asked again.
const PAUSE: Duration = Duration::from_millis(30);

/// The two servers, and how long the real one may take for what it does later.
pub(crate) struct Both {
    pub(crate) real: Client,
    pub(crate) model: Client,
    pub(crate) patience: Duration,
    /// What the real server's garbage collector looks at in a story: paths, with marks. Empty where none runs.
    pub(crate) collected: Vec<String>,
}

/// The order in which the real garbage collector works decides how it goes on, which ends the story.
const UNORDERED: &str = "stories in which order decides";

/// What became of a story.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) writes: usize,
    pub(crate) reads: usize,
    pub(crate) skipped: Skipped,
    pub(crate) codes: BTreeMap<u16, usize>,
    /// The request that they answered differently to, and how.
    pub(crate) different: Option<(usize, Vec<String>)>,
}

struct Telling<'b> {
    both: &'b Both,
    real: Memory,
    model: Memory,
}

/// Tells a story under a name, until the servers disagree.
pub(crate) async fn tell(both: &Both, name: &str, asks: &[Ask]) -> anyhow::Result<Told> {
    let mut telling = Telling { both, real: Memory::of_story(name), model: Memory::of_story(name) };
    let mut told = Told::default();
    let mut family = Family::default();
    for (index, ask) in asks.iter().enumerate() {
        let (real, different) = telling.ask(ask).await?;
        let Some(different) = different else {
            *told.skipped.entry(NOT_DONE).or_default() += 1;
            break;
        };
        *(if ask.is_write() { &mut told.writes } else { &mut told.reads }) += 1;
        *told.codes.entry(real.code).or_default() += 1;
        if !different.is_empty() {
            told.different = Some((index, different));
            break;
        }
        if ask.is_write() {
            let now = Family::of(&both.model, &both.collected, &telling.model).await?;
            if now.might_differ(&family, ask) {
                *told.skipped.entry(UNORDERED).or_default() += 1;
                break;
            }
            family = now;
        }
    }
    Ok(told)
}

impl Telling<'_> {
    /// Asks both; returns the real answer and what is different. Without that, the model has said that it doesn't do this.
    async fn ask(&mut self, ask: &Ask) -> anyhow::Result<(Answer, Option<Vec<String>>)> {
        let until = Instant::now() + self.both.patience;
        let request = ask.request(&self.model)?;
        let path = request.uri().path().to_owned();
        let model = send(&self.both.model, request).await?;
        if model.code == 501 {
            return Ok((model, None));
        }
        self.model.note(&path, &model);
        loop {
            let real = send(&self.both.real, ask.request(&self.real)?).await?;
            let before = self.real.clone();
            self.real.note(&path, &real);
            let mut different = self.real.comparable(&real).differences(&self.model.comparable(&model));
            if real.code != model.code && ask.is_write() {
                different.push(format!("{} {}", real.body, model.body));
            }
            let behind = ask.until_same.is_some_and(|part| {
                real.code != model.code || real.body.pointer(part) != model.body.pointer(part)
            });
            if different.is_empty() || !(ask.again || behind) || Instant::now() > until {
                return Ok((real, Some(different)));
            }
            self.real = before;
            sleep(PAUSE).await;
        }
    }
}

/// A shorter story that ends in a difference, too.
pub(crate) async fn shrink(both: &Both, name: &str, asks: &[Ask]) -> anyhow::Result<(Vec<Ask>, Vec<String>)> {
    let both = &Both {
        real: both.real.clone(),
        model: both.model.clone(),
        patience: both.patience / 4,
        collected: both.collected.clone(),
    };
    let (mut story, mut lines) = (asks.to_vec(), Vec::new());
    let (mut index, mut tries) = (0, 0);
    while index + 1 < story.len() && tries < 40 {
        if story[index].needed {
            index += 1;
            continue;
        }
        let mut shorter = story.clone();
        shorter.remove(index);
        tries += 1;
        match tell(both, &format!("{name}x{tries}"), &shorter).await?.different {
            Some((at, found)) => {
                shorter.truncate(at + 1);
                (story, lines) = (shorter, found);
            }
            None => index += 1,
        }
    }
    Ok((story, lines))
}
