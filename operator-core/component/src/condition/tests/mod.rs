mod life;
mod oracle;
mod rows;
mod summary;

use jiff::Timestamp;

use super::*;

/// So many seconds after the beginning.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_764_000_000 + seconds).expect("a time")
}

fn part(reason: Reason, text: &str) -> Part {
    let row = Row::new(reason, text);
    Part { node: "server".to_owned(), row, after_grace: None, is_auxiliary: false, is_quiet: false }
}

fn told(row: &Row) -> String {
    format!("{}/{}: {}", row.reason.status().as_str(), row.reason, row.message)
}
