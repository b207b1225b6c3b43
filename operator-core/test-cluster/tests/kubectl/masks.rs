//! What can't be equal: ages, times, identities, addresses, versions, hashes.

use regex::Regex;

/// An output without what can't be equal.
pub(crate) struct Masks(Vec<(Regex, &'static str)>);

impl Masks {
    pub(crate) fn new() -> Self {
        let masks = [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000", "TIME"),
            (r"/tmp/[^ ]*(LIVE|MERGED)-\d+", "$1"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000", "TIME"),
            (r"https://127\.0\.0\.1:\d+", "SERVER"),
            (r"\b10\.\d+\.\d+\.\d+\b", "ADDRESS"),
            (r#"("?resourceVersion"?: ?)"?\d+"?"#, "${1}VERSION"),
            (r"(nodePort: )\d+", "${1}PORT"),
            (r"(Resource Version: +)\d+", "${1}VERSION"),
            (r"W\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "LOG "),
            (r":3\d{4}/", ":PORT/"),
            (r"\b(pod-template-hash|controller-revision-hash)([=:] ?)[a-z0-9-]+", "${1}${2}HASH"),
            (r"-[a-z0-9]{8,10}-[a-z0-9]{5}\b", "-HASH-RANDOM"),
            (r"\b(web|shop|site)-[a-z0-9]{8,10}\b", "${1}-HASH"),
            (r"\b\d+[smhd](\d+[smhd])?\b", "AGE"),
        ];
        let masks = masks.map(|(pattern, mask)| (Regex::new(pattern).expect("a pattern"), mask));
        Self(masks.into())
    }

    pub(crate) fn apply(&self, text: &str) -> String {
        let lines = text.lines().map(|line| {
            let masked = self.0.iter().fold(line.to_owned(), |line, (pattern, mask)| {
                pattern.replace_all(&line, *mask).into_owned()
            });
            // The width of a column goes with what is masked in it.
            if masked == line && !masked.contains("AGE") { masked } else { narrow(&masked) }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A line with two spaces between columns.
fn narrow(line: &str) -> String {
    let indented = line.len() - line.trim_start().len();
    let (indent, rest) = line.split_at(indented);
    let spaces = Regex::new("  +").expect("a pattern");
    format!("{indent}{}", spaces.replace_all(rest, "  ").trim_end())
}
