//! When a fault counts: when it takes effect, and not when it is drawn.

use super::Rule;

/// What to notify when a fault has taken effect. A fault that never does, such as the cut of a watch in which nothing
/// happens, notifies nothing.
#[derive(Default)]
pub(crate) enum Effect {
    /// Nothing is notified.
    #[default]
    Untold,
    /// The rule counts it.
    Counted(Rule),
    /// This is called, with whether the server had executed the request.
    Told(Box<dyn FnOnce(bool) + Send + Sync>),
}

impl Effect {
    /// Calls `tell` for each.
    pub(crate) fn told(tell: impl FnOnce(bool) + Send + Sync + 'static) -> Self {
        Self::Told(Box::new(tell))
    }

    /// It takes effect now. `done`: the server has executed the request.
    pub(super) fn happens(self, done: bool) {
        match self {
            Self::Untold => {}
            Self::Counted(rule) => rule.count(),
            Self::Told(tell) => tell(done),
        }
    }

    /// It takes effect now if that is all there is to know, and in any case when the returned value is dropped: a
    /// caller who gives up waiting for an answer has met the fault, too.
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
