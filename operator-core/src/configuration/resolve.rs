//! The settings of all sources together, and all mistakes in them.

use std::collections::BTreeMap;

use super::{
    ConfigEntry,
    keys::{CONTROLLER, Key, Meaning, OF_CONTROLLER, OF_OPERATOR, OperatorSettings, PREFIX, known},
    nearest::instead,
};
use crate::{
    controller::{ControllerSettings, Mistake},
    resource::nearest,
};

/// The external settings of an operator and its controllers.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) operator: OperatorSettings,
    pub(crate) controllers: BTreeMap<String, ControllerSettings>,
    /// The place of each key.
    pub(crate) places: BTreeMap<String, String>,
}

/// A key, and the operator or controller that it belongs to.
enum Located<'c> {
    Operator(&'static Key<OperatorSettings>),
    Controller(&'c str, &'static Key<ControllerSettings>),
}

impl Located<'_> {
    /// The same text for all keys of one setting.
    fn canonical(&self) -> String {
        match self {
            Self::Operator(key) => format!("{PREFIX}{}", key.canonical()),
            Self::Controller(controller, key) => format!("{CONTROLLER}{controller}.{}", key.canonical()),
        }
    }
}

impl Resolved {
    /// The settings of these sources for an operator with these controllers; a later source wins over an earlier one.
    pub(super) fn of(
        sources: &[Vec<ConfigEntry>],
        controllers: &[String],
        mistakes: &mut Vec<Mistake>,
    ) -> Self {
        let mut resolved = Self::default();
        for source in sources {
            let mut here = BTreeMap::<String, &ConfigEntry>::new();
            for entry in source {
                let Some(located) = locate(&entry.key, controllers) else {
                    mistakes.push(unknown(entry, controllers));
                    continue;
                };
                let canonical = located.canonical();
                if let Some(first) = here.get(&canonical) {
                    mistakes.push(twice(first, entry));
                    continue;
                }
                resolved.take(&located, entry, mistakes);
                here.insert(canonical.clone(), entry);
                resolved.places.insert(canonical, entry.place.clone());
            }
        }
        resolved
    }

    fn take(&mut self, located: &Located<'_>, entry: &ConfigEntry, mistakes: &mut Vec<Mistake>) {
        match located {
            Located::Operator(key) => set(&mut self.operator, key, entry, mistakes),
            Located::Controller(controller, key) => {
                let settings = self.controllers.entry((*controller).to_owned()).or_default();
                set(settings, key, entry, mistakes);
            }
        }
    }
}

fn set<S>(settings: &mut S, key: &Key<S>, entry: &ConfigEntry, mistakes: &mut Vec<Mistake>) {
    let ConfigEntry { key: written, value, place } = entry;
    match key.meaning {
        Meaning::Sets(set) => {
            if let Err(wrong) = set(settings, entry) {
                let what = format!("{place}: `{written}` can't be `{value}`");
                mistakes.push(Mistake::new(what, wrong.why, wrong.write));
            }
        }
        Meaning::Nothing { why, instead } => {
            mistakes.push(Mistake::new(format!("{place}: `{written}` has no meaning here"), why, instead));
        }
    }
}

fn locate<'c>(written: &str, controllers: &'c [String]) -> Option<Located<'c>> {
    let rest = written.strip_prefix(PREFIX)?;
    if let Some(key) = OF_OPERATOR.iter().find(|key| key.name == rest) {
        return Some(Located::Operator(key));
    }
    let rest = written.strip_prefix(CONTROLLER)?;
    controllers.iter().find_map(|controller| {
        let rest = rest.strip_prefix(&**controller)?.strip_prefix('.')?;
        let key = OF_CONTROLLER.iter().find(|key| key.name == rest)?;
        Some(Located::Controller(controller, key))
    })
}

fn twice(first: &ConfigEntry, second: &ConfigEntry) -> Mistake {
    let what = format!("{}: `{}` is set a second time", second.place, second.key);
    let why = match first.key == second.key {
        true => format!("{} sets it as well, and neither takes precedence", first.place),
        false => format!("{} sets the same with `{}`, and neither takes precedence", first.place, first.key),
    };
    Mistake::new(what, why, "one of them")
}

fn unknown(entry: &ConfigEntry, controllers: &[String]) -> Mistake {
    const OTHERWISE: &str = "one of the keys in the chapter \"Configuration\"";
    let known = known(controllers);
    let key = &*entry.key;
    if let Some((name, rest)) = of_nobody(key, controllers) {
        let what = format!("{}: `{key}` belongs to a controller that doesn't exist", entry.place);
        let why = format!("this operator has no controller `{name}`, only {}", listed(controllers));
        let write = match nearest(name, controllers.iter().map(String::as_str)) {
            Some(near) => format!("`{CONTROLLER}{near}.{rest}`, if that is what is meant"),
            None => format!("`{CONTROLLER}NAME.{rest}` with the name of one of them"),
        };
        return Mistake::new(what, why, write);
    }
    let what = format!("{}: there is no key `{key}`", entry.place);
    // With JOSDK's prefix, or without any.
    let bare = key.strip_prefix("josdk.").unwrap_or(key);
    let prefixed = format!("{PREFIX}{bare}");
    let why = match key.starts_with(PREFIX) {
        true => "nothing reads it, and it would have no effect",
        false => "all keys begin with `operator.`, and nothing would read this one",
    };
    let wanted = if key.starts_with(PREFIX) { key } else { &prefixed };
    Mistake::new(what, why, instead(wanted, known.iter().map(String::as_str), OTHERWISE))
}

/// The name of a controller that doesn't exist, and the known key that follows it.
fn of_nobody<'k>(written: &'k str, controllers: &[String]) -> Option<(&'k str, &'static str)> {
    let rest = written.strip_prefix(CONTROLLER)?;
    let keys = OF_CONTROLLER.iter().map(|key| key.name);
    let named = keys.filter_map(|key| Some((rest.strip_suffix(key)?.strip_suffix('.')?, key)));
    // The longest key, which leaves the shortest name: `informer.label-selector` ends like `label-selector`.
    let (name, key) = named.min_by_key(|(name, _)| name.len())?;
    let is_of_one =
        |controller: &String| name.strip_prefix(&**controller).is_some_and(|rest| rest.starts_with('.'));
    (!name.is_empty() && !controllers.iter().any(is_of_one)).then_some((name, key))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none at all".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
