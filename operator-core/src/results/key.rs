//! What identifies the nodes of a workflow that are functions or values: their types.

use std::{
    any::{TypeId, type_name},
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// The type of a node's function, or of its value: each function has its own. Several nodes of one type are
/// distinguished by the names that they were given.
#[derive(Clone, Debug)]
pub struct NodeKey {
    id: TypeId,
    name: &'static str,
    called: Option<Arc<str>>,
}

/// Stands for a group instead of a node's type.
struct Group;

impl NodeKey {
    pub(crate) fn of<D: 'static>() -> Self {
        Self { id: TypeId::of::<D>(), name: type_name::<D>(), called: None }
    }

    /// The key of a group of nodes.
    pub(crate) fn of_group(name: Arc<str>) -> Self {
        Self { name: "group", called: Some(name), ..Self::of::<Group>() }
    }

    /// The same for a node that was given this name.
    pub(crate) fn called(&self, name: Option<Arc<str>>) -> Self {
        Self { called: name, ..self.clone() }
    }

    /// The name that it was given, or else the default name; that of a group with the word.
    pub(crate) fn called_or_short(&self) -> String {
        match (&self.called, self.short()) {
            (Some(_), _) if self.id == TypeId::of::<Group>() => self.to_string(),
            (Some(called), _) => called.to_string(),
            (None, short) => short.unwrap_or(self.name).to_owned(),
        }
    }

    /// The default name of the node: the last segment of the path without generics, `web` of `shop::children::web<T>`,
    /// and `page` of `<shop::WebPage as shop::Site>::page`. `None` for types without a name of their own: a closure,
    /// and a pointer to a function.
    pub(crate) fn short(&self) -> Option<&'static str> {
        short_name(self.name)
    }
}

/// Names differ between compilers; only the type counts.
impl PartialEq for NodeKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.called == other.called
    }
}

impl Eq for NodeKey {}

impl Hash for NodeKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
        self.called.hash(state);
    }
}

/// The whole path, and the name if it was given one.
impl fmt::Display for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match &self.called {
            Some(called) if self.id == TypeId::of::<Group>() => write!(f, " {called}"),
            Some(called) => write!(f, " (`{called}`)"),
            None => Ok(()),
        }
    }
}

fn short_name(name: &str) -> Option<&str> {
    if name.starts_with("fn(") || name.starts_with("for<") || name.starts_with("unsafe ") {
        return None;
    }
    let name = name.rsplit_once(">::").map_or(name, |(_, method)| method);
    let name = name.split('<').next()?.rsplit("::").next()?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    Some(name).filter(|_| is_name)
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn of<T: 'static>(_: T) -> NodeKey {
        NodeKey::of::<T>()
    }

    fn plain(_: &ConfigMap) {}
    fn of_team<T>(_: &ConfigMap) {}
    async fn later(_: &ConfigMap) {}

    struct Records<T>(PhantomData<T>);
    impl<T> Records<T> {
        fn made(_: &ConfigMap) {}
    }
    trait Site {
        fn page(&self);
    }
    impl Site for ConfigMap {
        fn page(&self) {}
    }

    /// The standard library calls these names "best effort": a compiler that spelled them differently would rename nodes.
    #[test]
    fn names_are_the_last_segments_whatever_the_form() {
        let golden = [
            (of(plain), Some("plain")),
            (of(of_team::<ConfigMap>), Some("of_team")),
            (of(of_team::<Vec<Option<ConfigMap>>>), Some("of_team")),
            (of(later), Some("later")),
            (of(Records::<ConfigMap>::made), Some("made")),
            (of(<ConfigMap as Site>::page), Some("page")),
            (of(ConfigMap::page), Some("page")),
            (of(Records::<u8>(PhantomData)), Some("Records")),
            (of(|_: &ConfigMap| ()), None),
            (of(async |_: &ConfigMap| ()), None),
            (of(plain as fn(&ConfigMap)), None),
        ];
        for (key, expected) in golden {
            assert_eq!(key.short(), expected, "{key}");
        }
    }

    #[test]
    fn each_function_and_each_instance_has_a_key_of_its_own() {
        assert_eq!(of(plain), of(plain));
        assert_ne!(of(plain), of(of_team::<u8>));
        assert_ne!(of(of_team::<u16>), of(of_team::<u8>));
    }
}
