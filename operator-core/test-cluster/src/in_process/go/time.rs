//! Times as Go's `time.Parse` reads them: RFC 3339, with and without microseconds.

use jiff::{SignedDuration, Timestamp, civil};

/// A time of whole seconds, which may have a fraction.
pub(in crate::in_process) const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
/// A time with six digits of a fraction.
pub(in crate::in_process) const MICROS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// Reads a time in one of these layouts; the error is Go's.
pub(in crate::in_process) fn parse(layout: &str, text: &str) -> Result<Timestamp, String> {
    let mut reader = Reader { layout, text, rest: text };
    let year = reader.number("2006", 4, true, i64::MIN..i64::MAX, "year")?;
    reader.skip("-")?;
    let month = reader.number("01", 2, true, 1..13, "month")?;
    reader.skip("-")?;
    let day = reader.number("02", 2, true, i64::MIN..i64::MAX, "day")?;
    reader.skip("T")?;
    let hour = reader.number("15", 2, false, 0..24, "hour")?;
    reader.skip(":")?;
    let minute = reader.number("04", 2, true, 0..60, "minute")?;
    reader.skip(":")?;
    let second = reader.number("05", 2, true, 0..60, "second")?;
    let nanos = reader.fraction()?;
    let offset = reader.zone()?;
    if !reader.rest.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", quoted(text), quoted(reader.rest)));
    }
    let narrow = |number: i64| i8::try_from(number).unwrap_or_default();
    let year = i16::try_from(year).unwrap_or_default();
    let date = civil::Date::new(year, narrow(month), narrow(day));
    let date = date.map_err(|_| format!("parsing time {}: day out of range", quoted(text)))?;
    let at = date.at(narrow(hour), narrow(minute), narrow(second), 0);
    let local = at.to_zoned(jiff::tz::TimeZone::UTC).map(|time| time.timestamp()).unwrap_or_default();
    let ahead = SignedDuration::from_secs(offset) - SignedDuration::from_nanos(nanos);
    Ok(local.checked_sub(ahead).unwrap_or(local))
}

/// Go's first moment, which stands for none.
pub(in crate::in_process) fn is_none(time: Timestamp) -> bool {
    time.as_second() == -62_135_596_800 && time.subsec_nanosecond() == 0
}

struct Reader<'t> {
    layout: &'t str,
    text: &'t str,
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn wrong(&self, rest: &str, part: &str) -> String {
        let (text, layout) = (quoted(self.text), quoted(self.layout));
        format!("parsing time {text} as {layout}: cannot parse {} as {}", quoted(rest), quoted(part))
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", quoted(self.text))
    }

    /// A number of so many digits, or of fewer if they aren't fixed.
    fn number(
        &mut self,
        part: &str,
        digits: usize,
        fixed: bool,
        range: std::ops::Range<i64>,
        what: &str,
    ) -> Result<i64, String> {
        let found = self.rest.bytes().take(digits).take_while(u8::is_ascii_digit).count();
        if found == 0 || fixed && found < digits {
            return Err(self.wrong(self.rest, part));
        }
        let number = self.rest[..found].parse().unwrap_or_default();
        self.rest = &self.rest[found..];
        if range.contains(&number) { Ok(number) } else { Err(self.out_of_range(what)) }
    }

    fn skip(&mut self, sign: &str) -> Result<(), String> {
        self.rest = self.rest.strip_prefix(sign).ok_or_else(|| self.wrong(self.rest, sign))?;
        Ok(())
    }

    /// The fraction of a second in nanoseconds.
    fn fraction(&mut self) -> Result<i64, String> {
        let digits = self.rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        let has_point = self.rest.starts_with(['.', ',']);
        let digits = match (self.layout == MICROS, has_point) {
            (false, true) if digits > 0 => digits,
            (false, _) => return Ok(0),
            (true, true) if digits >= 6 => 6,
            (true, _) => return Err(self.wrong(self.rest, ".000000")),
        };
        let shown: String = format!("{:0<9}", &self.rest[1..=digits]).chars().take(9).collect();
        self.rest = &self.rest[digits + 1..];
        Ok(shown.parse().unwrap_or_default())
    }

    /// The offset in seconds.
    fn zone(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let wrong = self.wrong(self.rest, "Z07:00");
        let bytes = self.rest.as_bytes();
        let two = |at: usize| {
            let digits = bytes.get(at..at + 2).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
            Some(i64::from(digits[0] - b'0') * 10 + i64::from(digits[1] - b'0'))
        };
        let sign = match bytes.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(wrong),
        };
        let (Some(hours), Some(b':'), Some(minutes)) = (two(1), bytes.get(3), two(4)) else {
            return Err(wrong);
        };
        // Some write offsets of a whole day, or of sixty minutes.
        if hours > 24 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 60 + minutes) * 60)
    }
}

/// A text in quotes, in which all but plain ASCII is escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=0x7f => quoted.push(char::from(byte)),
            _ => quoted.push_str(&format!("\\x{byte:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_reads_them() {
        let read = |text: &str| parse(SECONDS, text).map(|time| time.to_string());
        for (text, time) in [
            ("2024-02-29T01:02:03Z", "2024-02-29T01:02:03Z"),
            ("2024-01-01T1:02:03Z", "2024-01-01T01:02:03Z"),
            ("2024-01-01T00:00:00.5+01:30", "2023-12-31T22:30:00.5Z"),
            ("2024-01-01T00:00:00,25-24:00", "2024-01-02T00:00:00.25Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(time), "{text}");
        }
        assert!(parse(MICROS, "0001-01-01T00:00:00.000000Z").is_ok_and(is_none));
    }

    #[test]
    fn what_is_no_time_is_refused_in_go_s_words() {
        let cases = [
            ("", "as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"2006\""),
            (
                "2024-1-01T00:00:00Z",
                "as \"2006-01-02T15:04:05Z07:00\": cannot parse \"1-01T00:00:00Z\" as \"01\"",
            ),
            (
                "2024-01-01t00:00:00z",
                "as \"2006-01-02T15:04:05Z07:00\": cannot parse \"t00:00:00z\" as \"T\"",
            ),
            ("2024-01-01T00:00:00z", "as \"2006-01-02T15:04:05Z07:00\": cannot parse \"z\" as \"Z07:00\""),
        ];
        for (text, why) in cases {
            assert_eq!(parse(SECONDS, text), Err(format!("parsing time {text:?} {why}")));
        }
        let cases = [
            ("2024-13-01T00:00:00Z", "month out of range"),
            ("2023-02-29T00:00:00Z", "day out of range"),
            ("2024-01-01T24:00:00Z", "hour out of range"),
            ("2024-01-01T00:00:60Z", "second out of range"),
            ("2024-01-01T00:00:00+25:00", "time zone offset hour out of range"),
            ("2024-01-01T00:00:00Zx", "extra text: \"x\""),
        ];
        for (text, why) in cases {
            assert_eq!(parse(SECONDS, text), Err(format!("parsing time {text:?}: {why}")));
        }
    }
}
