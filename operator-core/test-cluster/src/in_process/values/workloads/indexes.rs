//! The indexes of a Job's pods, as `1,3-5`.

/// How many indexes a text names; the error says what is wrong with it.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let (mut last, mut total) = (None, 0);
    for part in text.split(',') {
        let (from, to) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= from) {
            return Err(format!("non-increasing order, previous: {last}, current: {from}"));
        }
        total += to - from + 1;
        last = Some(to);
    }
    Ok(total)
}

/// The first index that is in both texts. What can't be read is passed over.
pub(super) fn overlap(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let read = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|part| interval(part, completions).ok()).collect()
    };
    let (completed, failed) = (read(completed), read(failed));
    let (mut of_completed, mut of_failed) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some(done), Some(lost)) = (of_completed.peek(), of_failed.peek()) {
        if done.0 <= lost.1 && lost.0 <= done.1 {
            return Some(done.0.max(lost.0));
        }
        if done.0 <= lost.0 {
            of_completed.next();
        } else {
            of_failed.next();
        }
    }
    None
}

fn interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let limits: Vec<&str> = text.split('-').collect();
    if limits.len() > 2 {
        return Err(format!(
            "the fragment {text:?} violates the requirement that an index interval can have at most two parts separated \
             by '-'"
        ));
    }
    let read = |limit: &str| -> Result<i64, String> {
        let index: i64 =
            limit.parse().map_err(|_| format!("cannot convert string to integer for index: {limit:?}"))?;
        if index >= completions { Err(format!("too large index: {limit:?}")) } else { Ok(index) }
    };
    let from = read(limits.first().copied().unwrap_or_default())?;
    let Some(to) = limits.get(1) else { return Ok((from, from)) };
    let to = read(to)?;
    if from >= to {
        return Err(format!("non-increasing order, previous: {from}, current: {to}"));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted() {
        assert_eq!(count("", 3), Ok(0));
        assert_eq!(count("0,2-4", 5), Ok(4));
        assert_eq!(count("2,1", 5), Err("non-increasing order, previous: 2, current: 1".to_owned()));
        assert_eq!(count("5", 5), Err("too large index: \"5\"".to_owned()));
        assert_eq!(count("x", 5), Err("cannot convert string to integer for index: \"x\"".to_owned()));
    }

    #[test]
    fn an_index_is_completed_or_failed() {
        assert_eq!(overlap("0,3-5", "1,4", 9), Some(4));
        assert_eq!(overlap("0,3-5", "1-2,6", 9), None);
    }
}
