//! Texts.

use std::borrow::Cow;

use super::{
    super::value::{Error, Result, Val},
    count, format,
};
use crate::in_process::go::pattern;

pub(super) fn apply<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    let [Val::String(text), rest @ ..] = values else {
        return match (function, values) {
            ("join", [Val::List(list), rest @ ..]) => Some(join(&list.items, rest)),
            _ => None,
        };
    };
    Some(match (function, rest) {
        ("contains", [Val::String(part)]) => Ok(Val::Bool(text.contains(&**part))),
        ("startsWith", [Val::String(part)]) => Ok(Val::Bool(text.starts_with(&**part))),
        ("endsWith", [Val::String(part)]) => Ok(Val::Bool(text.ends_with(&**part))),
        ("matches", [Val::String(pattern)]) => regex(pattern).map(|regex| Val::Bool(regex.is_match(text))),
        ("find", [Val::String(pattern)]) => {
            illegal(pattern).map(|regex| Val::text(regex.find(text).map_or("", |found| found.as_str())))
        }
        ("findAll", [Val::String(pattern)]) => find_all(text, pattern, -1),
        ("findAll", [Val::String(pattern), Val::Int(most)]) => find_all(text, pattern, *most),
        ("charAt", [Val::Int(at)]) => char_at(text, *at),
        ("indexOf", [Val::String(part)]) => index_of(text, part, 0),
        ("indexOf", [Val::String(part), Val::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Val::String(part)]) => Ok(last_index_of(text, part, None)),
        ("lastIndexOf", [Val::String(part), Val::Int(from)]) => {
            let length = length(text);
            if *from < 0 || *from >= length {
                return Some(Err(Error::new(format!("index out of range: {from}"))));
            }
            Ok(last_index_of(text, part, Some(*from)))
        }
        ("lowerAscii", []) => Ok(Val::text(text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Val::text(text.to_ascii_uppercase())),
        ("trim", []) => Ok(Val::text(text.trim())),
        ("replace", [Val::String(from), Val::String(to)]) => Ok(Val::text(replace(text, from, to, -1))),
        ("replace", [Val::String(from), Val::String(to), Val::Int(most)]) => {
            Ok(Val::text(replace(text, from, to, *most)))
        }
        ("split", [Val::String(at)]) => Ok(split(text, at, -1)),
        ("split", [Val::String(at), Val::Int(most)]) => Ok(split(text, at, *most)),
        ("substring", [Val::Int(from)]) => substring(text, *from, None),
        ("substring", [Val::Int(from), Val::Int(to)]) => substring(text, *from, Some(*to)),
        ("format", [Val::List(list)]) => format::format(text, &list.items).map(Val::text),
        ("strings.quote", []) => Ok(Val::text(quote(text))),
        _ => return None,
    })
}

fn regex(text: &str) -> Result<regex::Regex> {
    pattern::compile(text).map_err(Error::new)
}

fn illegal(text: &str) -> Result<regex::Regex> {
    pattern::compile(text).map_err(|why| Error::new(format!("Illegal regex: {why}")))
}

fn find_all<'v>(text: &str, pattern: &str, most: i64) -> Result<Val<'v>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let regex = illegal(pattern)?;
    Ok(Val::list(regex.find_iter(text).take(most).map(|found| Val::text(found.as_str())).collect()))
}

fn length(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

fn char_at<'v>(text: &str, at: i64) -> Result<Val<'v>> {
    match usize::try_from(at) {
        Ok(at) if at <= text.chars().count() => {
            Ok(Val::text(text.chars().nth(at).map(String::from).unwrap_or_default()))
        }
        _ => Err(Error::new(format!("index out of range: {at}"))),
    }
}

fn index_of<'v>(text: &str, part: &str, from: i64) -> Result<Val<'v>> {
    if part.is_empty() {
        return Ok(Val::Int(from));
    }
    if from < 0 || from > 0 && from >= length(text) {
        return Err(Error::new(format!("index out of range: {from}")));
    }
    let from = usize::try_from(from).unwrap_or_default();
    let start = text.char_indices().nth(from).map_or(text.len(), |(start, _)| start);
    Ok(match text[start..].find(part) {
        Some(found) => count(text[..start + found].chars().count()),
        None => Val::Int(-1),
    })
}

fn last_index_of<'v>(text: &str, part: &str, from: Option<i64>) -> Val<'v> {
    if part.is_empty() {
        return Val::Int(from.unwrap_or_else(|| length(text)));
    }
    let starts = text.char_indices().enumerate().filter(|(_, (start, _))| text[*start..].starts_with(part));
    let within = starts.map(|(at, _)| i64::try_from(at).unwrap_or(i64::MAX));
    Val::Int(within.filter(|at| from.is_none_or(|from| *at <= from)).last().unwrap_or(-1))
}

fn replace(text: &str, from: &str, to: &str, most: i64) -> String {
    match usize::try_from(most) {
        Ok(most) => text.replacen(from, to, most),
        Err(_) => text.replace(from, to),
    }
}

fn split<'v>(text: &str, at: &str, most: i64) -> Val<'v> {
    let parts: Vec<&str> = match usize::try_from(most) {
        Ok(0) => Vec::new(),
        _ if at.is_empty() => {
            let mut parts: Vec<&str> = text.split("").filter(|part| !part.is_empty()).collect();
            if let Ok(most) = usize::try_from(most)
                && parts.len() > most
            {
                let rest: usize = parts[..most - 1].iter().map(|part| part.len()).sum();
                parts.truncate(most - 1);
                parts.push(&text[rest..]);
            }
            parts
        }
        Ok(most) => text.splitn(most, at).collect(),
        Err(_) => text.split(at).collect(),
    };
    Val::list(parts.into_iter().map(Val::text).collect())
}

fn substring<'v>(text: &str, from: i64, to: Option<i64>) -> Result<Val<'v>> {
    let length = length(text);
    let end = to.unwrap_or(length);
    if from > end && to.is_some() {
        return Err(Error::new(format!("invalid substring range. start: {from}, end: {end}")));
    }
    for at in [from, end] {
        if at < 0 || at > length {
            return Err(Error::new(format!("index out of range: {at}")));
        }
    }
    let place = |at: i64| usize::try_from(at).unwrap_or_default();
    Ok(Val::text(text.chars().skip(place(from)).take(place(end - from)).collect::<String>()))
}

fn join<'v>(items: &[Val<'v>], rest: &[Val<'v>]) -> Result<Val<'v>> {
    let separator = match rest {
        [Val::String(separator)] => Cow::clone(separator),
        _ => Cow::Borrowed(""),
    };
    let texts = items.iter().map(|item| match item {
        Val::String(text) => Ok(&**text),
        _ => Err(Error::overload()),
    });
    Ok(Val::text(texts.collect::<Result<Vec<_>>>()?.join(&separator)))
}

/// A text in quotation marks.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
