//! One operator that is declared in several ways.

use clap::{Command, builder::PossibleValuesParser};

use super::Error;
use crate::operator::OperatorBuilder;

type Declare = fn() -> OperatorBuilder;

/// How the operator is declared.
#[derive(Debug)]
pub(super) enum Declared {
    /// In one way.
    Once(Box<OperatorBuilder>),
    /// In several, by their names; the first is the one without `--style`.
    InStyles(Vec<(&'static str, Declare)>),
}

impl Declared {
    /// The declaration in that style.
    pub(super) fn in_style(self, style: Option<&str>) -> Result<OperatorBuilder, Error> {
        let styles = match self {
            Self::Once(operator) if style.is_none() => return Ok(*operator),
            Self::Once(_) => Vec::new(),
            Self::InStyles(styles) => styles,
        };
        let known: Vec<&str> = styles.iter().map(|(name, _)| *name).collect();
        let chosen = styles.iter().find(|(name, _)| style.is_none_or(|style| style == *name));
        match chosen {
            Some((_, declare)) => Ok(declare()),
            None => Err(Error::NoSuchStyle {
                style: style.unwrap_or_default().to_owned(),
                known: known.join(", "),
            }),
        }
    }

    /// Shows `--style` in the help where there is something to choose.
    pub(super) fn describe(&self, command: Command) -> Command {
        let Self::InStyles(styles) = self else { return command };
        let names: Vec<&str> = styles.iter().map(|(name, _)| *name).collect();
        let help = names
            .first()
            .map(|first| format!("Which of the ways in which the operator is declared; {first} by default"));
        let with_style: Vec<String> = command
            .get_subcommands()
            .filter(|known| known.get_arguments().any(|argument| argument.get_id() == "style"))
            .map(|known| known.get_name().to_owned())
            .collect();
        with_style.into_iter().fold(command, |command, name| {
            command.mut_subcommand(name, |known| {
                known.mut_arg("style", |argument| {
                    let argument =
                        argument.hide(false).value_parser(PossibleValuesParser::new(names.clone()));
                    match &help {
                        Some(help) => argument.help(help),
                        None => argument,
                    }
                })
            })
        })
    }
}
