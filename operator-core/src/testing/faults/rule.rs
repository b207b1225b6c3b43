//! Rules: the requests to which a fault happens.

use std::{
    fmt,
    future::Future,
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::FutureExt;
use http::request::Parts;

use super::{Fault, LineFault, RequestTarget, StatusAnswer, Verb};
use crate::testing::Gate;

type Predicate = Arc<dyn Fn(&Parts) -> bool + Send + Sync>;

/// Selects requests, or events of watches, for a rule. What isn't specified matches anything.
///
/// Its methods that name a fault make a [`Rule`] of it. For a rule about events, verb, resource and namespace are those
/// of the watch, namespace and name those of the event's object.
#[derive(Clone, Default)]
#[must_use = "a match does nothing until it is told which fault it is for"]
pub struct Match {
    words: Vec<String>,
    verbs: Vec<Verb>,
    group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<Option<String>>,
    when: Option<Predicate>,
    occurrences: Option<RangeInclusive<u64>>,
}

/// A fault, and the requests to which it happens. Counts how often it did.
#[derive(Clone, Debug)]
pub struct Rule(Arc<CountedRule>);

#[derive(Debug)]
struct CountedRule {
    matches: Match,
    effect: AnyFault,
    met: AtomicU64,
    fired: AtomicU64,
}

#[derive(Clone, Debug)]
enum AnyFault {
    Request(Fault),
    Line(LineFault),
}

impl Rule {
    /// All requests.
    pub fn any() -> Match {
        Match::default()
    }

    /// Requests with this verb.
    pub fn on(verb: Verb) -> Match {
        Self::any().verb(verb)
    }

    /// All requests that are meant to change something.
    pub fn writes() -> Match {
        Verb::WRITES.into_iter().fold(Self::any(), Match::verb)
    }

    /// The watches of a plural, such as `configmaps`.
    pub fn watch(resource: &str) -> Match {
        Self::on(Verb::Watch).resource(resource)
    }

    /// Requests for which `is_it` is true; `words` describe them.
    pub fn when(words: &str, is_it: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Match {
        Match { words: vec![words.to_owned()], when: Some(Arc::new(is_it)), ..Match::default() }
    }

    /// How often the fault has happened.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.0.fired.load(Ordering::Relaxed)
    }

    /// The fault for this request, if it is its turn.
    pub(super) fn request(&self, target: &RequestTarget, head: &Parts) -> Option<Fault> {
        let AnyFault::Request(fault) = &self.0.effect else { return None };
        let asked = self.0.matches.concerns(target) && self.0.matches.names(target);
        let asked = asked && self.0.matches.when.as_ref().is_none_or(|when| when(head));
        (asked && self.turn()).then(|| fault.clone())
    }

    /// The fault for this event of a watch, whose object is named by `object`.
    pub(super) fn line(&self, watch: &RequestTarget, object: &RequestTarget) -> Option<LineFault> {
        let AnyFault::Line(fault) = self.0.effect else { return None };
        (self.0.matches.concerns(watch) && self.0.matches.names(object) && self.turn()).then_some(fault)
    }

    /// It happened. Not the same as being chosen: a stale answer requires that something older is known.
    pub(super) fn count(&self) {
        self.0.fired.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn is_about_events(&self) -> bool {
        matches!(self.0.effect, AnyFault::Line(_))
    }

    /// Counts an occurrence and returns whether it is one of those selected.
    fn turn(&self) -> bool {
        let nth = self.0.met.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.matches.occurrences.as_ref().is_none_or(|occurrences| occurrences.contains(&nth))
    }
}

impl Match {
    /// Requests with this verb; if called several times, with any of them.
    pub fn verb(mut self, verb: Verb) -> Self {
        self.verbs.push(verb);
        self
    }

    /// Requests of this API group; empty for the core group.
    pub fn group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// Requests about this plural, such as `configmaps`.
    pub fn resource(mut self, plural: &str) -> Self {
        self.resource = Some(plural.to_owned());
        self
    }

    /// Requests in this namespace. A `*` stands for any text.
    pub fn namespace(mut self, pattern: &str) -> Self {
        self.namespace = Some(pattern.to_owned());
        self
    }

    /// Requests about objects of this name. A `*` stands for any text.
    pub fn name(mut self, pattern: &str) -> Self {
        self.name = Some(pattern.to_owned());
        self
    }

    /// Requests about this subresource.
    pub fn subresource(mut self, name: &str) -> Self {
        self.subresource = Some(Some(name.to_owned()));
        self
    }

    /// Requests about no subresource.
    pub fn main_resource(mut self) -> Self {
        self.subresource = Some(None);
        self
    }

    /// Only the `n`th one, counted from 1.
    pub fn nth(self, n: u64) -> Self {
        self.occurrences(n..=n)
    }

    /// Only the first `n`.
    pub fn first(self, n: u64) -> Self {
        self.occurrences(1..=n)
    }

    /// Only these occurrences, counted from 1.
    pub fn occurrences(mut self, occurrences: RangeInclusive<u64>) -> Self {
        self.occurrences = Some(occurrences);
        self
    }

    /// This happens to the request.
    #[must_use]
    pub fn fault(self, fault: Fault) -> Rule {
        self.rule(AnyFault::Request(fault))
    }

    /// This happens to the event; for watches.
    #[must_use]
    pub fn event(self, fault: LineFault) -> Rule {
        self.rule(AnyFault::Line(fault))
    }

    /// [`Fault::Status`].
    #[must_use]
    pub fn status(self, status: StatusAnswer) -> Rule {
        self.fault(Fault::Status(status))
    }

    /// [`Fault::AnswerLost`].
    #[must_use]
    pub fn answer_lost(self) -> Rule {
        self.fault(Fault::AnswerLost)
    }

    /// [`Fault::Meanwhile`]: `action` is done before the request is sent.
    #[must_use]
    pub fn meanwhile<A>(self, action: impl Fn(&RequestTarget) -> A + Send + Sync + 'static) -> Rule
    where
        A: Future<Output = ()> + Send + 'static,
    {
        self.fault(Fault::Meanwhile(Arc::new(move |target| action(target).boxed())))
    }

    /// The request waits at a gate until the test lets it through, and is sent then. So a test can do something while an
    /// operator is in the middle of a run.
    #[must_use]
    pub fn held_at(self, gate: &Gate) -> Rule {
        let gate = gate.clone();
        self.meanwhile(move |_| {
            let gate = gate.clone();
            async move { gate.pass().await }
        })
    }

    fn rule(self, effect: AnyFault) -> Rule {
        Rule(Arc::new(CountedRule {
            matches: self,
            effect,
            met: AtomicU64::new(0),
            fired: AtomicU64::new(0),
        }))
    }

    fn concerns(&self, target: &RequestTarget) -> bool {
        (self.verbs.is_empty() || self.verbs.contains(&target.verb))
            && self.group.as_ref().is_none_or(|group| *group == target.group)
            && self.resource.as_ref().is_none_or(|resource| *resource == target.resource)
            && self.subresource.as_ref().is_none_or(|subresource| *subresource == target.subresource)
    }

    fn names(&self, target: &RequestTarget) -> bool {
        let fits = |pattern: &Option<String>, text: &Option<String>| match (pattern, text) {
            (None, _) => true,
            (Some(pattern), Some(text)) => is_like(pattern, text),
            (Some(_), None) => false,
        };
        fits(&self.namespace, &target.namespace) && fits(&self.name, &target.name)
    }
}

/// Whether `text` matches `pattern`, in which a `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| is_like(rest, &text[at..]))
        }),
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.words.clone();
        match self.verbs.as_slice() {
            [] => {}
            verbs if *verbs == Verb::WRITES => words.push("writes".to_owned()),
            verbs => words.push(verbs.iter().map(|verb| verb.as_str()).collect::<Vec<_>>().join(" or ")),
        }
        words.extend(self.group.iter().map(|group| format!("of group {group:?}")));
        words.extend(self.resource.clone());
        words.extend(self.namespace.iter().map(|namespace| format!("in {namespace}")));
        words.extend(self.name.iter().map(|name| format!("named {name}")));
        match &self.subresource {
            None => {}
            Some(None) => words.push("without subresource".to_owned()),
            Some(Some(name)) => words.push(format!("of /{name}")),
        }
        words.extend(self.occurrences.iter().map(|range| match (range.start(), range.end()) {
            (first, last) if first == last => format!("number {first}"),
            (first, last) => format!("numbers {first} to {last}"),
        }));
        if words.is_empty() {
            words.push("any request".to_owned());
        }
        f.write_str(&words.join(" "))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.effect {
            AnyFault::Request(fault) => write!(f, "{}: {fault}", self.0.matches),
            AnyFault::Line(fault) => write!(f, "{}: {fault}", self.0.matches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expect) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "ab", true),
            ("*-html", "page-html", true),
            ("a*b*c", "a-bb-c", true),
            ("a*b*c", "a-bb-", false),
        ] {
            assert_eq!(is_like(pattern, text), expect, "{pattern} {text}");
        }
    }

    #[test]
    fn a_rule_reads_like_a_sentence() {
        let rule = Rule::writes().resource("configmaps").name("*-html").nth(2).answer_lost();
        assert_eq!(rule.to_string(), "writes configmaps named *-html number 2: done, and the answer is lost");
        let rule = Rule::watch("pods").first(3).event(LineFault::Duplicate);
        assert_eq!(rule.to_string(), "watch pods numbers 1 to 3: the event comes twice");
    }
}
