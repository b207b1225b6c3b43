//! Times and durations.

use jiff::{
    SignedDuration, Timestamp,
    civil::DateTime,
    tz::{Offset, TimeZone},
};

use super::super::value::{Error, Result, Val};
use crate::in_process::go::duration;

const SECOND: i64 = 1_000_000_000;

pub(super) fn apply<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    Some(match (function, values) {
        ("duration", [Val::Duration(_)]) | ("timestamp", [Val::Timestamp(_)]) => Ok(values[0].clone()),
        ("duration", [Val::Int(nanoseconds)]) => Ok(Val::Duration(*nanoseconds)),
        ("duration", [Val::String(text)]) => {
            duration::parse(text).map(Val::Duration).ok_or_else(|| conversion("google.protobuf.Duration"))
        }
        ("timestamp", [Val::Int(seconds)]) => {
            Timestamp::from_second(*seconds).map(Val::Timestamp).map_err(|_| Error::new("timestamp overflow"))
        }
        ("timestamp", [Val::String(text)]) => {
            parse(text).map(Val::Timestamp).ok_or_else(|| conversion("google.protobuf.Timestamp"))
        }
        (
            "_+_",
            [Val::Timestamp(time), Val::Duration(length)] | [Val::Duration(length), Val::Timestamp(time)],
        ) => moved(*time, *length),
        ("_-_", [Val::Timestamp(time), Val::Duration(length)]) => match length.checked_neg() {
            Some(length) => moved(*time, length),
            None => Err(Error::new("duration overflow")),
        },
        ("_-_", [Val::Timestamp(one), Val::Timestamp(two)]) => {
            let between = one.as_nanosecond() - two.as_nanosecond();
            i64::try_from(between).map(Val::Duration).map_err(|_| Error::new("duration overflow"))
        }
        ("getHours", [Val::Duration(length)]) => Ok(Val::Int(length / (3_600 * SECOND))),
        ("getMinutes", [Val::Duration(length)]) => Ok(Val::Int(length / (60 * SECOND))),
        ("getSeconds", [Val::Duration(length)]) => Ok(Val::Int(length / SECOND)),
        ("getMilliseconds", [Val::Duration(length)]) => Ok(Val::Int(length / 1_000_000 % 1_000)),
        (function, [Val::Timestamp(time), zone @ ..]) if function.starts_with("get") => match zone {
            [] => part(function, TimeZone::UTC.to_datetime(*time))?,
            [Val::String(zone)] => match in_zone(*time, zone) {
                Some(time) => part(function, time)?,
                None => Err(Error::new(format!("unknown time zone {zone}"))),
            },
            _ => return None,
        },
        _ => return None,
    })
}

fn conversion(to: &str) -> Error {
    Error::new(format!("type conversion error from 'string' to '{to}'"))
}

/// A time in RFC 3339.
fn parse(text: &str) -> Option<Timestamp> {
    let has_form = text.as_bytes().get(10).is_some_and(|sign| matches!(sign, b'T' | b't'));
    text.parse().ok().filter(|_| has_form)
}

fn moved<'v>(time: Timestamp, length: i64) -> Result<Val<'v>> {
    time.checked_add(SignedDuration::from_nanos(length))
        .map(Val::Timestamp)
        .map_err(|_| Error::new("timestamp overflow"))
}

/// A zone is an offset; names of places would need a database of them.
fn in_zone(time: Timestamp, zone: &str) -> Option<DateTime> {
    if matches!(zone, "UTC" | "") {
        return Some(TimeZone::UTC.to_datetime(time));
    }
    let (sign, text) = match zone.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, zone.strip_prefix('+').unwrap_or(zone)),
    };
    let (hours, minutes) = text.split_once(':')?;
    let seconds = hours.parse::<i32>().ok()? * 3_600 + minutes.parse::<i32>().ok()? * 60;
    Some(TimeZone::fixed(Offset::from_seconds(sign * seconds).ok()?).to_datetime(time))
}

fn part<'v>(function: &str, time: DateTime) -> Option<Result<Val<'v>>> {
    Some(Ok(Val::Int(match function {
        "getFullYear" => time.year().into(),
        "getMonth" => i64::from(time.month()) - 1,
        "getDayOfYear" => i64::from(time.day_of_year()) - 1,
        "getDayOfMonth" => i64::from(time.day()) - 1,
        "getDate" => time.day().into(),
        "getDayOfWeek" => time.weekday().to_sunday_zero_offset().into(),
        "getHours" => time.hour().into(),
        "getMinutes" => time.minute().into(),
        "getSeconds" => time.second().into(),
        "getMilliseconds" => time.millisecond().into(),
        _ => return None,
    })))
}
