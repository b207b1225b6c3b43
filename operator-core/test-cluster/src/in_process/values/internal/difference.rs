//! The difference between two texts in JSON, line by line, with three lines around each change.
//!
//! The lines that stay are found as by the real server's library: the longest run of equal lines first, then what is
//! before and after it. In long texts, lines that come often begin no run.

use std::{collections::BTreeMap, fmt::Write as _};

/// The change of one text to another; both on one line each.
pub(super) fn unified(old: &str, new: &str) -> String {
    let (old, new) = (pretty(old), pretty(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let blocks = blocks(&old, &new);
    let mut changes = Vec::new();
    let (mut from, mut to) = (0, 0);
    for (at_old, at_new, size) in blocks.into_iter().chain([(old.len(), new.len(), 0)]) {
        if from < at_old || to < at_new {
            changes.push((from..at_old, to..at_new));
        }
        (from, to) = (at_old + size, at_new + size);
    }
    // Changes with few lines between them are one.
    let mut groups: Vec<Vec<_>> = Vec::new();
    for change in changes {
        let near = groups.last().and_then(|group| group.last());
        let near = near.is_some_and(|(last, _): &(std::ops::Range<usize>, _)| change.0.start - last.end <= 6);
        match groups.last_mut().filter(|_| near) {
            Some(group) => group.push(change),
            None => groups.push(vec![change]),
        }
    }
    let mut text = String::new();
    for group in groups {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = first.0.start.min(first.1.start).min(3);
        let after = (old.len() - last.0.end).min(new.len() - last.1.end).min(3);
        let place = |from: usize, to: usize| match to - from {
            1 => (from + 1).to_string(),
            0 => format!("{from},0"),
            length => format!("{},{length}", from + 1),
        };
        let (of_old, of_new) = (first.0.start - before, first.1.start - before);
        // Writing to a string doesn't fail.
        let _ = writeln!(
            text,
            "@@ -{} +{} @@",
            place(of_old, last.0.end + after),
            place(of_new, last.1.end + after)
        );
        let mut at = of_old;
        for (removed, added) in &group {
            old[at..removed.start].iter().for_each(|line| line_of(&mut text, ' ', line));
            old[removed.clone()].iter().for_each(|line| line_of(&mut text, '-', line));
            new[added.clone()].iter().for_each(|line| line_of(&mut text, '+', line));
            at = removed.end;
        }
        old[at..at + after].iter().for_each(|line| line_of(&mut text, ' ', line));
    }
    text
}

fn line_of(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    text.push('\n');
}

/// The runs of equal lines: where they are in both texts, and how long they are.
fn blocks(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize)> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    if new.len() >= 200 {
        let many = new.len() / 100 + 1;
        places.retain(|_, at| at.len() <= many);
    }
    let mut found: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut todo = vec![(0, old.len(), 0, new.len())];
    while let Some((from, to, new_from, new_to)) = todo.pop() {
        let (at, new_at, size) = longest(old, new, &places, (from, to), (new_from, new_to));
        if size == 0 {
            continue;
        }
        found.insert(at, (new_at, size));
        if from < at && new_from < new_at {
            todo.push((from, at, new_from, new_at));
        }
        if at + size < to && new_at + size < new_to {
            todo.push((at + size, to, new_at + size, new_to));
        }
    }
    found.into_iter().map(|(at, (new_at, size))| (at, new_at, size)).collect()
}

/// The longest run of equal lines in a part of both texts: of several the first.
fn longest(
    old: &[&str],
    new: &[&str],
    places: &BTreeMap<&str, Vec<usize>>,
    (from, to): (usize, usize),
    (new_from, new_to): (usize, usize),
) -> (usize, usize, usize) {
    let (mut at, mut new_at, mut size) = (from, new_from, 0);
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    for (here, line) in old.iter().enumerate().take(to).skip(from) {
        let mut longer = BTreeMap::new();
        let there = places.get(line).into_iter().flatten().copied();
        for there in there.filter(|there| (new_from..new_to).contains(there)) {
            let before = there.checked_sub(1).and_then(|before| lengths.get(&before)).copied();
            let length = before.unwrap_or_default() + 1;
            longer.insert(there, length);
            if length > size {
                (at, new_at, size) = (here + 1 - length, there + 1 - length, length);
            }
        }
        lengths = longer;
    }
    while at > from && new_at > new_from && old[at - 1] == new[new_at - 1] {
        (at, new_at, size) = (at - 1, new_at - 1, size + 1);
    }
    while at + size < to && new_at + size < new_to && old[at + size] == new[new_at + size] {
        size += 1;
    }
    (at, new_at, size)
}

/// JSON with a line for each value, and a blank for each level.
fn pretty(json: &str) -> String {
    let (mut out, mut depth, mut quoted, mut escaped) = (String::new(), 0, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', depth));
    };
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if quoted {
            out.push(letter);
            quoted = letter != '"' || escaped;
            escaped = letter == '\\' && !escaped;
            continue;
        }
        match letter {
            '{' | '[' => {
                out.push(letter);
                if letters.peek().is_some_and(|next| matches!(next, '}' | ']')) {
                    out.extend(letters.next());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = usize::saturating_sub(depth, 1);
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                quoted = letter == '"';
                out.push(letter);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_line_by_line() {
        assert_eq!(
            pretty(r#"{"a":[1,"x:{\""],"b":{}}"#),
            "{\n \"a\": [\n  1,\n  \"x:{\\\"\"\n ],\n \"b\": {}\n}"
        );
    }

    #[test]
    fn a_change_has_three_lines_around_it() {
        let numbers = |changed: usize| {
            let lines: Vec<String> =
                (0..12).map(|at| if at == changed { "\"x\"".to_owned() } else { at.to_string() }).collect();
            format!("[{}]", lines.join(","))
        };
        assert_eq!(
            unified(&numbers(99), &numbers(5)),
            "@@ -4,7 +4,7 @@\n  2,\n  3,\n  4,\n- 5,\n+ \"x\",\n  6,\n  7,\n  8,\n"
        );
    }
}
