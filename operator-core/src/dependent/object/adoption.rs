//! Decides which objects a dependent takes over that it hasn't made.

use super::OfPrimary;
use crate::{
    dependent::Error,
    resource::{Object, ObjectKey, Whose},
};

pub use crate::results::Adoption;

impl OfPrimary<'_> {
    /// The owner of an object that the node wants.
    fn whose_wanted(&self, object: &dyn Object) -> Whose {
        self.marks.whose(object.meta(), true)
    }

    /// Whether an object that the node wants is already its own.
    pub(super) fn is_mine(&self, object: &dyn Object) -> bool {
        matches!(self.whose_wanted(object), Whose::Mine { .. })
    }

    /// Whether the node may write an object that it wants.
    pub(super) fn may_write(&self, object: &dyn Object) -> bool {
        match self.whose_wanted(object) {
            Whose::Mine { .. } | Whose::Orphan | Whose::OfFormerNode => true,
            Whose::Going => false,
            Whose::Nobodys => self.managed.adoption != Adoption::Never,
            Whose::Foreign => self.managed.adoption == Adoption::Always,
        }
    }

    /// Why the node may not write an object that it wants.
    pub(super) fn refusal(&self, object: &dyn Object) -> Error {
        let (kind, key) = (self.managed.kind.clone(), ObjectKey::in_meta(object.meta()));
        match self.whose_wanted(object) {
            Whose::Going => Error::Going { kind, key },
            Whose::Nobodys => {
                let (owner, advice) = (self.says(object), Adoption::IfUnowned);
                Error::Conflict { kind, key, owner, advice }
            }
            Whose::Mine { .. } | Whose::Orphan | Whose::OfFormerNode | Whose::Foreign => {
                let (owner, advice) = (self.says(object), Adoption::Always);
                Error::Conflict { kind, key, owner, advice }
            }
        }
    }

    /// The owner of the object, as far as it is known.
    fn says(&self, object: &dyn Object) -> String {
        let meta = object.meta();
        let owners = meta.owner_references.iter().flatten();
        let mut owners: Vec<_> =
            owners.map(|owner| format!("{} {} (uid {})", owner.kind, owner.name, owner.uid)).collect();
        if !owners.is_empty() {
            let owners = match owners.pop() {
                Some(last) if owners.is_empty() => last,
                last => [owners.join(", "), last.unwrap_or_default()].join(" and "),
            };
            return match self.marks.marked_by(meta) {
                Some(by) => format!("it is owned by {owners}, and its labels say that {by} has made it"),
                None => format!("it is owned by {owners}"),
            };
        }
        if let Some(by) = self.marks.marked_by(meta) {
            return format!("its labels say that {by} has made it");
        }
        let primary_type = self.asked.context.primary_type();
        if let Some(primary) = self.managed.annotations.primary_in(meta, primary_type) {
            return format!("its annotations say that it belongs to {primary_type} {primary}");
        }
        let mut managers: Vec<_> =
            meta.managed_fields.iter().flatten().filter_map(|entry| entry.manager.as_deref()).collect();
        managers.sort_unstable();
        managers.dedup();
        match managers[..] {
            [] => "it names no owner".to_owned(),
            _ => format!("it names no owner, and was written by {}", managers.join(", ")),
        }
    }
}
