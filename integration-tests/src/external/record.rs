//! Records of a scripted other system, as an operator declares them.

use operator_core::{
    BoxError,
    dependent::{Deletion, External, Found, NotMade, Token},
    testing::{OtherSystem, OtherSystemError},
};

use crate::{TestObject as _, TestResource};

/// The other system: it keeps words.
pub type Words = OtherSystem<String>;

/// A record with the primary's value; none if that is empty. With the value `hold`, it holds.
#[derive(Clone, Debug)]
pub struct Word {
    /// The record's system.
    pub system: Words,
    /// Whether the system can be searched by a token.
    pub searchable: bool,
}

/// A record for each word of the primary's value: `a=1 b=2`.
#[derive(Clone, Debug)]
pub struct EachWord(pub Word);

impl Word {
    /// Records in a system that can be searched.
    #[must_use]
    pub fn new(system: &Words) -> Self {
        Self { system: system.clone(), searchable: true }
    }

    /// Records in a system that can't be searched.
    #[must_use]
    pub fn unsearchable(system: &Words) -> Self {
        Self { system: system.clone(), searchable: false }
    }
}

/// A create that the system has refused made nothing.
fn told(error: OtherSystemError) -> BoxError {
    if error.is_refusal() { NotMade::because(error).into() } else { error.into() }
}

macro_rules! calls {
    () => {
        async fn observe(&self, id: &str) -> Result<Option<String>, BoxError> {
            Ok(self.words().system.get(id).await?)
        }

        async fn create(&self, want: &String, token: &Token) -> Result<(String, String), BoxError> {
            self.words().system.create(token.as_str(), want.clone()).await.map_err(told)
        }

        async fn update(&self, id: &str, _: &String, want: &String) -> Result<String, BoxError> {
            Ok(self.words().system.update(id, want.clone()).await?)
        }

        async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
            Ok(self.words().system.delete(id).await?)
        }

        async fn observe_all(&self) -> Result<Vec<(String, String)>, BoxError> {
            Ok(self.words().system.list().await?)
        }

        async fn find(&self, token: &Token) -> Result<Found<String>, BoxError> {
            if !self.words().searchable {
                return Ok(Found::NotSearchable);
            }
            Ok(Found::Records(self.words().system.find(token.as_str()).await?))
        }
    };
}

impl Word {
    const fn words(&self) -> &Self {
        self
    }
}

impl EachWord {
    const fn words(&self) -> &Word {
        &self.0
    }
}

impl External<TestResource> for Word {
    type Resource = String;
    type Want = Option<String>;

    fn want(&self, primary: &TestResource) -> Option<String> {
        Some(primary.value().to_owned()).filter(|value| !value.is_empty())
    }

    calls!();
}

impl External<TestResource> for EachWord {
    type Resource = String;
    type Want = Result<Vec<(String, String)>, BoxError>;

    fn want(&self, primary: &TestResource) -> Self::Want {
        let words = primary.value().split_whitespace();
        let words = words.map(|word| word.split_once('=').ok_or("a word is `key=value`"));
        let words = words.map(|word| word.map(|(key, value)| (key.to_owned(), value.to_owned())));
        Ok(words.collect::<Result<Vec<_>, _>>()?)
    }

    calls!();
}

/// The system's records, sorted.
///
/// # Panics
/// If an operator has called the system without a permit.
#[must_use]
pub fn words_in(system: &Words) -> Vec<String> {
    // Tests create records of strangers.
    let unpermitted: Vec<_> =
        system.unpermitted().into_iter().filter(|call| !call.starts_with("create ")).collect();
    assert!(unpermitted.is_empty(), "calls that no limits have permitted: {unpermitted:?}");
    let mut words: Vec<String> = system.records().into_iter().filter_map(|(_, _, word)| word).collect();
    words.sort();
    words
}
