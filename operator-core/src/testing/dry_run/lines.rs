//! Lines that are compared with what a test expects. If they differ, a table shows both.

use std::{fmt, ops::Deref};

use parking_lot::Mutex;

/// Lines of text. They equal a list of the same texts; after a failed comparison, the debug form is a table of both.
pub struct Lines {
    lines: Vec<String>,
    /// The list of the last comparison, if it failed.
    expected: Mutex<Option<Vec<String>>>,
}

impl Lines {
    pub(super) fn of(lines: impl IntoIterator<Item = String>) -> Self {
        Self { lines: lines.into_iter().collect(), expected: Mutex::default() }
    }

    fn is(&self, expected: &[impl AsRef<str>]) -> bool {
        let same = self.lines.iter().map(String::as_str).eq(expected.iter().map(AsRef::as_ref));
        *self.expected.lock() =
            (!same).then(|| expected.iter().map(|line| line.as_ref().to_owned()).collect());
        same
    }
}

impl Deref for Lines {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.lines
    }
}

impl<const N: usize> PartialEq<[&str; N]> for Lines {
    fn eq(&self, expected: &[&str; N]) -> bool {
        self.is(expected)
    }
}

impl PartialEq<Vec<String>> for Lines {
    fn eq(&self, expected: &Vec<String>) -> bool {
        self.is(expected)
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.expected.lock() {
            Some(expected) => f.write_str(&table(&self.lines, expected)),
            None => f.debug_list().entries(&self.lines).finish(),
        }
    }
}

/// Both lists side by side, with equal lines beside each other.
fn table(planned: &[String], expected: &[String]) -> String {
    let rows = aligned(planned, expected);
    let width = planned.iter().map(|line| line.chars().count()).chain([7]).max().unwrap_or(7);
    let mut text = format!("\n      {:width$} | expected\n", "planned");
    for (planned, expected) in rows {
        let (sign, left, right) = match (planned, expected) {
            (Some(planned), Some(expected)) => (' ', planned, expected),
            (Some(planned), None) => ('+', planned, ""),
            (None, expected) => ('-', "", expected.unwrap_or_default()),
        };
        text.push_str(format!("    {sign} {left:width$} | {right}").trim_end());
        text.push('\n');
    }
    text
}

type Row<'l> = (Option<&'l str>, Option<&'l str>);

/// The longest common sequence side by side, and every other line alone.
fn aligned<'l>(left: &'l [String], right: &'l [String]) -> Vec<Row<'l>> {
    let mut longest = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            longest[i][j] = match left[i] == right[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut rows) = (0, 0, Vec::new());
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            rows.push((Some(&*left[i]), Some(&*right[j])));
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            rows.push((Some(&*left[i]), None));
            i += 1;
        } else {
            rows.push((None, Some(&*right[j])));
            j += 1;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Lines {
        Lines::of(lines.iter().map(|line| (*line).to_owned()))
    }

    #[test]
    fn a_difference_is_a_table() {
        let writes = lines(&["apply ConfigMap/a", "apply Deployment/b", "delete Ingress/c"]);
        assert_eq!(writes, ["apply ConfigMap/a", "apply Deployment/b", "delete Ingress/c"]);
        assert_eq!(format!("{writes:?}").lines().count(), 1);
        assert_ne!(writes, ["apply ConfigMap/a", "apply Service/b", "delete Ingress/c"]);
        let expected = [
            "",
            "      planned            | expected",
            "      apply ConfigMap/a  | apply ConfigMap/a",
            "    + apply Deployment/b |",
            "    -                    | apply Service/b",
            "      delete Ingress/c   | delete Ingress/c",
        ];
        assert_eq!(format!("{writes:?}").lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(lines(&[]), []);
        assert_ne!(lines(&["a"]), []);
        assert_eq!(lines(&["a"]), vec!["a".to_owned()]);
    }
}
