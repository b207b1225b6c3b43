//! Which types fit each other, and what type variables stand for.

use std::{collections::BTreeMap, sync::Arc};

use super::types::Type;

/// What is known of type variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping(BTreeMap<Arc<str>, Type>);

impl Mapping {
    /// Variables that stand for others.
    pub(super) fn of(known: impl IntoIterator<Item = (&'static str, Type)>) -> Self {
        Self(known.into_iter().map(|(name, of)| (Arc::from(name), of)).collect())
    }

    /// Whether values of the one type may stand where those of the other are wanted; what follows from that is noted.
    pub(super) fn assign(&mut self, one: &Type, two: &Type) -> bool {
        self.assign_all(std::slice::from_ref(one), std::slice::from_ref(two))
    }

    /// The same for several at once: if one doesn't fit, nothing is noted.
    pub(super) fn assign_all(&mut self, ones: &[Type], twos: &[Type]) -> bool {
        let mut tried = self.clone();
        let fits = tried.lists(ones, twos);
        if fits {
            *self = tried;
        }
        fits
    }

    fn lists(&mut self, ones: &[Type], twos: &[Type]) -> bool {
        ones.len() == twos.len() && ones.iter().zip(twos).all(|(one, two)| self.fits(one, two))
    }

    fn fits(&mut self, one: &Type, two: &Type) -> bool {
        if let Type::Param(name) = two {
            match self.stands_for(name, two, one) {
                Some(fits) => return fits,
                None => {
                    if !matches!(one, Type::Param(_)) {
                        return false;
                    }
                }
            }
        }
        if let Type::Param(name) = one {
            return self.stands_for(name, one, two).unwrap_or(false);
        }
        if one.is_dyn_or_error() || two.is_dyn_or_error() {
            return true;
        }
        if matches!(one, Type::Null) {
            return takes_null(two);
        }
        if matches!(two, Type::Null) {
            return takes_null(one);
        }
        match (one, two) {
            (Type::List(one), Type::List(two)) => self.fits(one, two),
            (Type::Map(one), Type::Map(two)) => self.fits(&one.0, &two.0) && self.fits(&one.1, &two.1),
            (Type::Opaque(one, of), Type::Opaque(two, others)) => one == two && self.lists(of, others),
            (Type::Meta(_), Type::Meta(_)) => true,
            (one, two) => one.is(two),
        }
    }

    /// Whether a variable may stand for a type; `None` if it would contain itself.
    fn stands_for(&mut self, name: &Arc<str>, variable: &Type, of: &Type) -> Option<bool> {
        if variable.is(of) {
            return Some(true);
        }
        if let Some(known) = self.0.get(name).cloned() {
            if known.is(of) {
                return Some(true);
            }
            if !self.fits(of, &known) {
                return Some(false);
            }
            let general = most_general(of, &known);
            if !self.occurs(variable, &general) {
                self.0.insert(Arc::clone(name), general);
            }
            return Some(true);
        }
        if self.occurs(variable, of) {
            return None;
        }
        self.0.insert(Arc::clone(name), of.clone());
        Some(true)
    }

    fn occurs(&self, variable: &Type, within: &Type) -> bool {
        if variable.is(within) {
            return true;
        }
        match within {
            Type::Param(name) => self.0.get(name).is_some_and(|known| self.occurs(variable, known)),
            Type::List(of) => self.occurs(variable, of),
            Type::Map(of) => self.occurs(variable, &of.0) || self.occurs(variable, &of.1),
            Type::Opaque(_, of) => of.iter().any(|of| self.occurs(variable, of)),
            Type::Meta(Some(of)) => self.occurs(variable, of),
            _ => false,
        }
    }

    /// A type with its variables replaced; unknown ones become dynamic if `to_dyn` says so.
    pub(super) fn substitute(&self, of: &Type, to_dyn: bool) -> Type {
        match of {
            Type::Param(name) => match self.0.get(name) {
                Some(known) => self.substitute(known, to_dyn),
                None if to_dyn => Type::Dyn,
                None => of.clone(),
            },
            Type::List(of) => Type::list(self.substitute(of, to_dyn)),
            Type::Map(of) => Type::map(self.substitute(&of.0, to_dyn), self.substitute(&of.1, to_dyn)),
            Type::Opaque(name, of) => {
                Type::Opaque(name, of.iter().map(|of| self.substitute(of, to_dyn)).collect())
            }
            Type::Meta(Some(of)) => Type::Meta(Some(Box::new(self.substitute(of, to_dyn)))),
            other => other.clone(),
        }
    }
}

fn takes_null(of: &Type) -> bool {
    matches!(of, Type::Opaque(..) | Type::Object(_) | Type::Duration | Type::Timestamp | Type::Null)
}

/// The more general of two types that fit each other.
pub(super) fn most_general(one: &Type, two: &Type) -> Type {
    if is_less_specific(one, two) { one.clone() } else { two.clone() }
}

fn is_less_specific(one: &Type, two: &Type) -> bool {
    if matches!(one, Type::Dyn | Type::Param(_)) {
        return true;
    }
    if matches!(two, Type::Dyn | Type::Param(_)) {
        return false;
    }
    match (one, two) {
        (Type::Opaque(one, of), Type::Opaque(two, others)) => {
            one == two
                && of.len() == others.len()
                && of.iter().zip(others).all(|(one, two)| is_less_specific(one, two))
        }
        (Type::List(one), Type::List(two)) => is_less_specific(one, two),
        (Type::Map(one), Type::Map(two)) => {
            is_less_specific(&one.0, &two.0) && is_less_specific(&one.1, &two.1)
        }
        (Type::Meta(_), Type::Meta(_)) => true,
        (one, two) => one.is(two),
    }
}
