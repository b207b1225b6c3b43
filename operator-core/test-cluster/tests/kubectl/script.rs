//! A command and what is expected of it.

/// A command of kubectl.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What follows `kubectl`, in words; quotes hold words together.
    pub(crate) command: String,
    /// What it reads as `-f -`.
    pub(crate) input: Option<String>,
    /// A text that its output has, sooner or later: it is run until then.
    pub(crate) until: Option<&'static str>,
    /// Commands that are run while this one watches.
    pub(crate) meanwhile: &'static [&'static str],
    /// Why what it prints differs.
    pub(crate) known: Option<&'static str>,
    /// Lines of its output come in any order.
    pub(crate) unordered: bool,
    /// Whether only what it does counts: it was compared before.
    pub(crate) silent: bool,
}

/// A command that is run once.
pub(crate) fn run(command: impl Into<String>) -> Step {
    let command = command.into();
    Step { command, input: None, until: None, meanwhile: &[], known: None, unordered: false, silent: false }
}

/// A command that reads something.
pub(crate) fn feed(command: impl Into<String>, input: impl Into<String>) -> Step {
    Step { input: Some(input.into()), ..run(command) }
}

/// A command that is run until its output has a text.
pub(crate) fn until(command: impl Into<String>, text: &'static str) -> Step {
    Step { until: Some(text), ..run(command) }
}

/// A watch that ends when it has printed a text, and what happens in the meantime.
pub(crate) fn watch(
    command: impl Into<String>,
    meanwhile: &'static [&'static str],
    text: &'static str,
) -> Step {
    Step { until: Some(text), meanwhile, ..run(command) }
}

impl Step {
    /// With a reason why it differs.
    #[allow(dead_code, reason = "none may be known")]
    pub(crate) fn differs(self, why: &'static str) -> Self {
        Self { known: Some(why), ..self }
    }

    /// With lines in any order.
    #[allow(dead_code, reason = "none may need it")]
    pub(crate) fn in_any_order(self) -> Self {
        Self { unordered: true, ..self }
    }

    /// The words of the command.
    pub(crate) fn words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for letter in command.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(std::mem::take(&mut word)),
                letter => word.push(letter),
            }
        }
        words.push(word);
        words
    }
}
