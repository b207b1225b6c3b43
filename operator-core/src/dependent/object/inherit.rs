//! Takes over what an earlier version of the controller has applied under a field manager that this one doesn't use.

use super::{OfPrimary, write::ATTEMPTS};
use crate::{
    dependent::Error,
    operations::{DependentWriter, Inheritance},
    resource::AnyObject,
};

impl OfPrimary<'_> {
    /// The object, which the node may write, after what retired field managers have applied to it has been taken over:
    /// only then does the matcher see what isn't wanted any more, and the apply remove it.
    pub(super) async fn inherited(
        &self,
        writer: &DependentWriter<'_>,
        mut actual: Option<AnyObject>,
    ) -> Result<Option<AnyObject>, Error> {
        // Who replaces an object takes away whatever was applied; who may not change it has nothing to take away.
        if !self.applies() || !self.managed.capabilities.can_update() {
            return Ok(actual);
        }
        for _ in 0..ATTEMPTS {
            if !actual.as_deref().is_some_and(|known| writer.may_inherit(known)) {
                return Ok(actual);
            }
            // Seldom, and large.
            let Some(live) = self.look(writer).await? else { return Ok(None) };
            let inherited = self.asked.context.permitted(writer.inherit(&*live)).await?;
            actual = match inherited {
                Inheritance::Ours(ours) => Some(ours),
                Inheritance::Nothing | Inheritance::Overtaken => Some(writer.remember(live)),
            };
        }
        match actual.as_deref().is_some_and(|known| writer.may_inherit(known)) {
            true => Err(writer.contended(ATTEMPTS).into()),
            false => Ok(actual),
        }
    }
}
