//! Durations for people, with two or three digits that matter, as Kubernetes writes them.

use jiff::Timestamp;
use serde_json::Value;

use crate::in_process::go::time;

/// The time since a time in an object.
pub(super) fn since(given: &Value, now: Timestamp) -> String {
    match given.as_str().filter(|text| !text.is_empty()).map(|text| time::parse(time::SECONDS, text)) {
        None => "<unknown>".to_owned(),
        Some(Ok(none)) if time::is_none(none) => "<unknown>".to_owned(),
        Some(Ok(time)) => human(now.as_second() - time.as_second()),
        Some(Err(_)) => "<invalid>".to_owned(),
    }
}

/// The time between two times in an object.
pub(super) fn between(start: &Value, end: &Value) -> String {
    let second = |time: &Value| time.as_str()?.parse::<Timestamp>().ok().map(Timestamp::as_second);
    second(start).zip(second(end)).map_or_else(String::new, |(start, end)| human(end - start))
}

/// A number of seconds.
pub(super) fn human(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    let two = |big: i64, unit: char, small: i64, part: char| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{part}"),
    };
    match seconds {
        ..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(days, 'd', hours % 24, 'h'),
        _ if hours < 24 * 365 * 2 => format!("{days}d"),
        _ if hours < 24 * 365 * 8 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}
