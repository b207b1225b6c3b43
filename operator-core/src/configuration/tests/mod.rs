//! Sources of settings, and what is told of wrong ones.

mod sources;
mod wrong;

use std::path::Path;

use super::{ConfigEntry, Resolved, keys, variables, yaml};
use crate::controller::Mistake;

fn names() -> Vec<String> {
    ["pages", "pages.old", "web"].map(str::to_owned).into()
}

fn of_file(text: &str) -> (Vec<ConfigEntry>, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let entries = yaml::read(text, Path::new("operator.yaml"), &mut mistakes);
    (entries, mistakes)
}

fn of_variables(variables: &[(&str, &str)], controllers: &[String]) -> (Vec<ConfigEntry>, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let entries = variables::read(variables, &keys::known(controllers), &mut mistakes);
    (entries, mistakes)
}

fn resolved(sources: &[Vec<ConfigEntry>]) -> (Resolved, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let resolved = Resolved::of(sources, &names(), &mut mistakes);
    (resolved, mistakes)
}

/// What a file with this text sets, without a mistake.
fn sound(text: &str) -> Resolved {
    let (entries, mut mistakes) = of_file(text);
    let (resolved, further) = resolved(&[entries]);
    mistakes.extend(further);
    assert_eq!(mistakes, []);
    resolved
}

fn value<T: Clone>(setting: &Option<crate::controller::Setting<T>>) -> Option<T> {
    setting.as_ref().map(|setting| setting.value.clone())
}

fn told(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(|mistake| format!("{mistake}\n")).collect()
}
