//! When a fault counts: where it takes effect, and not where it was drawn.

use super::Rule;

/// Whom to tell that a fault has taken effect. One that never does, as the cut of a watch in which nothing happens, tells nobody.
#[derive(Default)]
pub(crate) enum Effect {
    /// Nobody asks.
    #[default]
    Untold,
    /// The rule counts it.
    Counted(Rule),
    /// Somebody is told, and whether the server had done what it was asked for.
    Told(Box<dyn FnOnce(bool) + Send + Sync>),
}

impl Effect {
    /// Tells of each.
    pub(crate) fn told(tell: impl FnOnce(bool) + Send + Sync + 'static) -> Self {
        Self::Told(Box::new(tell))
    }

    /// It takes effect now. `done`: the server has done what it was asked for.
    pub(super) fn happens(self, done: bool) {
        match self {
            Self::Untold => {}
            Self::Counted(rule) => rule.count(),
            Self::Told(tell) => tell(done),
        }
    }

    /// It takes effect now where that is all there is to know, and in any case when what is returned is dropped: somebody
    /// who gives up waiting for an answer has met the fault, too.
    pub(super) fn happens_by_the_end(self, done: bool) -> HappensOnDrop {
        match self {
            Self::Told(_) => HappensOnDrop(Some(self), done),
            Self::Untold | Self::Counted(_) => {
                self.happens(done);
                HappensOnDrop(None, done)
            }
        }
    }
}

pub(super) struct HappensOnDrop(Option<Effect>, bool);

impl Drop for HappensOnDrop {
    fn drop(&mut self) {
        if let Some(effect) = self.0.take() {
            effect.happens(self.1);
        }
    }
}
