//! The forms of values, and which values are valid.

use std::{net::SocketAddr, time::Duration};

use jiff::{Span, SpanRelativeTo};

use crate::cache::wrong_namespace;

/// Why a value is invalid, and what could be written instead.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) why: String,
    pub(super) write: &'static str,
}

fn wrong(why: impl Into<String>, write: &'static str) -> Wrong {
    Wrong { why: why.into(), write }
}

/// `true` or `false`.
pub(super) fn flag(text: &str) -> Result<bool, Wrong> {
    text.parse().map_err(|_| wrong("it is neither `true` nor `false`", "`true` or `false`"))
}

/// A limit on how many may exist at the same time.
pub(super) fn at_once(text: &str) -> Result<usize, Wrong> {
    match text.parse::<u32>() {
        Ok(0) => Err(wrong("with 0 of them nothing would ever happen", "1 or more, for example `50`")),
        Ok(number) => Ok(number as usize),
        Err(_) => Err(wrong("not a whole number between 1 and 4294967295", "1 or more, for example `50`")),
    }
}

/// A limit on how many there may be in a period.
pub(super) fn limit(text: &str) -> Result<u32, Wrong> {
    match text.parse() {
        Ok(0) => Err(wrong("with 0 of them nothing would ever happen", "1 or more, for example `10`")),
        Ok(number) => Ok(number),
        Err(_) => Err(wrong("not a whole number between 1 and 4294967295", "1 or more, for example `10`")),
    }
}

/// How often something is tried again.
pub(super) fn attempts(text: &str) -> Result<u32, Wrong> {
    let no_number =
        |_| wrong("not a whole number between 0 and 4294967295", "a number, for example `5`; `0` for none");
    text.parse().map_err(no_number)
}

/// A factor by which intervals grow.
pub(super) fn factor(text: &str) -> Result<f64, Wrong> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
        Ok(_) => Err(wrong("the intervals would shrink, or not be numbers", "1 or more, for example `1.5`")),
        Err(_) => Err(wrong("not a number", "a number, for example `1.5`")),
    }
}

/// A duration, in ISO 8601 or as people write it; a day has 24 hours.
pub(super) fn time_or_none_at_all(text: &str) -> Result<Duration, Wrong> {
    const EXAMPLES: &str = "a number with a unit, for example `30s`, `1m 30s` or `PT1M30S`";
    let span: Span = text
        .parse()
        .map_err(|_| wrong("not a duration, neither like `1m 30s` nor like `PT1M30S`", EXAMPLES))?;
    let duration = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| wrong("too long, or in months or years, which have no fixed length", EXAMPLES))?;
    Duration::try_from(duration).map_err(|_| wrong("it is negative", EXAMPLES))
}

/// The same without 0, and in whole milliseconds at least.
pub(super) fn time(text: &str) -> Result<Duration, Wrong> {
    let time = time_or_none_at_all(text)?;
    if time < Duration::from_millis(1) {
        return Err(wrong("it is shorter than a millisecond", "1ms or more, for example `30s`"));
    }
    Ok(time)
}

/// An address to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, Wrong> {
    text.parse().map_err(|_| wrong("not an address with a port", "for example `0.0.0.0:8080` or `[::]:8080`"))
}

/// Any text that isn't empty.
pub(super) fn text(text: &str) -> Result<String, Wrong> {
    match text.trim() {
        "" => Err(wrong("it is empty", "a text, or leave the key out")),
        text => Ok(text.to_owned()),
    }
}

/// Names of namespaces with a comma between them.
pub(super) fn namespaces(list: &str) -> Result<Vec<String>, Wrong> {
    let names: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(wrong(
            "one of its names is empty",
            "names with a comma between them, or leave the key out for all",
        ));
    }
    if let Some((name, why)) = names.iter().find_map(|name| Some((name, wrong_namespace(name)?))) {
        return Err(wrong(
            format!("`{name}` is among them: {why}"),
            "the names of namespaces with a comma between them, or leave the key out for all",
        ));
    }
    Ok(names)
}

/// A label selector. Only its form is checked; the server checks the rest.
pub(super) fn selector(selector: &str) -> Result<String, Wrong> {
    let selector = text(selector)?;
    let (mut depth, mut sound) = (0_i32, true);
    for c in selector.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' => sound = false,
            _ => {}
        }
        sound &= (0..=1).contains(&depth);
    }
    if !sound || depth != 0 || selector.split(',').any(|part| part.trim().is_empty()) {
        return Err(wrong("not a label selector", "for example `app=web,tier in (front, back)`"));
    }
    Ok(selector)
}
