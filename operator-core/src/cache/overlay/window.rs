//! Decides which events of one object are the echo of the operator's own writes. Pure.

use std::{collections::BTreeMap, mem, ops::Bound, sync::Arc};

use crate::{
    cache::{ChangeKind, text::TextObject},
    resource::ResourceVersion,
};

/// A change as the watch or a list showed it.
#[derive(Debug)]
pub(in crate::cache) struct Observed {
    /// The stored state before; `None` for an object that was not stored.
    pub old: Option<Arc<TextObject>>,
    /// The state now.
    pub new: Arc<TextObject>,
    /// Found by the first list.
    pub initial: bool,
    /// Found by a list: it may stand for several changes, so it is never taken for an echo.
    pub listed: bool,
}

impl Observed {
    /// A change that must be handed over even if it is the operator's own: it may cover more than its write, or it
    /// marks the object for deletion.
    fn counts_always(&self) -> bool {
        let marked = |object: &Arc<TextObject>| object.is_marked();
        self.listed || (marked(&self.new) && !self.old.as_ref().is_some_and(marked))
    }

    pub(super) fn into_change(self) -> ChangeKind<TextObject> {
        match self.old {
            None => ChangeKind::Added { new: self.new, initial: self.initial },
            Some(old) => ChangeKind::Updated { old, new: self.new },
        }
    }
}

/// The pending events of one object while the operator writes it or an echo is awaited. JOSDK: `EventFilterDetails`.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Writes whose answer is still awaited. While there is one, the latest events may turn out to be its echo.
    pub(super) active: usize,
    /// Versions with which the operator's writes were answered, with the object's uid, not yet accounted for.
    own: BTreeMap<ResourceVersion, Option<Box<str>>>,
    /// Events that wait for the decision whether they are an echo.
    events: BTreeMap<ResourceVersion, Observed>,
}

impl Window {
    pub(super) fn own(&mut self, version: ResourceVersion, uid: Option<Box<str>>) {
        self.own.insert(version, uid);
    }

    pub(super) fn buffer(&mut self, version: ResourceVersion, event: Observed) {
        // A list may show the same version again. The first sighting knows the state before; the second that it may
        // stand for more than one change.
        match self.events.get_mut(&version) {
            Some(seen) => seen.listed |= event.listed,
            None => {
                self.events.insert(version, event);
            }
        }
    }

    /// The watch went past `version` without an event of that version: it will never come.
    pub(super) fn passed(&mut self, version: ResourceVersion) {
        if !self.events.contains_key(&version) {
            self.own.remove(&version);
        }
    }

    /// The object is gone: that is reported at once and covers everything that was waiting. A newer own version is
    /// forgotten as well: a handler that was notified of the deletion must also be notified that the object exists
    /// again.
    pub(super) fn deleted(&mut self) {
        self.own.clear();
        self.events.clear();
    }

    /// Nothing is awaited any more.
    pub(super) fn is_over(&self) -> bool {
        self.active == 0 && self.own.is_empty() && self.events.is_empty()
    }

    pub(super) fn has_waiting_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Decides on the waiting events: hands over at most one change, or none if they are echoes or can't be
    /// distinguished yet. Steps a to g of the specification.
    pub(super) fn check(&mut self) -> Option<ChangeKind<TextObject>> {
        let (&last_event, _) = self.events.last_key_value()?;
        if self.own.is_empty() {
            // Without an own version, the events are foreign unless a write that is under way is behind them.
            return if self.active == 0 { self.flush(Bound::Unbounded, Bound::Unbounded) } else { None };
        }
        let last_own = *self.own.range(..=last_event).next_back()?.0;
        let next_own =
            self.own.range((Bound::Excluded(last_own), Bound::Unbounded)).next().map(|(version, _)| *version);
        match next_own {
            None if self.active == 0 => self.flush(Bound::Unbounded, Bound::Unbounded),
            // A later event may turn out to be the echo of the write that is under way.
            None => self.flush(Bound::Included(last_own), Bound::Included(last_own)),
            Some(next_own) => self.flush(Bound::Excluded(next_own), Bound::Included(last_own)),
        }
    }

    fn flush(
        &mut self,
        events_end: Bound<ResourceVersion>,
        own_end: Bound<ResourceVersion>,
    ) -> Option<ChangeKind<TextObject>> {
        let echoes = take_until(&mut self.own, own_end);
        let mut events = take_until(&mut self.events, events_end);
        let only_echoes = events.len() == echoes.len()
            && events.iter().all(|(version, event)| {
                echoes.get(version).is_some_and(|uid| uid.as_deref() == event.new.uid())
                    && !event.counts_always()
            });
        if only_echoes {
            return None;
        }
        let (_, last) = events.pop_last()?;
        let Some((_, first)) = events.pop_first() else {
            return Some(last.into_change());
        };
        // One change for all of them, from the state before the first to the last: filters see the whole span. If the
        // first was the object's appearance, so is the whole: an update "from the first to the last" could be filtered
        // out, and the object would never be reported.
        Some(Observed { old: first.old, new: last.new, initial: first.initial, listed: true }.into_change())
    }
}

/// Takes the entries up to `end` out of the map.
fn take_until<V>(
    map: &mut BTreeMap<ResourceVersion, V>,
    end: Bound<ResourceVersion>,
) -> BTreeMap<ResourceVersion, V> {
    let mut rest = match end {
        Bound::Unbounded => BTreeMap::new(),
        Bound::Included(end) | Bound::Excluded(end) => map.split_off(&end),
    };
    if let Bound::Included(end) = end
        && let Some(last) = rest.remove(&end)
    {
        map.insert(end, last);
    }
    mem::replace(map, rest)
}
