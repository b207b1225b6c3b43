//! A source with many breaks in it at once, of which a running program has one at most.
//!
//! ```text
//!  fn double(x: u32) -> u32 {         fn double(x: u32) -> u32 { if crate::broken::by("b") {
//!      x * 2                    ──▶       x * 3
//!  }                                  } else {
//!  (break "b" makes it `x * 3`)           x * 2
//!                                     } }
//! ```
//!
//! # Guarantees
//! - A function is as it was where none of its breaks is switched on.
//! - A break is taken in only if it changes nothing but the bodies of functions that run at run time.
//!
//! # Assumptions
//! - The crate has a module `broken` that knows which break is switched on.
//! - Whether the result compiles, the compiler says: some bodies can't stand twice, such as those of `-> impl Iterator`.

mod functions;

use std::{collections::BTreeMap, fmt::Write, ops::Range};

use anyhow::Result;

use self::functions::{Function, functions};

/// A source and the breaks that it has taken in.
#[derive(Debug)]
pub struct Switched {
    sound: String,
    /// By where the body starts in the sound source.
    bodies: BTreeMap<usize, Body>,
}

#[derive(Debug)]
struct Body {
    end: usize,
    /// The names of the breaks, and what stands between the braces then.
    broken: Vec<(String, String)>,
}

/// A part of the source with the switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In bytes.
    pub range: Range<usize>,
    /// The breaks that have made it what it is.
    pub breaks: Vec<String>,
}

impl Switched {
    /// A source without breaks.
    #[must_use]
    pub fn new(sound: String) -> Self {
        Self { sound, bodies: BTreeMap::new() }
    }

    /// Takes in the break that makes `broken` of the source, if it can be switched; answers whether it can.
    ///
    /// # Errors
    /// When one of the sources isn't Rust.
    pub fn add(&mut self, id: &str, broken: &str) -> Result<bool> {
        let mut changes = Vec::new();
        let (before, after) = (functions(&self.sound)?, functions(broken)?);
        let whole = (0..self.sound.len(), 0..broken.len());
        if !changed((&self.sound, broken), whole, (&before, &after), &mut changes) {
            return Ok(false);
        }
        if changes.iter().any(|(range, _)| self.is_in_the_way(range)) {
            return Ok(false);
        }
        for (range, text) in changes {
            let body = self.bodies.entry(range.start).or_insert(Body { end: range.end, broken: Vec::new() });
            body.broken.push((id.to_owned(), text));
        }
        Ok(true)
    }

    /// Whether a body that has a switch lies within this one, or around it.
    fn is_in_the_way(&self, range: &Range<usize>) -> bool {
        let mut others = self.bodies.iter().map(|(start, body)| *start..body.end);
        others.any(|other| other != *range && other.start < range.end && range.start < other.end)
    }

    /// Leaves out a break again.
    pub fn remove(&mut self, id: &str) {
        for body in self.bodies.values_mut() {
            body.broken.retain(|(name, _)| name != id);
        }
        self.bodies.retain(|_, body| !body.broken.is_empty());
    }

    /// The source with the switches, and what in it is due to which break. Smaller places come before those around them.
    #[must_use]
    pub fn text(&self) -> (String, Vec<Place>) {
        let (mut text, mut places, mut done) = (String::new(), Vec::new(), 0);
        for (start, body) in &self.bodies {
            text.push_str(&self.sound[done..*start]);
            let first = text.len();
            for (id, broken) in &body.broken {
                let _ = write!(text, " if crate::broken::by({id:?}) {{");
                let start = text.len();
                text.push_str(broken);
                places.push(Place { range: start..text.len(), breaks: vec![id.clone()] });
                text.push_str("} else");
            }
            text.push_str(" {");
            text.push_str(&self.sound[*start..body.end]);
            text.push_str("} ");
            let breaks = body.broken.iter().map(|(id, _)| id.clone()).collect();
            places.push(Place { range: first..text.len(), breaks });
            done = body.end;
        }
        text.push_str(&self.sound[done..]);
        (text, places)
    }
}

/// Collects the bodies that differ between two sources, the innermost ones. False if anything else differs, or if one of them
/// can't have a switch.
fn changed(
    texts: (&str, &str),
    within: (Range<usize>, Range<usize>),
    functions: (&[Function], &[Function]),
    changes: &mut Vec<(Range<usize>, String)>,
) -> bool {
    let (before, after) = functions;
    let around = (between(texts.0, within.0, before), between(texts.1, within.1, after));
    if around.0 != around.1 {
        return false;
    }
    // As the text around them is the same, they are the same functions in the same order.
    before.iter().zip(after).all(|(before, after)| {
        let bodies = (before.body.clone(), after.body.clone());
        let text = &texts.1[bodies.1.clone()];
        if texts.0[bodies.0.clone()] == *text {
            return true;
        }
        let taken = changes.len();
        if changed(texts, bodies, (&before.inner, &after.inner), changes) {
            return true;
        }
        changes.truncate(taken);
        changes.push((before.body.clone(), text.to_owned()));
        !before.is_const
    })
}

/// What of `within` is in none of the functions' bodies, piece by piece.
fn between<'t>(text: &'t str, within: Range<usize>, functions: &[Function]) -> Vec<&'t str> {
    let ends = functions.iter().map(|function| function.body.start).chain([within.end]);
    let starts = [within.start].into_iter().chain(functions.iter().map(|function| function.body.end));
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}
